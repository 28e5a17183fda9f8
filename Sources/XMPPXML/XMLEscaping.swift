// SPDX-License-Identifier: Apache-2.0

/// Escapes character data and attribute values (XML §2.4, §3.3.3, §2.11).
struct XMLEscaping {
    /// What to do about characters that cannot be escaped.
    let policy: IllegalCharacterPolicy

    /// Appends text so that a parser reads back exactly this text.
    ///
    /// - Parameters:
    ///   - isAttribute: Whether the text stands between quotes, where white space must be escaped too.
    ///   - place: Names the place for an error.
    func append(
        _ text: String, to output: inout [UInt8], isAttribute: Bool, place: () -> String
    ) throws(XMLSerializationError) {
        var text = text
        let illegal = text.withUTF8 { append($0, to: &output, isAttribute: isAttribute) }
        if let illegal { throw .illegalCharacter(illegal, place: place()) }
    }

    /// Returns the first character that XML does not allow, unless these are replaced.
    private func append(
        _ bytes: UnsafeBufferPointer<UInt8>, to output: inout [UInt8], isAttribute: Bool
    ) -> Unicode.Scalar? {
        // Bytes before `start` are written.
        var start = 0
        for index in bytes.indices {
            var length = 1
            let substitute: StaticString
            switch bytes[index] {
            case UInt8(ascii: "&"): substitute = "&amp;"
            case UInt8(ascii: "<"): substitute = "&lt;"
            case UInt8(ascii: ">"): substitute = "&gt;"
            // A parser turns a bare carriage return into a line feed.
            case 0x0D: substitute = "&#xD;"
            // In attributes it turns every kind of white space into a space.
            case 0x0A where isAttribute: substitute = "&#xA;"
            case 0x09 where isAttribute: substitute = "&#x9;"
            case UInt8(ascii: "'") where isAttribute: substitute = "&apos;"
            case UInt8(ascii: "\"") where isAttribute: substitute = "&quot;"
            case 0x00..<0x20 where bytes[index] != 0x0A && bytes[index] != 0x09:
                guard policy == .replace else { return Unicode.Scalar(bytes[index]) }
                substitute = "\u{FFFD}"
            // EF BF BE and EF BF BF are U+FFFE and U+FFFF. A string's bytes are whole characters.
            case 0xEF where index + 2 < bytes.count && bytes[index + 1] == 0xBF && bytes[index + 2] >= 0xBE:
                guard policy == .replace else { return Unicode.Scalar(0xFF40 + UInt32(bytes[index + 2])) }
                substitute = "\u{FFFD}"
                length = 3
            default: continue
            }
            output.append(contentsOf: bytes[start..<index])
            output.append(contentsOf: substitute.utf8)
            start = index + length
        }
        output.append(contentsOf: bytes[start...])
        return nil
    }
}

extension StaticString {
    /// The bytes.
    var utf8: UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: utf8Start, count: utf8CodeUnitCount)
    }
}
