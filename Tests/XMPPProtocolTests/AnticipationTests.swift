// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPCore
import XMPPXML

@testable import XMPPProtocol

@Suite("Sending at once what the server allowed at the last login (XEP-0305, XEP-0509)")
struct AnticipationTests {
    private static let classic =
        "<stream:features><mechanisms xmlns='urn:ietf:params:xml:ns:xmpp-sasl'><mechanism>SCRAM-SHA-1</mechanism>"
        + "<mechanism>PLAIN</mechanism></mechanisms></stream:features>"

    private static func modern(_ mechanisms: [String] = ["SCRAM-SHA-1"], version: String? = nil) -> String {
        let list = mechanisms.map { "<mechanism>\($0)</mechanism>" }.joined()
        let name = version.map { "<config-version xmlns='urn:xmpp:iap:0' value='\($0)'/>" } ?? ""
        return "<stream:features><authentication xmlns='urn:xmpp:sasl:2'>\(list)<inline>"
            + "<bind xmlns='urn:xmpp:bind:0'/></inline></authentication>\(name)</stream:features>"
    }

    private func features(_ xml: String) throws -> StreamFeatures {
        StreamFeatures(try Element.parse(xml, defaultNamespace: Namespace.client))
    }

    /// A machine that knows what a server has offered before.
    private func harness(
        login: String = classic, session: String = MachineHarness.sessionFeatures, resuming state: StreamState? = nil
    ) throws -> MachineHarness {
        var expected = OfferedFeatures()
        expected.beforeTLS = try features(MachineHarness.startTLSFeatures)
        expected.beforeLogin = try features(login)
        expected.session = try features(session)
        return try MachineHarness(resuming: state) { $0.expected = expected }
    }

    /// Up to TLS.
    ///
    /// - Returns: What is sent with the header inside.
    private func secure(_ harness: inout MachineHarness) throws -> [String] {
        _ = harness.machine.transportConnected(directTLS: false, peerIsLoopback: false)
        _ = harness.header()
        try harness.receive(MachineHarness.startTLSFeatures)
        try harness.receive("<proceed xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>")
        let actions = harness.machine.tlsEstablished(.verifiedTLS())
        _ = harness.header()
        return actions.sentNames
    }

    @Test("each header brings the next request along, and nothing is asked twice")
    func classicLogin() throws {
        var harness = try harness()
        let first = harness.machine.transportConnected(directTLS: false, peerIsLoopback: false)
        #expect(first.sentNames == ["starttls"])
        _ = harness.header()
        #expect(try harness.receive(MachineHarness.startTLSFeatures) == [.emit(.connected)])
        #expect(
            try harness.receive("<proceed xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>") == [.startTLS])
        #expect(harness.machine.tlsEstablished(.verifiedTLS()).sentNames == ["auth"])
        _ = harness.header()
        #expect(try harness.receive(Self.classic).isEmpty)
        #expect(harness.machine.hasAnticipated)
    }

    @Test("the session is asked for with the last header, and goes on as if it had been asked for later")
    func session() throws {
        var harness = try MachineHarness { $0.expected = nil }
        var expected = OfferedFeatures()
        expected.session = try features(MachineHarness.sessionFeatures)
        harness = try MachineHarness { $0.expected = expected }
        try harness.secure()
        try harness.receive(MachineHarness.plainFeatures)
        let actions = try harness.receive("<success xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/>")
        let id = try #require(actions.compactMap(\.sent).first?["id"])
        _ = harness.header()
        #expect(try harness.receive(MachineHarness.sessionFeatures).isEmpty)
        let last = try harness.receive(
            "<iq type='result' id='\(id)'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'>"
                + "<jid>romeo@example.net/orchard</jid></bind></iq>")
        #expect(last.sentNames == ["enable"])
        #expect(harness.machine.isEstablished)
    }

    @Test("a password is not sent before the server has asked for it on this connection")
    func plain() throws {
        var harness = try harness(login: MachineHarness.plainFeatures)
        #expect(try secure(&harness) == [])
        #expect(try harness.receive(MachineHarness.plainFeatures).sentNames == ["auth"])
    }

    @Test("nothing is anticipated in the clear but TLS, and TLS that is gone ends it (RFC 7590 §3.1)")
    func strippedTLS() throws {
        var harness = try harness()
        _ = harness.machine.transportConnected(directTLS: false, peerIsLoopback: false)
        _ = harness.header()
        let actions = try harness.receive(Self.classic)
        #expect(actions.end != nil && !actions.sendsCredentials)
    }

    @Test(
        "a server that offers something else than before is left, and told nothing more",
        arguments: [
            "<stream:features><mechanisms xmlns='urn:ietf:params:xml:ns:xmpp-sasl'><mechanism>SCRAM-SHA-1</mechanism>"
                + "<mechanism>SCRAM-SHA-512</mechanism></mechanisms></stream:features>",
            MachineHarness.plainFeatures, modern(), "<stream:features/>",
        ])
    func otherLogin(features: String) throws {
        var harness = try harness()
        #expect(try secure(&harness) == ["auth"])
        let actions = try harness.receive(features)
        #expect(actions.end != nil && !actions.sendsCredentials)
    }

    @Test("the order of mechanisms means nothing: some servers shuffle them")
    func shuffled() throws {
        var harness = try harness(login: Self.modern(["SCRAM-SHA-1", "SCRAM-SHA-256"]))
        #expect(try secure(&harness) == ["authenticate"])
        #expect(try harness.receive(Self.modern(["SCRAM-SHA-256", "SCRAM-SHA-1"])).isEmpty)
    }

    @Test("a session that the server may have taken up already is not ended by giving up the connection")
    func otherSession() throws {
        let state = StreamState(jid: try JID("romeo@example.net/orchard"), id: "sm1")
        var harness = try harness(login: MachineHarness.plainFeatures, resuming: state)
        _ = try secure(&harness)
        try harness.receive(MachineHarness.plainFeatures)
        #expect(try harness.receive("<success xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/>").sentNames == ["resume"])
        _ = harness.header()
        let actions = try harness.receive(
            "<stream:features><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/></stream:features>")
        #expect(actions.end != nil && actions.contains(.abortTransport) && !actions.contains(.endStream))
        #expect(harness.machine.resumableState?.id == "sm1")
    }

    @Test("the configuration that is relied on is named, and a server that has another begins anew (XEP-0509 §2.2)")
    func version() throws {
        var harness = try harness(login: Self.modern(version: "one"))
        #expect(try secure(&harness) == ["authenticate"])
        #expect(try harness.receive(Self.modern(["SCRAM-SHA-1", "SCRAM-SHA-512"], version: "two")).isEmpty)
        let actions = try harness.receive(
            "<failure xmlns='urn:xmpp:sasl:2'><aborted xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/>"
                + "<config-version-mismatch xmlns='urn:xmpp:iap:0'/></failure>")
        let request = actions.compactMap(\.sent).first
        #expect(request?["mechanism"] == "SCRAM-SHA-512", "the better one that has come up meanwhile")
        #expect(request?.firstChild("config-version", namespace: Namespace.initialPipelining) == nil)
    }

    @Test("a server that goes on although it has changed is not believed")
    func liar() throws {
        var harness = try harness(login: Self.modern(version: "one"))
        _ = try secure(&harness)
        try harness.receive(Self.modern(["SCRAM-SHA-1", "SCRAM-SHA-512"], version: "two"))
        let actions = try harness.receive("<challenge xmlns='urn:xmpp:sasl:2'>cj0x</challenge>")
        #expect(actions.sentNames == ["abort"] && actions.end != nil)
    }
}
