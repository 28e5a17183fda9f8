// SPDX-License-Identifier: Apache-2.0

package import JabberControl

extension TerminalText {
    /// How many columns clean text takes.
    package static func width(of text: String) -> Int {
        text.reduce(0) { $0 + width(of: $1) }
    }

    private static func width(of character: Character) -> Int {
        guard let first = character.unicodeScalars.first else { return 0 }
        if first.properties.generalCategory == .nonspacingMark { return 0 }
        if character.unicodeScalars.contains("\u{FE0F}") { return 2 }
        return wide.contains { $0.contains(first.value) } ? 2 : 1
    }

    /// The blocks whose characters are two columns wide (East Asian Width, Unicode Annex 11).
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
        0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6,
        0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1FAFF, 0x20000...0x3FFFD,
    ]

    /// Clean text broken into lines of a number of columns: at blanks, and a word that is longer than a line where it ends.
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
