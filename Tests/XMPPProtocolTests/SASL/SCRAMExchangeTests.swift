// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPCrypto

@testable import XMPPProtocol

@Suite struct SCRAMExchangeTests {
    /// The example of XEP-0474 has a client that sends an extension; ours sends none.
    private static let ours = SASLVectors.all.exchanges.filter { !$0.client_final.contains(",x=") }

    /// One row has a salt of four octets, which the default limits refuse.
    private static func limits(for row: SASLVectors.Exchange) -> SCRAMLimits {
        var limits = SCRAMLimits()
        if row.id == "derived-min-iter" { limits.minimumSaltByteCount = 4 }
        return limits
    }

    @Test("each message of an exchange is the published one (RFC 5802 §5, RFC 7677 §3)", arguments: ours)
    func exchange(row: SASLVectors.Exchange) throws {
        var mechanism = try row.makeMechanism(limits: Self.limits(for: row))
        #expect(mechanism.name.rawValue == row.mechanism)
        #expect(text(try mechanism.start()) == row.client_first)
        #expect(text(try mechanism.respond(to: Array(row.server_first.utf8))) == row.client_final)
        #expect(mechanism.keyMaterial == nil, "not before the server has proven itself")
        try mechanism.succeed(with: Array(row.server_final.utf8))
        let keys = try #require(mechanism.keyMaterial)
        #expect(keys.clientKey.withUnsafeBytes { Base64.encode(Array($0)) } == row.client_key)
        #expect(keys.serverKey.withUnsafeBytes { Base64.encode(Array($0)) } == row.server_key)
    }

    @Test("the server's signature may come in a last challenge too (RFC 6120 §6.4.6)", arguments: ours)
    func signatureInChallenge(row: SASLVectors.Exchange) throws {
        var mechanism = try row.makeMechanism(limits: Self.limits(for: row))
        _ = try mechanism.start()
        _ = try mechanism.respond(to: Array(row.server_first.utf8))
        #expect(try mechanism.respond(to: Array(row.server_final.utf8)).isEmpty)
        #expect(mechanism.keyMaterial != nil)
        try mechanism.succeed(with: nil)
    }

    @Test("proof and signature are those of each row's own messages", arguments: SASLVectors.all.exchanges)
    func proofs(row: SASLVectors.Exchange) throws {
        let attributes = row.server_first.split(separator: ",")
        let keys = try SCRAMKeyMaterial(
            digest: row.digest, password: try SASLPassword.prepare(SecretBytes(row.password)),
            salt: try #require(Base64.decode(String(attributes[1].dropFirst(2)))),
            iterations: try #require(Int(attributes[2].dropFirst(2))))
        let message = Array(row.auth_message.utf8)
        #expect(row.client_final.hasSuffix(",p=" + Base64.encode(try keys.clientProof(message))))
        #expect(row.server_final == "v=" + Base64.encode(try keys.serverSignature(message)))
    }

    @Test("the example of XEP-0474 is accepted: its hash is the one of the offer")
    func downgradeExample() throws {
        let row = try SASLVectors.exchange("xep0474")
        let offer = SASLAdvertisement(
            mechanisms: [.scramSHA1Plus, .scramSHA1], channelBindingTypes: [.tlsServerEndPoint, .tlsExporter])
        var mechanism = try row.makeMechanism(advertisement: offer)
        #expect(text(try mechanism.start()) == row.client_first)
        let answer = try #require(text(try mechanism.respond(to: Array(row.server_first.utf8))))
        #expect(answer.hasPrefix(String(row.client_final.prefix { $0 != "x" })))
    }

    @Test("a shortened offer is detected before any work is done (XEP-0474)")
    func downgrade() throws {
        let row = try SASLVectors.exchange("xep0474")
        for offer in [
            SASLAdvertisement(mechanisms: [.scramSHA1Plus], channelBindingTypes: [.tlsServerEndPoint, .tlsExporter]),
            SASLAdvertisement(mechanisms: [.scramSHA1Plus, .scramSHA1], channelBindingTypes: [.tlsServerEndPoint]),
            SASLAdvertisement(mechanisms: [.scramSHA1Plus, .scramSHA1]),
        ] {
            var mechanism = try row.makeMechanism(advertisement: offer)
            _ = try mechanism.start()
            #expect(throws: SASLError.downgradeDetected) { try mechanism.respond(to: Array(row.server_first.utf8)) }
        }
    }

    @Test(
        "a server whose TLS has another version than ours gets no proof (XEP-0515 §5.2)",
        arguments: [
            (0x0304, "t=0304", true), (0x0303, "t=0303", true), (0x0304, "t=0303", false), (0x0303, "t=0304", false),
            (0x0304, "t=304", false), (0x0304, "t=TLSv1.3", false), (nil, "t=0303", true), (0x0304, "x=0303", true),
        ] as [(UInt16?, String, Bool)])
    func tlsVersion(_ ours: UInt16?, _ attribute: String, _ isSame: Bool) throws {
        let row = try SASLVectors.exchange("rfc5802")
        var mechanism = try SCRAMMechanism(
            digest: .sha1, username: "user", secret: SCRAMSecret(preparedPassword: SecretBytes("pencil")),
            nonce: row.client_nonce, advertisement: SASLAdvertisement(mechanisms: [.scramSHA1]), tlsVersion: ours)
        _ = try mechanism.start()
        let message = Array("\(row.server_first),\(attribute)".utf8)
        if isSame {
            #expect(try mechanism.respond(to: message).starts(with: Array("c=".utf8)))
        } else {
            #expect(throws: SASLError.tlsVersionsDiffer) { try mechanism.derivation(for: message) }
            #expect(throws: SASLError.tlsVersionsDiffer) { try mechanism.respond(to: message) }
        }
    }

    @Test("the hash of an offer is over its sorted names (XEP-0474)", arguments: SASLVectors.all.ssdp)
    func downgradeHash(row: SASLVectors.Downgrade) throws {
        let offer = SASLAdvertisement(
            mechanisms: row.mechanisms.map(SASLMechanismName.init(rawValue:)),
            channelBindingTypes: row.channel_bindings?.map(ChannelBindingType.init(rawValue:)))
        #expect(offer.downgradeInput == Array(row.input.utf8))
        let digest = try #require(Digest.allCases.first { $0.description == row.hash })
        #expect(Base64.encode(try offer.downgradeHash(using: digest)) == row.h)
    }

    @Test("the account to act for stands escaped in the GS2 header, and is bound (RFC 5802 §7)")
    func authorizationID() throws {
        let row = try SASLVectors.exchange("rfc5802")
        var mechanism = try SCRAMMechanism(
            digest: .sha1, username: "user", secret: SCRAMSecret(preparedPassword: SecretBytes("pencil")),
            authorizationID: "a=b,c@example.org", nonce: row.client_nonce,
            advertisement: SASLAdvertisement(mechanisms: [.scramSHA1]))
        let header = "n,a=a=3Db=2Cc@example.org,"
        #expect(text(try mechanism.start()) == header + "n=user,r=" + row.client_nonce)
        let answer = try #require(text(try mechanism.respond(to: Array(row.server_first.utf8))))
        #expect(answer.hasPrefix("c=\(Base64.encode(Array(header.utf8))),r="))
    }

    @Test("an empty name, U+0000 in a name and a nonce that is none are refused (RFC 5802 §7)")
    func unusableArguments() {
        func attempt(_ username: String, _ nonce: String, _ identity: String? = nil) throws {
            _ = try SCRAMMechanism(
                digest: .sha1, username: username, secret: SCRAMSecret(preparedPassword: SecretBytes("x")),
                authorizationID: identity, nonce: nonce, advertisement: SASLAdvertisement(mechanisms: []))
        }
        #expect(throws: SASLError.invalidUsername) { try attempt("", "abc") }
        #expect(throws: SASLError.invalidUsername) { try attempt("a\u{0}b", "abc") }
        #expect(throws: SASLError.invalidUsername) { try attempt("a", "abc", "") }
        #expect(throws: SASLError.invalidUsername) { try attempt("a", "abc", "b\u{0}") }
        for nonce in ["", "a,b", "a b", "é", "a\u{7F}"] {
            #expect(throws: SASLError.malformedMessage) { try attempt("a", nonce) }
        }
    }
}
