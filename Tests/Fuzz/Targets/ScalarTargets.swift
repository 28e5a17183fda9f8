// SPDX-License-Identifier: Apache-2.0

import Foundation
import XMPPCore
import XMPPCrypto
import XMPPProtocol
import XMPPTransport

extension FuzzTarget {
    /// Any bytes, to encode and to decode (RFC 4648 §4): what is decoded has one encoding.
    static let base64 = FuzzTarget(
        name: "base64",
        seeds: {
            ["", "=", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zh==", "Zm9=", "Z m8=", "Zm8", "+/+/"].map { Array($0.utf8) }
        }
    ) { bytes in
        if let decoded = Base64.decode(bytes) {
            try require(Base64.encodeToBytes(decoded) == bytes, "a second encoding of \(decoded)")
            try require(Data(base64Encoded: Data(bytes)).map(Array.init) == decoded, "another decoder reads otherwise")
        }
        let encoded = Base64.encode(bytes)
        try require(encoded.utf8.count == (bytes.count + 2) / 3 * 4, "the length of \(encoded)")
        try require(Base64.decode(encoded) == bytes, "\(encoded) is decoded otherwise")
        try require(encoded == Data(bytes).base64EncodedString(), "another encoder writes otherwise")
        if let initial = SASLPayload.encodeInitialResponse(bytes) {
            try require(try SASLPayload.decode(initial) == bytes, "the initial response \(initial)")
        }
    }

    /// Any text as a moment, and any number of milliseconds (XEP-0082).
    static let dateTime = FuzzTarget(
        name: "date-time", seeds: { FuzzVectors.column(0, of: "datetime.tsv") }
    ) { bytes in
        if let moment = DateTime(String(decoding: bytes, as: UTF8.self)) { try checkMoment(moment) }
        guard bytes.count >= 8 else { return }
        let number = bytes.prefix(8).reduce(Int64(0)) { $0 << 8 | Int64($1) }
        let moments = [number, number >> 16].map { DateTime(millisecondsSinceEpoch: $0) }
        for moment in moments { try checkMoment(moment) }
        let texts = moments.sorted().map(\.description)
        try require(texts.sorted() == texts, "the texts \(texts) are in another order than the moments")
    }

    private static func checkMoment(_ moment: DateTime) throws {
        let text = moment.description
        try require(text.utf8.count == 24, "\(text) has not 24 characters")
        guard let again = DateTime(text) else { throw BrokenRule(description: "\(text) cannot be read back") }
        try require(again.description == text, "\(text) is written as \(again)")
        // The years that four digits can hold.
        guard (-62_135_596_800_000..<253_402_300_800_000).contains(moment.millisecondsSinceEpoch) else { return }
        try require(again == moment, "\(text) is another moment")
    }

    /// The data of a DNS answer (RFC 2782).
    static let serviceRecord = FuzzTarget(
        name: "service-record",
        seeds: {
            let name = [UInt8(4)] + "xmpp".utf8 + [7] + "Example".utf8 + [3] + "org".utf8 + [0]
            return [
                [0, 5, 0, 10, 20, 102] + name, [0, 5, 0, 10, 20, 102, 0], [0, 5, 0, 10, 20, 102, 0xC0, 12],
                [0, 5, 0, 10, 20, 102] + name.dropLast(),
            ]
        }
    ) { bytes in
        guard let record = SRVRecord(wireFormat: bytes) else { return }
        try require(record.isRefusal == record.target.isEmpty, "whether it is a refusal")
        try require(record.target.utf8.count <= 253, "a target of \(record.target.utf8.count) characters")
        // Written again, without regard to case, it is what was read.
        var written: [UInt8] = []
        for number in [record.priority, record.weight, record.port] {
            written += [UInt8(number >> 8), UInt8(number & 0xFF)]
        }
        for label in record.target.split(separator: ".", omittingEmptySubsequences: false) where !record.isRefusal {
            try require((1...63).contains(label.utf8.count), "the label \(label)")
            written.append(UInt8(label.utf8.count))
            written += label.utf8
        }
        written.append(0)
        let read = bytes.prefix(6) + bytes.dropFirst(6).map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        try require(read.starts(with: written), "\(record) says something else")
    }

    /// Any text as a password (RFC 4013): printable ASCII stays, the rest comes out prepared or is refused.
    static let password = FuzzTarget(
        name: "password",
        seeds: {
            FuzzVectors.objects(in: "scram.json", under: "exchanges").compactMap {
                $0["password"].map { Array($0.utf8) }
            }
                + ["I\u{AD}X", "\u{AA}", "\u{2168}", "\u{7}", "\u{627}1", "\u{627}a"].map { Array($0.utf8) }
        }
    ) { bytes in
        guard let prepared = try? SASLPassword.prepare(SecretBytes(bytes)) else { return }
        let octets = prepared.withUnsafeBytes { Array($0) }
        let text = String(validating: octets, as: UTF8.self)
        guard let text, !text.isEmpty else { throw BrokenRule(description: "prepared to nothing, or not to UTF-8") }
        if bytes.allSatisfy({ (0x20...0x7E).contains($0) }) { try require(octets == bytes, "ASCII was changed") }
        let forbidden = text.unicodeScalars.contains { scalar in
            switch scalar.properties.generalCategory {
            case .control, .privateUse, .lineSeparator, .paragraphSeparator: true
            default: scalar.value == 0xA0 || scalar.value == 0x3000
            }
        }
        try require(!forbidden, "a forbidden character was let through")
    }
}
