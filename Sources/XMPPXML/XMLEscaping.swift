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
        text.makeContiguousUTF8()
        var needsCare = false
        for byte in text.utf8 where Self.mayNeedCare(byte) {
            needsCare = true
            break
        }
        guard needsCare else {
            output.append(contentsOf: text.utf8)
            return
        }
        for scalar in text.unicodeScalars {
            if let escaped = Self.escape(scalar, isAttribute: isAttribute) {
                output.append(contentsOf: escaped.utf8)
            } else if XMLText.isAllowed(scalar) {
                output.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
            } else {
                guard policy == .replace else { throw .illegalCharacter(scalar, place: place()) }
                output.append(contentsOf: UTF8.encodedReplacementCharacter)
            }
        }
    }

    /// False for bytes that are written as they are wherever they stand. EF may begin U+FFFE or U+FFFF.
    @inline(__always)
    private static func mayNeedCare(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "&") || byte == UInt8(ascii: "<") || byte == UInt8(ascii: ">")
            || byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\"") || byte == 0xEF
    }

    private static func escape(_ scalar: Unicode.Scalar, isAttribute: Bool) -> StaticString? {
        switch scalar {
        case "&": "&amp;"
        case "<": "&lt;"
        case ">": "&gt;"
        // A parser turns a bare carriage return into a line feed.
        case "\r": "&#xD;"
        // In attributes it turns every kind of white space into a space.
        case "\n" where isAttribute: "&#xA;"
        case "\t" where isAttribute: "&#x9;"
        case "'" where isAttribute: "&apos;"
        case "\"" where isAttribute: "&quot;"
        default: nil
        }
    }
}

extension StaticString {
    /// The bytes.
    fileprivate var utf8: UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: utf8Start, count: utf8CodeUnitCount)
    }
}
