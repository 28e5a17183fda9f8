// SPDX-License-Identifier: Apache-2.0

import SocketIO
import Testing
import XMPPTestSupport

@testable import XMPP

@Suite("A login of today: SASL2, Bind 2 and what goes along (XEP-0388, XEP-0386)", .timeLimit(.minutes(5)))
struct ModernLoginTests {
    private static let patience = ReconnectPolicy(firstDelay: .milliseconds(1), minimumDelay: .milliseconds(1))

    private func modern(_ change: (inout LoopbackOptions) -> Void = { _ in }) async throws -> LoopbackServer {
        try await verona { options in
            options = .modern
            change(&options)
        }
    }

    /// What the client of an account sent before its first stanza, on all connections.
    private func opening(_ server: LoopbackServer) async -> [String] {
        await server.transcript.filter { $0.direction == .fromClient }.map(\.element.localName)
            .prefix { !["iq", "presence", "message"].contains($0) }.map { $0 }
    }

    @Test("everything is agreed on in one exchange, bound to the channel", arguments: [false, true])
    func login(directTLS: Bool) async throws {
        let server = try await modern()
        let configuration = try await server.configuration(for: "romeo", resource: "orchard", directTLS: directTLS)
        let stream = XMPPStream(configuration)
        let jid = try await stream.connect()
        #expect(jid.resourcepart?.hasPrefix("orchard/") == true, "the wish comes first, the server's part behind it")
        #expect(await stream.mechanism == "SCRAM-SHA-512-PLUS")
        #expect(await stream.features?.offersRosterVersioning == true)
        try await stream.goOnline()
        try await stream.waitUntilHandled()
        #expect(
            await opening(server) == (directTLS ? [] : ["stream", "starttls"]) + ["stream", "authenticate", "response"])
        await stream.disconnect()
        await server.stop()
    }

    @Test(
        "a server that lacks something for stronger logins gets it once it has proven itself, and nothing of it is logged"
    )
    func upgrades() async throws {
        let server = try await modern { options in
            options.mechanisms = ["SCRAM-SHA-1-PLUS", "SCRAM-SHA-1"]
            options.upgrades = ["SCRAM-SHA-512", "SCRAM-SHA-256", "SCRAM-SHA3-512"]
        }
        let lines = Locked<[String]>([])
        let stream = XMPPStream(try await logging(server, lines))
        try await stream.connect()
        #expect(await stream.mechanism == "SCRAM-SHA-1-PLUS")
        try await stream.ping()
        await stream.disconnect()
        #expect(try await server.upgrades(of: "romeo") == ["SCRAM-SHA-512", "SCRAM-SHA-256"])
        let hashes = await server.transcript.filter { $0.element.localName == "task-data" }
            .compactMap { $0.element.firstChild("hash", namespace: "urn:xmpp:scram-upgrade:0")?.text }
        #expect(hashes.count == 2)
        let text = lines.withLock { $0.joined(separator: "\n") }
        for hash in hashes { #expect(!text.contains(hash)) }
        await server.stop()
    }

    @Test("a server that binds in the old way, or offers less inline, is met where it is", arguments: [false, true])
    func lessInline(offersManagement: Bool) async throws {
        let server = try await modern {
            $0.offersBind2 = false
            $0.offersStreamManagement = offersManagement
        }
        let (stream, _) = try await romeo(server)
        #expect(await stream.jid?.resourcepart == "orchard")
        try await stream.goOnline()
        try await stream.waitUntilHandled()
        await stream.disconnect()
        await server.stop()
    }

    @Test("carbons are switched on with the binding where that is offered, and asked for where not (XEP-0386 §3.2)")
    func carbons() async throws {
        for (offered, isUsed) in [([MessageCarbon.namespace], true), ([], true), ([MessageCarbon.namespace], false)] {
            let server = try await modern { $0.bind2Features = offered }
            var configuration = try await server.configuration(for: "romeo", resource: "orchard")
            configuration.usesCarbons = isUsed
            let client = XMPPClient(configuration)
            try await client.start()
            await client.stop()
            let sent = await server.transcript.filter { $0.direction == .fromClient }.map(\.element)
            let bind = sent.first { $0.localName == "authenticate" }?.children.first { $0.localName == "bind" }
            let wishes = bind?.children.filter { $0.namespace == MessageCarbon.namespace }.map(\.localName)
            #expect(wishes == (isUsed && !offered.isEmpty ? ["enable"] : []), "\(offered) \(isUsed)")
            let requests = sent.filter { $0.children.first?.namespace == MessageCarbon.namespace }
            #expect(requests.map(\.localName) == (isUsed && offered.isEmpty ? ["iq"] : []), "\(offered) \(isUsed)")
            await server.stop()
        }
    }

    @Test(
        "that nobody looks is said with the binding where that is offered, and after it where not (XEP-0386 §3.2, XEP-0352 §4)",
        arguments: [false, true], [false, true])
    func inactivity(isInline: Bool, isInactive: Bool) async throws {
        let server = try await modern {
            $0.offersClientState = true
            $0.bind2Features = isInline ? [ClientState.namespace] : []
        }
        var configuration = try await server.configuration(for: "romeo", resource: "orchard")
        configuration.beginsInactive = isInactive
        let client = XMPPClient(configuration)
        try await client.start()
        let stream = try #require(await client.stream)
        #expect(try await stream.setActive(true))
        try await stream.ping()
        await client.stop()
        let sent = await server.transcript.filter { $0.direction == .fromClient }.map(\.element)
        let bind = sent.first { $0.localName == "authenticate" }?.children.first { $0.localName == "bind" }
        let wishes = bind?.children.filter { $0.namespace == ClientState.namespace }.map(\.localName)
        #expect(wishes == (isInactive && isInline ? ["inactive"] : []))
        let said = sent.filter { $0.namespace == ClientState.namespace }.map(\.localName)
        #expect(said == (isInactive && !isInline ? ["inactive", "active"] : ["active"]))
        await server.stop()
    }

    @Test("a server that knows nothing of it is told nothing of who looks (XEP-0352 §3)")
    func noClientState() async throws {
        let server = try await modern()
        var configuration = try await server.configuration(for: "romeo")
        configuration.beginsInactive = true
        let client = XMPPClient(configuration)
        try await client.start()
        try await client.stream?.ping()
        await client.stop()
        #expect(await !server.transcript.contains { $0.element.namespace == ClientState.namespace })
        await server.stop()
    }

    @Test("a wrong password is tried once")
    func wrongPassword() async throws {
        let server = try await modern()
        let stream = XMPPStream(try await server.configuration(for: "romeo", password: "wrong"))
        await #expect { try await stream.connect() } throws: {
            ($0 as? XMPPError)?.code == .authenticationRefused
        }
        #expect(await server.transcript.count { $0.element.localName == "authenticate" } == 1)
        await server.stop()
    }

    @Test(
        "an access token logs in, in both profiles; one that is refused is tried once (RFC 7628)",
        arguments: [true, false])
    func accessToken(usesSASL2: Bool) async throws {
        let server = try await modern { $0.mechanisms = ["OAUTHBEARER", "PLAIN"] }
        var configuration = try await server.configuration(for: "romeo")
        configuration.password = nil
        configuration.accessToken = "secret"
        configuration.usesSASL2 = usesSASL2
        configuration.usesTokens = false
        let stream = XMPPStream(configuration)
        try await stream.connect()
        #expect(await stream.mechanism == "OAUTHBEARER")
        await stream.disconnect()
        configuration.accessToken = "stale"
        let other = XMPPStream(configuration)
        await #expect {
            try await other.connect()
        } throws: {
            ($0 as? XMPPError)?.code == .authenticationRefused
        }
        await server.stop()
    }

    @Test(
        "a certificate logs in to the account that it names (XEP-0178)",
        arguments: [(true, true), (true, false), (false, true), (false, false)])
    func certificate(usesSASL2: Bool, isPEM: Bool) async throws {
        let server = try await modern {
            $0.asksForCertificates = true
            $0.mechanisms.append("EXTERNAL")
        }
        // The flaw of a server's certificate is what a client's has to have.
        let made = try server.authority.issue(
            names: [.xmppAddress("romeo@example.net")], flaw: .missingServerPurpose)
        var configuration = try await server.configuration(for: "romeo")
        configuration.password = nil
        configuration.usesSASL2 = usesSASL2
        configuration.usesTokens = false
        configuration.clientCertificate =
            isPEM
            ? .pem(certificate: made.certificate, key: made.privateKey)
            : .pkcs12(try made.pkcs12(password: "p12"), password: "p12")
        let stream = XMPPStream(configuration)
        try await stream.connect()
        #expect(await stream.mechanism == "EXTERNAL")
        await stream.disconnect()
        configuration.clientCertificate = nil
        let other = XMPPStream(configuration)
        await #expect {
            try await other.connect()
        } throws: {
            ($0 as? XMPPError)?.code == .noMechanism
        }
        await server.stop()
    }

    @Test("a certificate that cannot be read is a mistake in the settings, found before anything is sent")
    func unreadableCertificate() async throws {
        let server = try await modern()
        var configuration = try await server.configuration(for: "romeo")
        let made = try server.authority.issue(names: [], flaw: .missingServerPurpose)
        for broken in [
            ClientCertificate.pem(certificate: [1], key: [2]),
            .pem(certificateFile: "/nonexistent", keyFile: "/nonexistent"),
            .pkcs12([1, 2, 3], password: nil), .pkcs12(try made.pkcs12(password: "right"), password: "wrong"),
        ] {
            configuration.clientCertificate = broken
            let stream = XMPPStream(configuration)
            await #expect {
                try await stream.connect()
            } throws: {
                ($0 as? XMPPError)?.code == .invalidConfiguration
            }
        }
        #expect(await server.transcript.isEmpty)
        await server.stop()
    }

    @Test("an installation keeps its name for an account, and another one has another (XEP-0388 §2.3)")
    func userAgent() async throws {
        let server = try await modern()
        let one = try await server.configuration(for: "romeo")
        var jids: [JID] = []
        for configuration in [one, one, try await server.configuration(for: "romeo")] {
            let stream = XMPPStream(configuration)
            jids.append(try await stream.connect())
            await stream.disconnect()
        }
        let ids = await server.transcript.compactMap {
            $0.element.firstChild("user-agent", namespace: "urn:xmpp:sasl:2")?["id"]
        }
        #expect(ids.count == 3 && ids[0] == ids[1] && ids[1] != ids[2])
        #expect(jids[0] == jids[1] && jids[1] != jids[2])
        let id = ids[0]
        #expect(id.wholeMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/) != nil)
        await server.stop()
    }

    @Test("a lost connection is resumed with the authentication itself (XEP-0198 §9.2)")
    func resumed() async throws {
        let server = try await modern()
        let client = XMPPClient(
            try await server.configuration(for: "romeo", resource: "orchard"), reconnect: Self.patience)
        let recorder = Recorder()
        client.add(chatDelegate: recorder)
        client.add(messageDelegate: recorder)
        let jid = try await client.start()
        await recorder.heard("online Juliet")
        await server.cutConnections(of: "romeo")
        try await server.send(Message(to: jid, body: "meanwhile"), as: "juliet")
        await recorder.heard("message juliet@example.net/balcony meanwhile")
        try await client.send(Message(to: try JID("juliet@example.net/balcony"), body: "back"))
        try await client.waitUntilHandled()
        #expect(await client.stream?.features?.offersRosterVersioning == true, "it is still known")
        await client.stop()
        let sent = await server.transcript.filter { $0.direction == .fromClient }.map(\.element)
        #expect(sent.count { $0.firstChild("resume", namespace: "urn:xmpp:sm:3") != nil } == 1)
        #expect(!sent.contains { $0.localName == "resume" || $0.localName == "enable" })
        #expect(recorder.lines.contains("resumed"))
        await server.stop()
    }

    @Test("a session that the server has given up is replaced in the same exchange, (XEP-0198 §9.2.1)")
    func notResumed() async throws {
        let server = try await modern { $0.resumption = .refusedWithCount }
        let client = XMPPClient(
            try await server.configuration(for: "romeo", resource: "orchard"), reconnect: Self.patience)
        let recorder = Recorder()
        client.add(chatDelegate: recorder)
        try await client.start()
        await recorder.heard("online Juliet")
        await server.cutConnections(of: "romeo")
        await recorder.heard("not resumed ")
        try await client.start()
        try await client.send(Message(to: try JID("juliet@example.net/balcony"), body: "back"))
        try await client.waitUntilHandled()
        await client.stop()
        await server.stop()
    }

    @Test("the log masks what proves who somebody is, wherever it stands")
    func log() async throws {
        let server = try await modern()
        let lines = Locked<[String]>([])
        let client = XMPPClient(
            try await logging(server, lines), reconnect: Self.patience)
        let recorder = Recorder()
        client.add(chatDelegate: recorder)
        try await client.start()
        await recorder.heard("online Juliet")
        await server.cutConnections(of: "romeo")
        await recorder.heard("resumed")
        await client.stop()
        let text = lines.withLock { $0.joined(separator: "\n") }
        let secrets = await server.transcript.flatMap { Self.secrets($0.element) }.filter { !$0.isEmpty }
        #expect(secrets.count >= 8)
        for secret in secrets { #expect(!text.contains(secret), "\(secret)") }
        #expect(text.contains("authenticate"))
        await server.stop()
    }

    private func logging(_ server: LoopbackServer, _ lines: Locked<[String]>) async throws -> XMPPConfiguration {
        var configuration = try await server.configuration(for: "romeo")
        configuration.logLevel = .wire
        configuration.log = { entry in lines.withLock { $0.append(entry.text) } }
        return configuration
    }

    /// The secrets in an element: SASL's data, and names of sessions.
    private static func secrets(_ element: Element) -> [String] {
        var secrets: [String] = []
        switch (element.localName, element.namespace) {
        case ("initial-response", _), ("challenge", _), ("response", _), ("additional-data", _):
            secrets = [element.text]
        case ("enabled", _), ("resume", _), ("resumed", _):
            secrets = [element["id"], element["previd"]].compactMap { $0 }
        default: break
        }
        return secrets + element.children.flatMap(secrets(_:))
    }
}
