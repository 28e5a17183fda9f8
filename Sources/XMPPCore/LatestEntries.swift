// SPDX-License-Identifier: Apache-2.0

/// A dictionary that remembers so many entries: a further one takes the place of the oldest.
///
/// An entry that is stored again keeps its age.
package struct LatestEntries<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// How many entries are remembered; at least 1.
    package let maximumCount: Int

    private var values: [Key: Value] = [:]
    /// The keys in a ring: ``oldest`` is where the next one goes once it is full.
    private var keys: [Key] = []
    private var oldest = 0

    /// Makes an empty one.
    ///
    /// - Parameter maximumCount: How many entries it remembers; at least 1.
    package init(maximumCount: Int) {
        self.maximumCount = max(1, maximumCount)
    }

    /// What was stored last for a key; `nil` when nothing was, or so much after it that it is forgotten.
    package subscript(key: Key) -> Value? { values[key] }

    /// Remembers a value, and forgets the oldest entry when there are too many.
    package mutating func store(_ value: Value, for key: Key) {
        guard values.updateValue(value, forKey: key) == nil else { return }
        if keys.count < maximumCount {
            keys.append(key)
        } else {
            values[keys[oldest]] = nil
            keys[oldest] = key
            oldest = (oldest + 1) % maximumCount
        }
    }

    /// Forgets an entry. Takes time in proportion to the number of entries.
    package mutating func forget(_ key: Key) {
        guard values.removeValue(forKey: key) != nil else { return }
        keys = (keys[oldest...] + keys[..<oldest]).filter { $0 != key }
        oldest = 0
    }
}
