// SPDX-License-Identifier: Apache-2.0

/// Text from a certificate or a name server, made fit for a message to people.
package enum PrintableText {
    /// Characters kept of one text; the rest is cut off with an ellipsis.
    static let maximumLength = 255

    /// The text with everything but letters, digits, ASCII punctuation and spaces written as `\u{hex}`: no control
    /// character, no change of writing direction and nothing invisible reaches a terminal.
    package static func escape(_ bytes: [UInt8]) -> String {
        escape(String(decoding: bytes, as: UTF8.self))
    }

    /// The same for a string.
    package static func escape(_ text: String) -> String {
        var result = ""
        for (index, scalar) in text.unicodeScalars.enumerated() {
            guard index < maximumLength else { return result + "…" }
            // Some letters are made to be invisible, the fillers of Hangul for one.
            let isVisibleLetter = scalar.properties.isAlphabetic && !scalar.properties.isDefaultIgnorableCodePoint
            let isPlain = scalar.isASCII ? (0x20...0x7E).contains(scalar.value) : isVisibleLetter
            if isPlain {
                result.unicodeScalars.append(scalar)
            } else {
                result += "\\u{\(String(scalar.value, radix: 16))}"
            }
        }
        return result
    }
}
