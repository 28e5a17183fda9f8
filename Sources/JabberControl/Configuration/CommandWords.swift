// SPDX-License-Identifier: Apache-2.0

/// Splits a command line into words without a shell: blanks separate, quotes and backslashes protect, nothing expands.
package enum CommandWords {
    /// The words of a line.
    ///
    /// - Throws: `ControlError` with ``ControlErrorCode/configuration`` when a quote is not closed or there is no word.
    package static func split(_ line: String) throws(ControlError) -> [String] {
        var words: [String] = []
        var word: String?
        var quote: Unicode.Scalar?
        var isEscaped = false
        for scalar in line.unicodeScalars {
            if isEscaped {
                word = (word ?? "") + String(scalar)
                isEscaped = false
            } else if scalar == "\\" && quote != "'" {
                isEscaped = true
            } else if let open = quote {
                if scalar == open { quote = nil } else { word = (word ?? "") + String(scalar) }
            } else if scalar == "'" || scalar == "\"" {
                quote = scalar
                word = word ?? ""
            } else if scalar == " " || scalar == "\t" || scalar == "\n" {
                if let complete = word { words.append(complete) }
                word = nil
            } else {
                word = (word ?? "") + String(scalar)
            }
        }
        guard quote == nil, !isEscaped else { throw ControlError(.configuration, "a quote in a command is not closed") }
        if let word { words.append(word) }
        guard !words.isEmpty else { throw ControlError(.configuration, "a command is empty") }
        return words
    }
}
