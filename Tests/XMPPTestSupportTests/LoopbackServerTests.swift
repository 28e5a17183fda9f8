// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPP
import XMPPTestSupport

/// A server with two accounts that see each other.
private func startServer(
    _ change: (inout LoopbackOptions) -> Void = { _ in }
) async throws -> LoopbackServer {
    var options = LoopbackOptions()
    change(&options)
    let server = try await LoopbackServer.start(
        domain: "example.org", accounts: ["juliet": "balcony", "romeo": "orchard"], options: options)
    try await server.befriend("juliet", "romeo", name: "Romeo", groups: ["Montague"])
    return server
}

extension LoopbackServer {
    /// A connected stream of an account.
    fileprivate func connect(_ username: String, resource: String? = nil, directTLS: Bool = false) async throws
        -> XMPPStream
    {
        let stream = XMPPStream(try configuration(for: username, resource: resource, directTLS: directTLS))
        _ = try await stream.connect()
        return stream
    }
}

@Suite("LoopbackServer, seen by XMPPStream")
struct LoopbackServerTests {
    @Test(
        "logs in with each mechanism, over STARTTLS and over direct TLS",
        arguments: ["PLAIN", "SCRAM-SHA-1", "SCRAM-SHA-256", "SCRAM-SHA-512", "SCRAM-SHA-256-PLUS"], [false, true])
    func logsIn(mechanism: String, directTLS: Bool) async throws {
        let server = try await startServer { $0.mechanisms = [mechanism] }
        let stream = try await server.connect("juliet", resource: "balcony", directTLS: directTLS)
        #expect(await stream.jid == (try JID("juliet@example.org/balcony")))
        #expect(await stream.mechanism == mechanism)
        await stream.disconnect()
        await server.stop()
    }

    @Test(
        "refuses a wrong password with not-authorized (RFC 6120 §6.5.10)",
        arguments: ["PLAIN", "SCRAM-SHA-256"])
    func refusesWrongPassword(mechanism: String) async throws {
        let server = try await startServer { $0.mechanisms = [mechanism] }
        let stream = XMPPStream(try await server.configuration(for: "juliet", password: "wrong"))
        let error = await #expect(throws: XMPPError.self) { try await stream.connect() }
        #expect(error?.saslFailure?.condition == .notAuthorized)
        await server.stop()
    }

    @Test("who enters a room at a service that is not there hears so at once (RFC 6120 §10.4.3)")
    func tellsOfMissingServices() async throws {
        let server = try await startServer()
        let stream = try await server.connect("juliet")
        let error = await #expect(throws: XMPPError.self) {
            _ = try await stream.join(try JID("coven@chat.example.net"), as: "Juliet")
        }
        #expect(error?.stanzaError?.condition == .remoteServerNotFound)
        await stream.disconnect()
        await server.stop()
    }

    @Test("hands out the roster with names and groups")
    func hasRoster() async throws {
        let server = try await startServer()
        let stream = try await server.connect("juliet")
        let answer = try await stream.request(
            IQ(.get, payload: Element("query", namespace: Namespace.roster)))
        let items = answer.payload?.children ?? []
        #expect(items.map { $0["jid"] } == ["romeo@example.org"])
        #expect(items.first?["name"] == "Romeo")
        #expect(items.first?["subscription"] == "both")
        await stream.disconnect()
        await server.stop()
    }

    @Test("shows presence to those who may see it, and takes it back when the client is gone")
    func broadcastsPresence() async throws {
        let server = try await startServer()
        let juliet = try await server.connect("juliet")
        var seen = juliet.presences.makeAsyncIterator()
        try await juliet.send(Presence())
        let romeo = try await server.connect("romeo", resource: "orchard")
        try await romeo.send(Presence(show: .away, status: "climbing"))
        let from = try JID("romeo@example.org/orchard")
        var presence = try await seen.next()
        while presence?.from != from { presence = try await seen.next() }
        #expect(presence?.show == .away)
        #expect(presence?.status == "climbing")
        await server.cutConnections(of: "romeo")
        presence = try await seen.next()
        #expect(presence?.from == from)
        #expect(presence?.kind == .unavailable)
        await juliet.disconnect()
        await server.stop()
    }

    @Test("delivers a message to the bare address, and keeps it for whoever is away (RFC 6121 §8.5.2)")
    func routesMessages() async throws {
        let server = try await startServer()
        let juliet = try await server.connect("juliet")
        try await juliet.send(Message(to: try JID("romeo@example.org"), body: "one"))
        let romeo = try await server.connect("romeo")
        var messages = romeo.messages.makeAsyncIterator()
        try await romeo.send(Presence())
        let kept = try await messages.next()
        #expect(kept?.body == "one")
        #expect(kept?.hasPayload("delay", namespace: Namespace.delay) == true)
        try await juliet.send(Message(to: try JID("romeo@example.org"), body: "two"))
        let direct = try await messages.next()
        #expect(direct?.body == "two")
        #expect(direct?.hasPayload("delay", namespace: Namespace.delay) == false)
        await juliet.disconnect()
        await romeo.disconnect()
        await server.stop()
    }

    @Test("bounces a message for nobody with service-unavailable (RFC 6121 §8.5.1)")
    func bounces() async throws {
        let server = try await startServer()
        let juliet = try await server.connect("juliet")
        var events = juliet.events.makeAsyncIterator()
        try await juliet.send(Message(to: try JID("nobody@example.org"), body: "hello"))
        bounce: while let event = try await events.next() {
            if case .messageBounced(_, let error) = event {
                #expect(error.condition == .serviceUnavailable)
                break bounce
            }
        }
        await juliet.disconnect()
        await server.stop()
    }

    @Test("acknowledges stanzas (XEP-0198 §4)")
    func acknowledges() async throws {
        let server = try await startServer()
        let juliet = try await server.connect("juliet")
        try await juliet.send(Message(to: try JID("romeo@example.org"), body: "hello"))
        try await juliet.waitUntilHandled()
        #expect(await server.received(from: "juliet").contains { $0.localName == "r" })
        await juliet.disconnect()
        await server.stop()
    }

    @Test("has buddies who echo, and who leave when told")
    func hasBuddies() async throws {
        let server = try await startServer()
        try await server.add(LoopbackBuddy("nurse", presence: Presence(show: .away, status: "in the house")))
        try await server.add(LoopbackBuddy("mercutio", behaviors: [.leavesWhenTold("bye")]))
        let juliet = try await server.connect("juliet")
        var messages = juliet.messages.makeAsyncIterator()
        var presences = juliet.presences.makeAsyncIterator()
        try await juliet.send(Presence())
        try await juliet.send(Message(to: try JID("nurse@example.org"), body: "Where is Romeo?"))
        let echo = try await messages.next()
        #expect(echo?.body == "Where is Romeo?")
        #expect(echo?.from?.bare == (try JID("nurse@example.org")))
        try await juliet.send(Message(to: try JID("mercutio@example.org"), body: "bye"))
        var presence = try await presences.next()
        while presence?.kind != .unavailable { presence = try await presences.next() }
        #expect(presence?.from?.localpart == "mercutio")
        await juliet.disconnect()
        await server.stop()
    }
}
