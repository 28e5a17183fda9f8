// SPDX-License-Identifier: Apache-2.0

/// Finds the word that a mistyped one was meant to be.
package enum Suggestion {
    /// The closest word with at most two slips of the finger, or `nil`.
    package static func closest(to word: String, among words: [String]) -> String? {
        guard !word.isEmpty, word.utf8.count <= 40 else { return nil }
        let limit = word.utf8.count < 4 ? 1 : 2
        let rated = words.map { (word: $0, distance: distance(word, $0)) }.filter { $0.distance <= limit }
        return rated.min { $0.distance < $1.distance }?.word
    }

    /// How many letters must be added, taken away, replaced or swapped with their neighbour.
    package static func distance(_ left: String, _ right: String) -> Int {
        let left = Array(left.unicodeScalars)
        let right = Array(right.unicodeScalars)
        var before: [Int] = []
        var last = Array(0...right.count)
        for i in left.indices {
            var row = [i + 1]
            for j in right.indices {
                let replaced = last[j] + (left[i] == right[j] ? 0 : 1)
                var best = min(replaced, last[j + 1] + 1, row[j] + 1)
                if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
                    best = min(best, before[j - 1] + 1)
                }
                row.append(best)
            }
            before = last
            last = row
        }
        return last[right.count]
    }
}
