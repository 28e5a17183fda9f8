// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPCore
import XMPPCrypto
import XMPPXML

@testable import XMPPProtocol

@Suite("SCRAM keys that are worked out elsewhere")
struct KeyDerivationTests {
    private static let salt = Array("a salt of some length".utf8)
    private static let features =
        "<stream:features><mechanisms xmlns='urn:ietf:params:xml:ns:xmpp-sasl'><mechanism>SCRAM-SHA-1</mechanism>"
        + "<mechanism>SCRAM-SHA-256</mechanism></mechanisms></stream:features>"

    /// What the server says first, and whatever a test makes of it.
    private static func serverFirst(iterations: Int = 4_096) -> String {
        "r=\(CountingRandom().identifier())Server,s=\(Base64.encode(salt)),i=\(iterations)"
    }

    private static func challenge(_ text: String) -> String {
        "<challenge xmlns='urn:ietf:params:xml:ns:xmpp-sasl'>\(Base64.encode(Array(text.utf8)))</challenge>"
    }

    private static func keys(iterations: Int = 4_096, digest: Digest = .sha256) throws -> SCRAMKeyMaterial {
        try SCRAMKeyMaterial(digest: digest, password: SecretBytes("secret"), salt: salt, iterations: iterations)
    }

    /// A machine that has sent its first message.
    private static func begun(_ keys: SCRAMKeyMaterial? = nil) throws -> MachineHarness {
        var harness = try MachineHarness { configuration in
            configuration.authentication.credentials = .account(
                SASLAccount(username: "romeo", password: SecretBytes("secret"), keys: keys))
        }
        try harness.secure()
        try harness.receive(features)
        return harness
    }

    private static func work(of actions: [StreamAction]) throws -> SCRAMKeyDerivation {
        guard actions.count == 1, case .deriveKeys(let work)? = actions.first else {
            throw SASLError.unexpectedMessage
        }
        return work
    }

    /// What the client's answer to the challenge is, and the server's to that.
    private static func exchange(_ answer: Element?) throws -> (client: [UInt8], success: String) {
        let client = try #require(answer.flatMap { Base64.decode($0.text) })
        let withoutProof = client.split(separator: UInt8(ascii: ",")).prefix(2).joined(separator: [UInt8(ascii: ",")])
        let first = "n=romeo,r=\(CountingRandom().identifier()),\(serverFirst()),"
        let signature = try keys().serverSignature(Array(first.utf8) + withoutProof)
        let data = Base64.encode(Array("v=\(Base64.encode(signature))".utf8))
        return (client, "<success xmlns='urn:ietf:params:xml:ns:xmpp-sasl'>\(data)</success>")
    }

    @Test("a challenge is answered when its keys are there, and they are left for the next login (RFC 5802 §5.1)")
    func derives() throws {
        var harness = try Self.begun()
        let work = try Self.work(of: try harness.receive(Self.challenge(Self.serverFirst())))
        #expect(work.digest == .sha256 && work.salt == Self.salt && work.iterations == 4_096)
        #expect(!"\(work)".contains("secret"))
        let actions = harness.machine.keysDerived(.success(try work.keys()), for: work)
        #expect(actions.sentNames == ["response"])
        #expect(harness.machine.scramKeys == nil, "the server has proven nothing yet")
        let end = try harness.receive(try Self.exchange(actions.first?.sent).success)
        #expect(end.contains(.emit(.authenticated(mechanism: "SCRAM-SHA-256"))))
        let kept = try #require(harness.machine.scramKeys)
        #expect(kept.clientKey.matches(try Self.keys().clientKey))
    }

    @Test("with the keys of an earlier login nothing has to be worked out, and the answer is the same")
    func kept() throws {
        var fresh = try Self.begun()
        let work = try Self.work(of: try fresh.receive(Self.challenge(Self.serverFirst())))
        let expected = fresh.machine.keysDerived(.success(try work.keys()), for: work)
        var harness = try Self.begun(try Self.keys())
        #expect(try harness.receive(Self.challenge(Self.serverFirst())) == expected)
        try harness.receive(try Self.exchange(expected.first?.sent).success)
        #expect(harness.machine.scramKeys != nil)
    }

    @Test("a server that has another salt, count or hash now gets an answer made of the password")
    func stale() throws {
        for keys in [try Self.keys(iterations: 5_000), try Self.keys(digest: .sha1)] {
            var harness = try Self.begun(keys)
            #expect(try Self.work(of: try harness.receive(Self.challenge(Self.serverFirst()))).iterations == 4_096)
        }
    }

    @Test("what a server asks for is checked before any work is done for it (RFC 5802 §9)")
    func checked() throws {
        for text in [
            Self.serverFirst(iterations: 4_095), Self.serverFirst(iterations: 10_000_001),
            Self.serverFirst() + ",m=x", "r=else,s=\(Base64.encode(Self.salt)),i=4096",
        ] {
            var harness = try Self.begun()
            let actions = try harness.receive(Self.challenge(text))
            #expect(actions.sentNames == ["abort"] && actions.end != nil, "\(text)")
        }
    }

    @Test(
        "while keys are worked out the server can refuse, and nothing else (RFC 6120 §6.4.3)",
        arguments: ["challenge", "success", "message", "failure"])
    func meanwhile(_ kind: String) throws {
        let sasl = "xmlns='urn:ietf:params:xml:ns:xmpp-sasl'"
        let xml = [
            "challenge": Self.challenge(Self.serverFirst()), "success": "<success \(sasl)/>", "message": "<message/>",
            "failure": "<failure \(sasl)><temporary-auth-failure/></failure>",
        ]
        var harness = try Self.begun()
        let work = try Self.work(of: try harness.receive(Self.challenge(Self.serverFirst())))
        let actions = try harness.receive(try #require(xml[kind]))
        #expect(actions.end != nil && actions.sentNames.allSatisfy { $0 == "abort" }, "\(actions)")
        #expect(harness.machine.scramKeys == nil)
        #expect(harness.machine.keysDerived(.success(try work.keys()), for: work) == [], "nothing waits for them")
    }

    @Test("keys for a mechanism that the server has refused meanwhile are not used for the next one")
    func late() throws {
        var harness = try Self.begun()
        let work = try Self.work(of: try harness.receive(Self.challenge(Self.serverFirst())))
        let next = try harness.receive(
            "<failure xmlns='urn:ietf:params:xml:ns:xmpp-sasl'><mechanism-too-weak/></failure>")
        #expect(next.first?.sent?["mechanism"] == "SCRAM-SHA-1")
        #expect(harness.machine.keysDerived(.success(try work.keys()), for: work) == [])
    }

    @Test("keys that cannot be worked out end the login")
    func impossible() throws {
        var harness = try Self.begun()
        let work = try Self.work(of: try harness.receive(Self.challenge(Self.serverFirst())))
        let actions = harness.machine.keysDerived(.failure(.unavailable(.sha256)), for: work)
        #expect(actions.sentNames == ["abort"] && actions.end != nil)
    }
}
