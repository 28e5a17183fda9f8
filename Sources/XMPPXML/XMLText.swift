// SPDX-License-Identifier: Apache-2.0

/// Characters and names of XML 1.0 (fifth edition).
enum XMLText {
    /// Whether the text is a name without colon (XML Names §3, NCName).
    static func isName(_ text: String) -> Bool {
        if text.utf8.withContiguousStorageIfAvailable(isUsualName) == true { return true }
        var isFirst = true
        for scalar in text.unicodeScalars {
            guard isNameStart(scalar.value) || (!isFirst && isLaterNameOnly(scalar.value)) else { return false }
            isFirst = false
        }
        return !isFirst
    }

    /// Whether it is what most names are: small letters, hyphens between them.
    private static func isUsualName(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let first = bytes.first, first != UInt8(ascii: "-") else { return false }
        for byte in bytes where byte &- UInt8(ascii: "a") > 25 && byte != UInt8(ascii: "-") { return false }
        return true
    }

    /// XML §2.3, NameStartChar without the colon.
    private static func isNameStart(_ value: UInt32) -> Bool {
        switch value {
        case 0x61...0x7A, 0x41...0x5A, 0x5F: true
        case 0xC0...0xD6, 0xD8...0xF6, 0xF8...0x2FF, 0x370...0x37D, 0x37F...0x1FFF, 0x200C...0x200D,
            0x2070...0x218F, 0x2C00...0x2FEF, 0x3001...0xD7FF, 0xF900...0xFDCF, 0xFDF0...0xFFFD, 0x10000...0xEFFFF:
            true
        default: false
        }
    }

    /// XML §2.3, what NameChar adds.
    private static func isLaterNameOnly(_ value: UInt32) -> Bool {
        switch value {
        case 0x2D, 0x2E, 0x30...0x39, 0xB7, 0x300...0x36F, 0x203F...0x2040: true
        default: false
        }
    }

    /// At least four hexadecimal digits.
    static func hexadecimal(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
    }

    /// At most 64 characters, the ones outside of printable ASCII replaced: fit for a log.
    static func printable(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars.prefix(64) {
            result.unicodeScalars.append((0x20...0x7E).contains(scalar.value) ? scalar : "\u{FFFD}")
        }
        return result
    }
}
