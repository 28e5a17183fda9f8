// SPDX-License-Identifier: Apache-2.0

extension String {
    /// This text, fit to be printed. Others wrote it: an escape sequence in it could move the cursor, retitle the
    /// window or turn the line around, and a line break could make it look like somebody else's line.
    ///
    /// - Parameters:
    ///   - limit: How many characters to keep.
    ///   - lineBreak: What stands for a line break.
    package func printable(limit: Int = 80, lineBreak: String = " ") -> String {
        var text = ""
        for character in prefix(limit) {
            if character.isNewline {
                text += lineBreak
            } else if character.unicodeScalars.contains(where: \.isHazardous) {
                text += "\u{FFFD}"
            } else {
                text.append(character)
            }
        }
        return text.count < count && limit < count ? text + "…" : text
    }
}

extension Unicode.Scalar {
    /// Whether a terminal would obey the character instead of showing it, or show what follows in another order.
    fileprivate var isHazardous: Bool {
        switch properties.generalCategory {
        case .control, .surrogate, .lineSeparator, .paragraphSeparator: true
        // Directional marks, embeddings, overrides and isolates (Unicode UAX #9).
        case .format:
            [0x061C, 0x200E, 0x200F].contains(value) || (0x202A...0x202E).contains(value)
                || (0x2066...0x2069).contains(value)
        default: false
        }
    }
}
