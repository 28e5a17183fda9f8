// SPDX-License-Identifier: Apache-2.0

import SocketIO

/// Writes certificates that nobody has signed: enough to be read, the same in every run.
enum SeedCertificate {
    /// A certificate with the names of a row of the table of names: `KIND:name`, joined with semicolons.
    static func der(presenting row: [UInt8]) -> [UInt8] {
        var names: [[UInt8]] = []
        var commonName = Array("x".utf8)
        for entry in row.split(separator: UInt8(ascii: ";")) {
            let parts = entry.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { continue }
            let name = Array(parts[1])
            switch String(decoding: parts[0], as: UTF8.self) {
            case "DNS": names.append(value(0x82, name))
            case "SRV": names.append(other(7, value(0x16, name)))
            case "XMPP": names.append(other(5, value(0x0C, name)))
            case "IP":
                let address = SocketAddress(literal: String(decoding: name, as: UTF8.self), port: 0)
                names.append(value(0x87, address?.hostBytes ?? []))
            case "URI": names.append(value(0x86, name))
            case "EMAIL": names.append(value(0x81, name))
            default: commonName = name
            }
        }
        return certificate(commonName: commonName, names: names)
    }

    private static func certificate(commonName: [UInt8], names: [[UInt8]]) -> [UInt8] {
        let ed25519 = sequence([value(0x06, [0x2B, 0x65, 0x70])])
        let name = sequence([value(0x31, sequence([value(0x06, [0x55, 4, 3]), value(0x0C, commonName)]))])
        let validity = sequence(["20200101000000Z", "20400101000000Z"].map { value(0x18, Array($0.utf8)) })
        let key = sequence([ed25519, value(0x03, [UInt8](repeating: 0, count: 33))])
        let alternativeNames = sequence([value(0x06, [0x55, 0x1D, 0x11]), value(0x04, sequence(names))])
        let body = sequence([
            value(0xA0, value(0x02, [2])), value(0x02, [1]), ed25519, name, validity, name, key,
            value(0xA3, sequence([alternativeNames])),
        ])
        return sequence([body, ed25519, value(0x03, [UInt8](repeating: 0, count: 65))])
    }

    /// An otherName of the PKIX arc 1.3.6.1.5.5.7.8.
    private static func other(_ number: UInt8, _ content: [UInt8]) -> [UInt8] {
        value(0xA0, value(0x06, [0x2B, 6, 1, 5, 5, 7, 8, number]) + value(0xA0, content))
    }

    private static func sequence(_ parts: [[UInt8]]) -> [UInt8] { value(0x30, parts.flatMap(\.self)) }

    private static func value(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let count = content.count
        if count < 128 { return [tag, UInt8(count)] + content }
        return [tag, 0x82, UInt8(count >> 8 & 0xFF), UInt8(count & 0xFF)] + content
    }
}
