// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import XMPPCrypto

@testable import XMPPProtocol

/// The rows of Tests/Vectors/scram.json that are about mechanisms.
///
/// "published" rows are those of the RFC, XEP or project they name, recomputed; "derived" ones were computed with
/// Python's hashlib and hmac by the same program that reproduces the published ones.
struct SASLVectors: Decodable {
    struct Exchange: Decodable, CustomTestStringConvertible {
        var id: String
        var mechanism: String
        var username: String
        var password: String
        var gs2_header: String
        var client_nonce: String
        var cb_data_base64: String
        var client_first: String
        var server_first: String
        var client_final: String
        var server_final: String
        var client_key: String
        var server_key: String
        var auth_message: String
        var testDescription: String { id }
    }

    struct Negative: Decodable, CustomTestStringConvertible {
        var id: String
        var base: String
        var stage: String
        var message: String
        var expect: String
        var why: String
        var testDescription: String { id }
    }

    struct Downgrade: Decodable, CustomTestStringConvertible {
        var hash: String
        var mechanisms: [String]
        var channel_bindings: [String]?
        var input: String
        var h: String
        var source: String
        var testDescription: String { mechanisms.joined(separator: " ") }
    }

    struct GS2Rule: Decodable, CustomTestStringConvertible {
        var client_cb: Bool
        var mechs: [String]
        var cbs: [String]?
        var flag: String
        var mech: String?
        var sasl2: Bool?
        var pinned_scram: Bool?
        var tls: String?
        var ref: String
        var testDescription: String { "\(mechs.joined(separator: " ")) \(ref)" }
    }

    struct Preparation: Decodable, CustomTestStringConvertible {
        var input_codepoints: [String]
        var output_codepoints: [String]?
        var ok: Bool
        var note: String
        var testDescription: String { note }
    }

    var exchanges: [Exchange]
    var negative: [Negative]
    var ssdp: [Downgrade]
    var gs2_rules: [GS2Rule]
    var saslprep: [Preparation]

    static let all: SASLVectors = {
        do {
            let tests = URL(fileURLWithPath: #filePath)
                .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            let data = try Data(contentsOf: tests.appendingPathComponent("Vectors/scram.json"))
            return try JSONDecoder().decode(SASLVectors.self, from: data)
        } catch {
            preconditionFailure("Tests/Vectors/scram.json: \(error)")
        }
    }()

    static func exchange(_ id: String) throws -> Exchange {
        try #require(all.exchanges.first { $0.id == id })
    }
}

extension SASLVectors.Exchange {
    var digest: Digest {
        get throws {
            let hash = mechanism.dropFirst("SCRAM-".count).replacingOccurrences(of: "-PLUS", with: "")
            return try #require(Digest.allCases.first { $0.description == hash })
        }
    }

    var binding: ChannelBinding {
        get throws {
            let flag = gs2_header.prefix { $0 != "," }
            if flag == "n" { return .none }
            if flag == "y" { return .unsupportedByServer }
            let bytes = try #require(Base64.decode(cb_data_base64))
            let type = ChannelBindingType(rawValue: String(flag.dropFirst(2)))
            return .bound(ChannelBindingData(type: type, bytes: bytes))
        }
    }

    /// The mechanism that this exchange is about.
    func makeMechanism(
        limits: SCRAMLimits = SCRAMLimits(),
        advertisement: SASLAdvertisement? = nil,
        secret: SCRAMSecret? = nil
    ) throws -> SCRAMMechanism {
        let prepared = SCRAMSecret(preparedPassword: try SASLPassword.prepare(SecretBytes(password)))
        let offer = SASLAdvertisement(mechanisms: [SASLMechanismName(rawValue: mechanism)])
        return try SCRAMMechanism(
            digest: digest, username: username, secret: secret ?? prepared, binding: binding, nonce: client_nonce,
            advertisement: advertisement ?? offer, limits: limits)
    }

    /// The mechanism, after the server's first message was answered.
    func answered() throws -> SCRAMMechanism {
        var mechanism = try makeMechanism()
        _ = try mechanism.start()
        _ = try mechanism.respond(to: Array(server_first.utf8))
        return mechanism
    }
}

/// The text that octets spell.
func text(_ bytes: [UInt8]?) -> String? {
    bytes.map { String(decoding: $0, as: UTF8.self) }
}
