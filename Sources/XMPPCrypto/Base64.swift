// SPDX-License-Identifier: Apache-2.0

/// Base64 with the standard alphabet (RFC 4648 §4), as strict as SASL wants it (RFC 6120 §13.9.1).
///
/// OpenSSL's own decoder skips whitespace and ignores misplaced padding, which RFC 6120 forbids.
package enum Base64 {
    /// The canonical encoding: one line, padded.
    package static func encode(_ bytes: [UInt8]) -> String {
        String(decoding: encodeToBytes(bytes), as: UTF8.self)
    }

    /// The canonical encoding as ASCII octets.
    package static func encodeToBytes(_ bytes: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity((bytes.count / 3 + 1) * 4)
        var index = 0
        while index < bytes.count {
            let second = index + 1 < bytes.count ? bytes[index + 1] : nil
            let third = index + 2 < bytes.count ? bytes[index + 2] : nil
            let group = UInt32(bytes[index]) << 16 | UInt32(second ?? 0) << 8 | UInt32(third ?? 0)
            output.append(symbol(group >> 18))
            output.append(symbol(group >> 12))
            output.append(second == nil ? pad : symbol(group >> 6))
            output.append(third == nil ? pad : symbol(group))
            index += 3
        }
        return output
    }

    /// What `text` encodes, or `nil` when it is not the one canonical encoding of anything.
    ///
    /// Refused: characters outside the alphabet (whitespace and line ends included), padding anywhere but at the
    /// end, missing or surplus padding, and bits set behind the last octet (RFC 6120 §6.3.5, §13.9.1).
    package static func decode(_ text: String) -> [UInt8]? {
        decode(Array(text.utf8))
    }

    /// What the ASCII octets `text` encode, or `nil`; as ``decode(_:)-(String)``.
    package static func decode(_ text: [UInt8]) -> [UInt8]? {
        guard text.count.isMultiple(of: 4) else { return nil }
        let padding = text.suffix(2).reversed().prefix { $0 == pad }.count
        var output: [UInt8] = []
        output.reserveCapacity(text.count / 4 * 3)
        var group: UInt32 = 0
        var held = 0
        for symbol in text.dropLast(padding) {
            guard let value = value(symbol) else { return nil }
            group = group << 6 | value
            held += 1
            if held == 4 {
                output.append(UInt8(truncatingIfNeeded: group >> 16))
                output.append(UInt8(truncatingIfNeeded: group >> 8))
                output.append(UInt8(truncatingIfNeeded: group))
                group = 0
                held = 0
            }
        }
        switch (held, padding) {
        case (0, 0):
            return output
        case (2, 2) where group & 0xF == 0:
            output.append(UInt8(truncatingIfNeeded: group >> 4))
            return output
        case (3, 1) where group & 0x3 == 0:
            output.append(UInt8(truncatingIfNeeded: group >> 10))
            output.append(UInt8(truncatingIfNeeded: group >> 2))
            return output
        default:
            return nil
        }
    }

    private static let pad = UInt8(ascii: "=")

    /// The character for the lowest six bits of `bits`.
    private static func symbol(_ bits: UInt32) -> UInt8 {
        let value = UInt8(truncatingIfNeeded: bits & 63)
        return switch value {
        case 0...25: UInt8(ascii: "A") + value
        case 26...51: UInt8(ascii: "a") + (value - 26)
        case 52...61: UInt8(ascii: "0") + (value - 52)
        case 62: UInt8(ascii: "+")
        default: UInt8(ascii: "/")
        }
    }

    /// The six bits that a character of the alphabet stands for.
    private static func value(_ symbol: UInt8) -> UInt32? {
        switch symbol {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(symbol - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(symbol - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(symbol - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
