// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPP
import XMPPTestSupport

@Suite("LoopbackServer, before anybody is logged in")
struct LoopbackNegotiationTests {
    @Test(
        "answers a bad opening with the stream error that RFC 6120 §4.9.3 asks for",
        arguments: [
            (RawClient.header.replacing("example.org", with: "example.net"), "host-unknown"),
            (RawClient.header.replacing("jabber:client", with: "jabber:server"), "invalid-namespace"),
            (RawClient.header.replacing("1.0", with: "0.9"), "unsupported-version"),
            (RawClient.header + "<message/>", "not-authorized"),
            (RawClient.header + "</wrong>", "not-well-formed"),
            (RawClient.header + "<!-- hello -->", "restricted-xml"),
            ("<?xml version='1.0' encoding='latin1'?>" + RawClient.header, "unsupported-encoding"),
        ])
    func refusesOpening(text: String, condition: String) async throws {
        let server = try await LoopbackServer.start(domain: "example.org", accounts: ["juliet": "balcony"])
        let client = RawClient()
        try await client.connect(server.port)
        await client.send(text)
        let answer = await client.receiveAll()
        #expect(answer.contains("<\(condition) xmlns='urn:ietf:params:xml:ns:xmpp-streams'"), "\(answer)")
        #expect(answer.hasSuffix("</stream:stream>"))
        await client.close()
        await server.stop()
    }

    @Test("offers no mechanism, and takes no password, before TLS (RFC 6120 §13.8)")
    func takesNoPasswordInTheClear() async throws {
        let server = try await LoopbackServer.start(domain: "example.org", accounts: ["juliet": "balcony"])
        let client = RawClient()
        try await client.connect(server.port)
        await client.send(RawClient.header)
        let features = await client.receive(until: "</stream:features>")
        #expect(features.contains("<starttls"))
        #expect(!features.contains("<mechanism"))
        await client.send(
            "<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='PLAIN'>AGp1bGlldABiYWxjb255</auth>")
        #expect(await client.receive(until: "</failure>").contains("<encryption-required"))
        await client.close()
        await server.stop()
    }

    @Test("lets people in without TLS when it is told to")
    func allowsPlaintext() async throws {
        var options = LoopbackOptions()
        options.allowsPlaintext = true
        options.offersStartTLS = false
        let server = try await LoopbackServer.start(
            domain: "example.org", accounts: ["juliet": "balcony"], options: options)
        var configuration = try await server.configuration(for: "juliet")
        configuration.securityPolicy = .plaintextOnLoopback
        let stream = XMPPStream(configuration)
        try await stream.connect()
        #expect(await stream.security == nil)
        await stream.disconnect()
        await server.stop()
    }

    @Test("lets a guest in (RFC 4505)")
    func admitsGuests() async throws {
        var options = LoopbackOptions()
        options.mechanisms = ["ANONYMOUS"]
        let server = try await LoopbackServer.start(domain: "example.org", accounts: ["juliet": "x"], options: options)
        var configuration = try await server.configuration(for: "juliet")
        configuration.jid = server.domain
        configuration.password = nil
        let stream = XMPPStream(configuration)
        #expect(try await stream.connect().localpart?.hasPrefix("guest-") == true)
        await stream.disconnect()
        await server.stop()
    }

    @Test("waits for the session request of RFC 3921 when it says so")
    func requiresSession() async throws {
        var options = LoopbackOptions()
        options.legacySession = .required
        let server = try await LoopbackServer.start(
            domain: "example.org", accounts: ["juliet": "balcony"], options: options)
        let stream = XMPPStream(try await server.configuration(for: "juliet"))
        try await stream.connect()
        let request = try await server.firstElement(from: "juliet") {
            $0.firstChild("session", namespace: Namespace.session) != nil
        }
        #expect(request["type"] == "set")
        await stream.disconnect()
        await server.stop()
    }

    @Test(
        "settles who has a resource (RFC 6120 §7.7.2.2)",
        arguments: [
            LoopbackOptions.ResourceConflict.replacesOld, .refusesNew, .renamesNew,
        ])
    func settlesConflicts(conflict: LoopbackOptions.ResourceConflict) async throws {
        var options = LoopbackOptions()
        options.resourceConflict = conflict
        let server = try await LoopbackServer.start(
            domain: "example.org", accounts: ["juliet": "balcony"], options: options)
        let first = XMPPStream(try await server.configuration(for: "juliet", resource: "balcony"))
        let wanted = try await first.connect()
        let second = XMPPStream(try await server.configuration(for: "juliet", resource: "balcony"))
        let given = try? await second.connect()
        switch conflict {
        case .replacesOld: #expect(given == wanted)
        case .refusesNew:
            #expect(given != wanted)
            _ = try await server.firstRecord { $0.direction == .toClient && $0.element["type"] == "error" }
        case .renamesNew: #expect(given != nil && given != wanted)
        }
        #expect(await server.connected.contains(wanted))
        await first.disconnect()
        await second.disconnect()
        await server.stop()
    }
}
