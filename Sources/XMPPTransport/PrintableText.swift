// SPDX-License-Identifier: Apache-2.0

/// Text from a certificate or a name server, made fit for a message to people.
package enum PrintableText {
    /// Characters kept of one text; the rest is cut off with an ellipsis.
    static let maximumLength = 255

    /// The text with U+FFFD in place of everything but letters, digits, ASCII punctuation and spaces: no control
    /// character, no change of writing direction and nothing invisible reaches a terminal. Not escapes: whoever shows
    /// the message has escapes of its own, and would escape ours.
    package static func clean(_ bytes: [UInt8]) -> String {
        clean(String(decoding: bytes, as: UTF8.self))
    }

    /// The same for a string.
    package static func clean(_ text: String) -> String {
        var result = ""
        for (index, scalar) in text.unicodeScalars.enumerated() {
            guard index < maximumLength else { return result + "…" }
            // Some letters are made to be invisible, the fillers of Hangul for one.
            let isVisibleLetter = scalar.properties.isAlphabetic && !scalar.properties.isDefaultIgnorableCodePoint
            let isPlain = scalar.isASCII ? (0x20...0x7E).contains(scalar.value) : isVisibleLetter
            if isPlain {
                result.unicodeScalars.append(scalar)
            } else {
                result.unicodeScalars.append("\u{FFFD}")
            }
        }
        return result
    }
}
