// SPDX-License-Identifier: Apache-2.0

package import JabberControl

extension TerminalText {
    /// How many columns clean text takes, at most: a terminal that knows fewer characters that join shows more columns,
    /// and what does not fit would go on at the beginning of a line, where it looks like one of ours.
    package static func width(of text: String) -> Int {
        text.reduce(0) { $0 + width(of: $1) }
    }

    private static func width(of character: Character) -> Int {
        let scalars = character.unicodeScalars
        let columns = scalars.reduce(0) { $0 + width(of: $1) }
        // Emoji are two columns wide, also those that are text without a selector.
        return scalars.contains("\u{FE0F}") ? max(2, columns) : columns
    }

    private static func width(of scalar: Unicode.Scalar) -> Int {
        if scalar.value < 0x300 { return 1 }
        let properties = scalar.properties
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        return properties.isEmojiPresentation || wide.contains { $0.contains(scalar.value) } ? 2 : 1
    }

    /// The blocks whose characters are two columns wide (East Asian Width, Unicode Annex 11).
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2329...0x232A, 0x2630...0x2637, 0x268A...0x268F, 0x2E80...0x303E, 0x3041...0x4DFF,
        0x4E00...0x9FFF, 0xA000...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19,
        0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF, 0x1D300...0x1D376,
        0x1F004...0x1F004, 0x1F0CF...0x1F0CF, 0x1F18E...0x1F18E, 0x1F191...0x1F1FF, 0x1F200...0x1F64F,
        0x1F680...0x1F6FF, 0x1F7E0...0x1F7FF, 0x1F900...0x1FAFF, 0x20000...0x3FFFD,
    ]

    /// Clean text broken into lines of a number of columns: at blanks, and a word that is longer than a line where it
    /// ends.
    package static func wrap(_ text: String, columns: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        var used = 0
        for word in text.split(separator: " ") {
            let needed = width(of: String(word))
            if used > 0, used + 1 + needed > columns {
                lines.append(line)
                (line, used) = ("", 0)
            } else if used > 0 {
                line += " "
                used += 1
            }
            for character in word {
                let next = width(of: character)
                if used > 0, used + next > columns {
                    lines.append(line)
                    (line, used) = ("", 0)
                }
                line.append(character)
                used += next
            }
        }
        return lines + [line]
    }

    /// Clean text cut to a number of columns, with an ellipsis where something is missing.
    package static func fit(_ text: String, columns: Int) -> String {
        guard width(of: text) > columns else { return text }
        var result = ""
        var used = 0
        for character in text {
            let next = width(of: character)
            if used + next > columns - 1 { break }
            result.append(character)
            used += next
        }
        return columns > 0 ? result + "…" : ""
    }
}
