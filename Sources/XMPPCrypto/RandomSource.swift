// SPDX-License-Identifier: Apache-2.0

/// Where unpredictable octets come from: ``SecureRandom`` in use, a seeded source in tests.
package protocol RandomSource: Sendable {
    /// `count` fresh octets; none when `count` is not positive.
    func bytes(_ count: Int) -> [UInt8]
}

extension RandomSource {
    /// A fresh identifier of 128 bits as 26 characters `a`–`z`, `2`–`7`.
    ///
    /// For stanza ids, resources and nonces: needs no escaping in XML, in JIDs, in SCRAM or in a shell, and survives
    /// software that folds case.
    package func identifier() -> String {
        let octets = bytes(16)
        return String(unsafeUninitializedCapacity: 26) { text in
            var length = 0
            var pending: UInt = 0
            var pendingBits: UInt = 0
            for byte in octets {
                pending = (pending << 8 | UInt(byte)) & 0xFFFF
                pendingBits += 8
                while pendingBits >= 5, length < text.count {
                    pendingBits -= 5
                    text[length] = Self.character(pending >> pendingBits)
                    length += 1
                }
            }
            if pendingBits > 0, length < text.count {
                text[length] = Self.character(pending << (5 - pendingBits))
                length += 1
            }
            return length
        }
    }

    /// The character for five bits (RFC 4648 §6, in lower case).
    private static func character(_ bits: UInt) -> UInt8 {
        let value = UInt8(bits & 31)
        return value < 26 ? UInt8(ascii: "a") + value : UInt8(ascii: "2") + (value - 26)
    }

    /// A fresh UUID of version 4 (RFC 9562 §5.4), in lower case.
    package func uuid() -> String {
        var bytes = bytes(16)
        guard bytes.count == 16 else { return identifier() }
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            if [4, 6, 8, 10].contains(index) { text.append(UInt8(ascii: "-")) }
            text += [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
        return String(decoding: text, as: UTF8.self)
    }
}
