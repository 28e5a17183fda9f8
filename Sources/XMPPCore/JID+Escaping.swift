// SPDX-License-Identifier: Apache-2.0

extension JID {
    /// What a person typed as a name, made fit for a localpart: a space and `"&'/:<>@` become `\20`, `\22`… (XEP-0106).
    ///
    /// A backslash is escaped only where it would otherwise read as the start of an escape sequence. The result still
    /// has to be prepared (``init(localpart:domainpart:resourcepart:)``), which refuses what cannot be escaped; a name
    /// that starts or ends with a space has no legal form (XEP-0106 §4.2).
    ///
    /// For user interfaces only: addresses are compared and sent in the escaped form.
    ///
    /// - Returns: the escaped text, or `nil` when the text starts or ends with a space.
    public static func escapeLocalpart(_ text: String) -> String? {
        let octets = Array(text.utf8)
        guard octets.first != 0x20, octets.last != 0x20 else { return nil }
        var escaped: [UInt8] = []
        escaped.reserveCapacity(octets.count)
        for (index, octet) in octets.enumerated() {
            let needed = octet == backslash ? escapedOctet(in: octets, at: index) != nil : isEscapable(octet)
            if needed {
                escaped += [backslash, digit(octet >> 4), digit(octet & 0x0F)]
            } else {
                escaped.append(octet)
            }
        }
        return String(decoding: escaped, as: UTF8.self)
    }

    /// A localpart as a person should read it: `\20` becomes a space, and so on for the ten sequences of XEP-0106.
    ///
    /// Everything else stays: `\5C` in capitals is no sequence, nor is `\20` at the start or the end (XEP-0106 §4.2).
    /// For user interfaces only: the result must never be compared with, or sent as, an address.
    public static func unescapeLocalpart(_ localpart: String) -> String {
        let octets = Array(localpart.utf8)
        var text: [UInt8] = []
        text.reserveCapacity(octets.count)
        var index = 0
        while index < octets.count {
            let atEdge = index == 0 || index + 3 == octets.count
            if let octet = escapedOctet(in: octets, at: index), !(octet == 0x20 && atEdge) {
                text.append(octet)
                index += 3
            } else {
                text.append(octets[index])
                index += 1
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static let backslash = UInt8(ascii: "\\")

    /// The characters that a localpart cannot hold and that have a sequence: a space and those of RFC 7622 §3.3.1.
    private static func isEscapable(_ octet: UInt8) -> Bool {
        switch octet {
        case 0x20, 0x22, 0x26, 0x27, 0x2F, 0x3A, 0x3C, 0x3E, 0x40: true
        default: false
        }
    }

    /// What the sequence at this place stands for; `nil` when there is none.
    private static func escapedOctet(in octets: [UInt8], at index: Int) -> UInt8? {
        guard index + 2 < octets.count, octets[index] == backslash else { return nil }
        guard let high = value(octets[index + 1]), let low = value(octets[index + 2]) else { return nil }
        let octet = high << 4 | low
        return octet == backslash || isEscapable(octet) ? octet : nil
    }

    /// The value of a lower-case hexadecimal digit: capitals do not make a sequence.
    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case 0x30...0x39: digit - 0x30
        case 0x61...0x66: digit - 0x61 + 10
        default: nil
        }
    }

    /// The lower-case hexadecimal digit of a value below 16.
    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? 0x30 + value : 0x61 + value - 10
    }
}
