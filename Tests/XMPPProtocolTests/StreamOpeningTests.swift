// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPCore
import XMPPXML

@testable import XMPPProtocol

@Suite("Opening a stream and securing it")
struct StreamOpeningTests {
    @Test("the first header names the domain and not the account (RFC 6120 §4.7.1)")
    func firstHeader() throws {
        var harness = try MachineHarness()
        let actions = harness.machine.transportConnected(directTLS: false, peerIsLoopback: false)
        #expect(
            actions == [
                .schedule(.negotiation, after: .seconds(30)), .restartParser(.beforeAuthentication),
                .openStream(StreamHeader(to: "example.net")),
            ])
    }

    @Test("inside TLS the header names the account (RFC 6120 §4.7.1)")
    func securedHeader() throws {
        var harness = try MachineHarness()
        #expect(
            harness.machine.transportConnected(directTLS: true, peerIsLoopback: false) == [
                .schedule(.negotiation, after: .seconds(30)), .startTLS,
            ])
        #expect(
            harness.machine.tlsEstablished(.verifiedTLS()) == [
                .emit(.secured), .restartParser(.beforeAuthentication),
                .openStream(StreamHeader(to: "example.net", from: "romeo@example.net")),
            ])
    }

    @Test("STARTTLS is asked for whether it is called optional or not (RFC 7590 §3.1)")
    func startTLS() throws {
        var harness = try MachineHarness()
        _ = harness.machine.transportConnected(directTLS: false, peerIsLoopback: false)
        _ = harness.header()
        let actions = try harness.receive(MachineHarness.startTLSFeatures)
        #expect(actions.first == .emit(.connected))
        #expect(actions.sentNames == ["starttls"])
        #expect(try harness.receive(MachineHarness.startTLSFeatures) == [], "features twice")
        #expect(
            try harness.receive("<proceed xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>") == [
                .startTLS
            ])
    }

    @Test(
        "without TLS nothing secret is sent, whatever the server does (RFC 6120 §5.3.4, §13.8.3)",
        arguments: [
            MachineHarness.plainFeatures, "<stream:features/>",
            "<success xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/>", "<proceed xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>",
            "<message><body>early</body></message>",
        ])
    func noTLS(xml: String) throws {
        var harness = try MachineHarness()
        _ = harness.machine.transportConnected(directTLS: false, peerIsLoopback: true)
        _ = harness.header()
        let actions = try harness.receive(xml)
        #expect(!actions.sendsCredentials)
        guard case .tlsUnavailable? = actions.end else {
            Issue.record("the stream did not end: \(actions)")
            return
        }
        #expect(actions.last == .closeTransport)
    }

    @Test(
        "a refused request for TLS ends the connection; there is no way back to the clear (RFC 6120 §5.4.2.2)",
        arguments: [
            "<failure xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>", "<proceed xmlns='urn:example:other'/>",
            "<success xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/>",
        ])
    func refusedTLS(xml: String) throws {
        var harness = try MachineHarness()
        _ = harness.machine.transportConnected(directTLS: false, peerIsLoopback: false)
        _ = harness.header()
        try harness.receive(MachineHarness.startTLSFeatures)
        let actions = try harness.receive(xml)
        guard case .tlsUnavailable? = actions.end else {
            Issue.record("the stream did not end: \(actions)")
            return
        }
        #expect(!actions.sendsCredentials)
    }

    @Test("STARTTLS inside TLS is an attack (RFC 6120 §5.3.4)")
    func startTLSAgain() throws {
        var harness = try MachineHarness()
        try harness.secure()
        let actions = try harness.receive(MachineHarness.startTLSFeatures)
        #expect(actions.end == .tlsUnavailable("the server offers STARTTLS inside TLS"))
    }

    @Test(
        "the clear is allowed on loopback alone, and only with the permission",
        arguments: [(true, true, true), (true, false, false), (false, true, false)])
    func permission(isPermitted: Bool, isLoopback: Bool, authenticates: Bool) throws {
        var harness = try MachineHarness(security: isPermitted ? .plaintextOnLoopback : .tlsRequired)
        _ = harness.machine.transportConnected(directTLS: false, peerIsLoopback: isLoopback)
        _ = harness.header()
        #expect(try harness.receive(MachineHarness.plainFeatures).sendsCredentials == authenticates)
    }

    @Test("with the permission, TLS is still used where it is offered")
    func permissionUnused() throws {
        var harness = try MachineHarness(security: .plaintextOnLoopback)
        _ = harness.machine.transportConnected(directTLS: false, peerIsLoopback: true)
        _ = harness.header()
        #expect(try harness.receive(MachineHarness.startTLSFeatures).sentNames == ["starttls"])
    }

    @Test(
        "a header that cannot be used gets the right stream error (RFC 6120 §4.7.5, §4.8)",
        arguments: [
            ("stream", Namespace.streams, Namespace.client, nil, StreamError.Condition.unsupportedVersion),
            ("stream", Namespace.streams, Namespace.client, "0.9", .unsupportedVersion),
            ("stream", Namespace.streams, Namespace.client, "junk", .unsupportedVersion),
            ("stream", Namespace.streams, "jabber:server", "1.0", .invalidNamespace),
            ("stream", "urn:example", Namespace.client, "1.0", .invalidNamespace),
            ("other", Namespace.streams, Namespace.client, "1.0", .invalidNamespace),
        ])
    func badHeader(
        name: String, namespace: String, content: String, version: String?, condition: StreamError.Condition
    ) throws {
        var harness = try MachineHarness()
        _ = harness.machine.transportConnected(directTLS: false, peerIsLoopback: false)
        let root = Element(name, namespace: namespace, attributes: ["version": version])
        let actions = harness.machine.received(.streamOpened(root, contentNamespace: content))
        guard case .violation(let error)? = actions.end else {
            Issue.record("the stream did not end: \(actions)")
            return
        }
        #expect(error.condition == condition)
        #expect(Array(actions.prefix(2)) == [.send(error.element), .endStream])
    }

    @Test("over TLS the stream must be the domain's own (RFC 6120 §13.7.2)")
    func otherDomain() throws {
        var harness = try MachineHarness()
        _ = harness.machine.transportConnected(directTLS: true, peerIsLoopback: false)
        _ = harness.machine.tlsEstablished(.verifiedTLS())
        guard case .violation(let error)? = harness.header(from: "evil.example").end else {
            Issue.record("the stream did not end")
            return
        }
        #expect(error.condition == .hostUnknown)
    }

    @Test("XML that is refused ends the stream with its condition (RFC 6120 §11)")
    func refusedXML() throws {
        var harness = try MachineHarness()
        _ = harness.machine.transportConnected(directTLS: false, peerIsLoopback: false)
        let actions = harness.machine.parserFailed(.restrictedXML("a comment"))
        #expect(actions.end == .violation(StreamError(.restrictedXML, text: "a comment")))
        #expect(harness.machine.parserFailed(.restrictedXML("again")) == [])
    }

    @Test("what is not finished in time is given up, with nothing left running")
    func timeouts() throws {
        var opening = try MachineHarness()
        _ = opening.machine.transportConnected(directTLS: false, peerIsLoopback: false)
        #expect(opening.machine.timerFired(.negotiation).end == .timedOut(.negotiation))
        #expect(opening.machine.timerFired(.negotiation) == [], "nothing happens twice")
    }

    @Test("when time is up during a handshake nothing is written: no stream is open (RFC 6120 §5.4.3)")
    func timeoutDuringHandshake() throws {
        var harness = try MachineHarness()
        _ = harness.machine.transportConnected(directTLS: true, peerIsLoopback: false)
        let actions = harness.machine.timerFired(.negotiation)
        #expect(actions.end == .timedOut(.negotiation))
        #expect(actions.last == .abortTransport)
        #expect(!actions.contains(.endStream) && actions.sentNames.isEmpty)
    }
}
