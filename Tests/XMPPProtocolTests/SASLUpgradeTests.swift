// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPCore
import XMPPCrypto
import XMPPXML

@testable import XMPPProtocol

@Suite("Steps that make later logins stronger (XEP-0480)")
struct SASLUpgradeTests {
    private static let exporter = ChannelBindingData(type: .tlsExporter, bytes: [1, 2, 3])

    private static func offering(_ tasks: [String], mechanisms: [String] = ["SCRAM-SHA-1", "SCRAM-SHA-1-PLUS"])
        -> String
    {
        let list = mechanisms.map { "<mechanism>\($0)</mechanism>" }.joined()
        let upgrades = tasks.map { "<upgrade xmlns='urn:xmpp:sasl:upgrade:0'>\($0)</upgrade>" }.joined()
        let isBound = mechanisms.contains { $0.hasSuffix("-PLUS") }
        return "<stream:features><authentication xmlns='urn:xmpp:sasl:2'>\(list)\(upgrades)</authentication>"
            + "<sasl-channel-binding xmlns='urn:xmpp:sasl-cb:0'>"
            + (isBound ? "<channel-binding type='tls-exporter'/>" : "") + "</sasl-channel-binding></stream:features>"
    }

    /// A machine that has asked, with what it asked.
    private func asking(_ features: String) throws -> (MachineHarness, Element?) {
        var harness = try MachineHarness()
        try harness.secure(bindings: [Self.exporter])
        let request = try harness.receive(features).compactMap(\.sent).first
        return (harness, request)
    }

    /// A machine whose exchange has come to the server's proof, and that proof.
    private func provable(_ tasks: [String] = ["UPGR-SCRAM-SHA-256"]) throws -> (MachineHarness, String) {
        var (harness, request) = try asking(Self.offering(tasks))
        let initial = request?.firstChild("initial-response", namespace: Namespace.sasl2)?.text ?? ""
        let first = String(decoding: Base64.decode(initial) ?? [], as: UTF8.self)
        let bare = String(first.dropFirst("p=tls-exporter,,".count))
        let nonce = bare.split(separator: ",").last?.dropFirst(2) ?? ""
        let serverFirst = "r=\(nonce)more,s=QSXCR+Q6sek8bf92,i=4096"
        let answer = try self.answer(
            "<challenge xmlns='urn:xmpp:sasl:2'>\(Base64.encode(Array(serverFirst.utf8)))</challenge>", &harness)
        let final = String(
            decoding: Base64.decode(answer.compactMap(\.sent).first?.text ?? "") ?? [], as: UTF8.self)
        let withoutProof = final.split(separator: ",").filter { !$0.hasPrefix("p=") }.joined(separator: ",")
        let keys = try SCRAMKeyMaterial(
            digest: .sha1, password: SecretBytes("secret"), salt: Base64.decode("QSXCR+Q6sek8bf92") ?? [],
            iterations: 4_096)
        let signature = try keys.serverSignature(Array("\(bare),\(serverFirst),\(withoutProof)".utf8))
        return (harness, Base64.encode(Array("v=\(Base64.encode(signature))".utf8)))
    }

    /// What is sent for salt and iterations, once it has been worked out.
    private func answer(_ data: String, _ harness: inout MachineHarness) throws -> [StreamAction] {
        let actions = try harness.receive(data)
        guard case .deriveKeys(let work)? = actions.first else { return actions }
        #expect(actions.count == 1)
        return harness.machine.keysDerived(.success(try work.keys()), for: work)
    }

    private static func step(_ task: String, proof: String? = nil) -> String {
        "<continue xmlns='urn:xmpp:sasl:2'>" + (proof.map { "<additional-data>\($0)</additional-data>" } ?? "")
            + "<tasks><task>\(task)</task></tasks></continue>"
    }

    private static func salt(_ iterations: String = "4096", _ salt: String = "QV9TWENSWFE2c2VrOGJmX1o=") -> String {
        "<task-data xmlns='urn:xmpp:sasl:2'><salt xmlns='urn:xmpp:scram-upgrade:0' iterations='\(iterations)'>\(salt)</salt>"
            + "</task-data>"
    }

    private static let success =
        "<success xmlns='urn:xmpp:sasl:2'><authorization-identifier>romeo@example.net</authorization-identifier></success>"

    @Test(
        "only what is known, and what does not tell the password, is offered, and only in a bound exchange (§2.2, §5)")
    func request() throws {
        func offered(_ features: String) throws -> [String] {
            try asking(features).1?.children("upgrade", namespace: Namespace.saslUpgrade).map(\.text) ?? []
        }
        let all = ["UPGR-PLAIN", "UPGR-SCRAM-SHA-256", "UPGR-SCRAM-SHA-512", "UPGR-X"]
        #expect(try offered(Self.offering(all)) == ["UPGR-SCRAM-SHA-512", "UPGR-SCRAM-SHA-256"])
        #expect(try offered(Self.offering([])) == [])
        #expect(try offered(Self.offering(all, mechanisms: ["SCRAM-SHA-1"])) == [])
        #expect(try offered(Self.offering(all, mechanisms: ["PLAIN"])) == [])
    }

    @Test("the server gets the salted password of the step (§3), and the login ends as it would have")
    func upgrade() throws {
        var (harness, proof) = try provable()
        let next = try harness.receive(Self.step("UPGR-SCRAM-SHA-256", proof: proof)).compactMap(\.sent).first
        #expect(next == Element("next", namespace: "urn:xmpp:sasl:2", attributes: ["task": "UPGR-SCRAM-SHA-256"]))
        let data = try answer(Self.salt(), &harness).compactMap(\.sent).first
        let hash = data?.firstChild("hash", namespace: "urn:xmpp:scram-upgrade:0")?.text
        let expected = try PBKDF2.derive(
            password: SecretBytes("secret"), salt: Base64.decode("QV9TWENSWFE2c2VrOGJmX1o=") ?? [], iterations: 4_096,
            using: .sha256)
        #expect(hash.flatMap { Base64.decode($0) } == expected.withUnsafeBytes { Array($0) })
        let actions = try harness.receive(Self.success)
        #expect(actions.contains(.emit(.authenticated(mechanism: "SCRAM-SHA-1-PLUS"))))
    }

    @Test("several steps come one after another (§2.2)")
    func several() throws {
        var (harness, proof) = try provable(["UPGR-SCRAM-SHA-256", "UPGR-SCRAM-SHA-512"])
        try harness.receive(Self.step("UPGR-SCRAM-SHA-512", proof: proof))
        _ = try answer(Self.salt(), &harness)
        #expect(try harness.receive(Self.step("UPGR-SCRAM-SHA-256")).sentNames == ["next"])
        #expect(try answer(Self.salt(), &harness).sentNames == ["task-data"])
        #expect(try harness.receive(Self.success).end == nil)
    }

    @Test("a server that has not proven itself gets nothing (RFC 5802 §5)")
    func proof() throws {
        for proof in [nil, "dj1ub25l"] {
            var (harness, _) = try provable()
            let actions = try harness.receive(Self.step("UPGR-SCRAM-SHA-256", proof: proof))
            #expect(actions.end != nil && actions.sentNames == ["abort"])
        }
    }

    @Test("a step that was not offered, or comes again, ends it", arguments: ["UPGR-SCRAM-SHA-512", "UPGR-PLAIN", ""])
    func notOffered(task: String) throws {
        var (harness, proof) = try provable()
        #expect(try harness.receive(Self.step(task, proof: proof)).end != nil)
        var (again, secondProof) = try provable()
        try again.receive(Self.step("UPGR-SCRAM-SHA-256", proof: secondProof))
        _ = try answer(Self.salt(), &again)
        #expect(try again.receive(Self.step("UPGR-SCRAM-SHA-256")).end != nil)
    }

    @Test(
        "salt and iterations are held to the limits of SCRAM (RFC 7677 §4)",
        arguments: [
            salt("1"), salt("4095"), salt("-1"), salt("99999999999"), salt("x"), salt("4096", "QQ=="),
            salt("4096", "!"),
            "<task-data xmlns='urn:xmpp:sasl:2'/>",
        ])
    func limits(data: String) throws {
        var (harness, proof) = try provable()
        try harness.receive(Self.step("UPGR-SCRAM-SHA-256", proof: proof))
        let actions = try harness.receive(data)
        #expect(actions.end != nil && actions.sentNames == ["abort"])
    }

    @Test("nobody ends the login in the middle of a step, or sends data that nobody waits for")
    func order() throws {
        var (early, proof) = try provable()
        try early.receive(Self.step("UPGR-SCRAM-SHA-256", proof: proof))
        #expect(try early.receive(Self.success).end != nil)
        var (working, other) = try provable()
        try working.receive(Self.step("UPGR-SCRAM-SHA-256", proof: other))
        try working.receive(Self.salt())
        #expect(try working.receive(Self.success).end != nil, "what is being worked out comes first")
        var (unasked, _) = try provable()
        #expect(try unasked.receive(Self.salt()).end != nil)
    }
}
