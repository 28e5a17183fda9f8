// SPDX-License-Identifier: Apache-2.0

/// Makes text from the network safe for a terminal: what could move the cursor, hide or reorder text is shown as `\u{hex}`.
package enum TerminalText {
    /// What a line after the first begins with; no entry of ours does.
    package static let indent = "    "

    /// Text for one line, such as a name or an address: line feeds and tabs are shown escaped too.
    package static func line(_ text: String) -> String {
        clean(text, isBlock: false)
    }

    /// Text that may have several lines, such as a message: the lines after the first are indented.
    package static func block(_ text: String) -> String {
        clean(text, isBlock: true)
    }

    private static func clean(_ text: String, isBlock: Bool) -> String {
        if isPlain(text) { return text }
        let scalars = Array(text.unicodeScalars)
        var output = String.UnicodeScalarView()
        var index = 0
        while index < scalars.count {
            let scalar = scalars[index]
            let next = index + 1 < scalars.count ? scalars[index + 1] : nil
            index += 1
            if isBlock && scalar == "\r" && next == "\n" { continue }
            if isBlock && scalar == "\n" {
                output.append(scalar)
                output.append(contentsOf: indent.unicodeScalars)
            } else if isBlock && scalar == "\t" {
                output.append(scalar)
            } else if scalar == "\\" && next == "u" && index + 1 < scalars.count && scalars[index + 1] == "{" {
                output.append(contentsOf: #"\u{5c}"#.unicodeScalars)
            } else if isVisible(scalar, after: index >= 2 ? scalars[index - 2] : nil, before: next) {
                output.append(scalar)
            } else {
                output.append(contentsOf: "\\u{\(String(scalar.value, radix: 16))}".unicodeScalars)
            }
        }
        return String(output)
    }

    /// Whether nothing needs a closer look: printable ASCII without backslash.
    private static func isPlain(_ text: String) -> Bool {
        text.utf8.allSatisfy { (0x20..<0x7F).contains($0) && $0 != UInt8(ascii: "\\") }
    }

    private static func isVisible(
        _ scalar: Unicode.Scalar, after previous: Unicode.Scalar?, before next: Unicode.Scalar?
    ) -> Bool {
        switch scalar.value {
        case 0x20..<0x7F:
            return true
        case 0x200C, 0x200D:
            // Joiners are part of emoji and of the scripts that join; elsewhere they only make two names look alike.
            guard let previous, let next else { return false }
            let joinsEmoji = scalar.value == 0x200D && isPictograph(previous) && isPictograph(next)
            return joinsEmoji || (isJoining(previous) && isJoining(next))
        case 0xFE00...0xFE0F:
            return previous.map { !$0.properties.isDefaultIgnorableCodePoint && $0.value > 0x20 } ?? false
        default:
            break
        }
        let properties = scalar.properties
        if properties.isDefaultIgnorableCodePoint { return false }
        switch properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: return false
        default: return true
        }
    }

    private static func isPictograph(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value == 0xFE0F || scalar.properties.isEmojiModifier || scalar.properties.isEmoji && scalar.value > 0x7F
    }

    private static func isJoining(_ scalar: Unicode.Scalar) -> Bool {
        guard (0x0600...0x1CFF).contains(scalar.value) else { return false }
        switch scalar.properties.generalCategory {
        case .otherLetter, .nonspacingMark, .spacingMark, .modifierLetter: return true
        default: return false
        }
    }

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
