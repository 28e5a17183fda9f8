// SPDX-License-Identifier: Apache-2.0

/// Makes text from the network safe for a terminal: what could move the cursor, hide or reorder text is shown as
/// `\u{hex}`.
///
/// All that the tool and the daemon show to people goes through here, their logs included.
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

    /// A JSON text for a terminal: inside strings, which alone can hold such characters, they become the escapes of
    /// JSON. Its meaning is the same.
    package static func json(_ text: String) -> String {
        if text.utf8.allSatisfy({ $0 < 0x7F }) { return text }
        let scalars = Array(text.unicodeScalars)
        var output = String.UnicodeScalarView()
        for (index, scalar) in scalars.enumerated() {
            let previous = index > 0 ? scalars[index - 1] : nil
            let next = index + 1 < scalars.count ? scalars[index + 1] : nil
            if scalar == "\n" || isVisible(scalar, after: previous, before: next) {
                output.append(scalar)
                continue
            }
            for unit in UTF16.encode(scalar).map(Array.init) ?? [] {
                let digits = String(unit, radix: 16)
                let zeros = String(repeating: "0", count: 4 - digits.count)
                output.append(contentsOf: "\\u\(zeros)\(digits)".unicodeScalars)
            }
        }
        return String(output)
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
}
