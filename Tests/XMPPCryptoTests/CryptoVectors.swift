// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import XMPPCrypto

/// The cryptographic rows of Tests/Vectors/scram.json.
///
/// "published" rows are those of the RFC or project they name, recomputed; "derived" ones were computed with Python's
/// hashlib and hmac by the same program that reproduces the published ones.
struct CryptoVectors: Decodable {
    struct KeyDerivation: Decodable, CustomTestStringConvertible {
        var hash: String
        var password: String
        var salt: String
        var iterations: Int
        var dk_hex: String
        var testDescription: String { "\(hash), \(iterations)" }
    }

    struct Encoding: Decodable, CustomTestStringConvertible {
        var input: String
        var valid: Bool
        var hex: String?
        var why: String
        var testDescription: String { "\(input) \(why)" }
    }

    struct HashedToken: Decodable, CustomTestStringConvertible {
        var mechanism: String
        var authcid: String
        var token: String
        var cb_data_base64: String
        var initial_response_base64: String
        var responder_base64: String
        var testDescription: String { "\(mechanism) \(authcid)" }
    }

    var pbkdf2: [KeyDerivation]
    var base64: [Encoding]
    var ht: [HashedToken]

    static let all: CryptoVectors = {
        do {
            let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            let data = try Data(contentsOf: folder.appendingPathComponent("Vectors/scram.json"))
            return try JSONDecoder().decode(CryptoVectors.self, from: data)
        } catch {
            preconditionFailure("Tests/Vectors/scram.json: \(error)")
        }
    }()
}

/// The octets that hexadecimal text stands for.
func octets(_ hex: String) -> [UInt8] {
    let digits = Array(hex)
    return stride(from: 0, to: digits.count - 1, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
}

/// A small generator with a fixed seed, so that a failure comes again.
struct FixedGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
