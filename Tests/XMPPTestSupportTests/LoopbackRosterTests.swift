// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPP
import XMPPTestSupport

@Suite("LoopbackServer's rosters and subscriptions")
struct LoopbackRosterTests {
    private let romeo: JID
    private let juliet: JID

    init() throws {
        romeo = try JID("romeo@example.org")
        juliet = try JID("juliet@example.org")
    }

    private func start() async throws -> LoopbackServer {
        try await LoopbackServer.start(domain: "example.org", accounts: ["juliet": "balcony", "romeo": "orchard"])
    }

    private func online(_ username: String, _ server: LoopbackServer, priority: Int8 = 0) async throws -> XMPPStream {
        let stream = XMPPStream(try await server.configuration(for: username))
        try await stream.connect()
        _ = try await stream.request(IQ(.get, payload: Element("query", namespace: Namespace.roster)))
        try await stream.send(Presence(priority: priority))
        return stream
    }

    /// Who asked, as romeo's client was told.
    private func nextRequest(_ server: LoopbackServer) async throws -> JID? {
        let shown = try await server.firstRecord {
            $0.direction == .toClient && $0.account?.localpart == "romeo" && $0.element["type"] == "subscribe"
        }
        return try Presence(shown.element).from
    }

    private func item(_ jid: JID, _ attributes: KeyValuePairs<String, String?> = [:]) -> IQ {
        var item = Element("item", namespace: Namespace.roster, attributes: attributes)
        item["jid"] = jid.description
        return IQ(.set, payload: Element("query", namespace: Namespace.roster, children: [item]))
    }

    @Test("a request is shown, approved, and then presence flows (RFC 6121 §3.1)")
    func subscribes() async throws {
        let server = try await start()
        let asking = try await online("juliet", server)
        let asked = try await online("romeo", server)
        var answers = asking.presences.makeAsyncIterator()
        try await asking.send(Presence(.subscribe, to: romeo))
        #expect(try await nextRequest(server) == juliet)
        #expect(try await server.roster(of: "juliet").map(\.isAsking) == [true])
        try await asked.send(Presence(.subscribed, to: juliet))
        var arrived = try await answers.next()
        while arrived?.from?.bare != romeo || arrived?.kind != .available { arrived = try await answers.next() }
        #expect(try await server.roster(of: "juliet").map(\.subscription) == [.to])
        #expect(try await server.roster(of: "romeo").map(\.subscription) == [.from])
        await asking.disconnect()
        await asked.disconnect()
        await server.stop()
    }

    @Test("a request to somebody who is away waits for them (RFC 6121 §3.1.3)")
    func keepsRequests() async throws {
        let server = try await start()
        let asking = try await online("juliet", server)
        try await asking.send(Presence(.subscribe, to: romeo))
        _ = try await server.firstElement(from: "juliet") { $0["type"] == "subscribe" }
        let stream = XMPPStream(try await server.configuration(for: "romeo"))
        try await stream.connect()
        try await stream.send(Presence())
        #expect(try await nextRequest(server) == juliet)
        await asking.disconnect()
        await stream.disconnect()
        await server.stop()
    }

    @Test("an approval that nobody asked for is remembered and not shown (RFC 6121 §3.4)")
    func preApproves() async throws {
        let server = try await start()
        let stream = try await online("romeo", server)
        try await stream.send(Presence(.subscribed, to: juliet))
        let other = try await online("juliet", server)
        #expect(try await server.roster(of: "juliet").isEmpty)
        try await other.send(Presence(.subscribe, to: romeo))
        _ = try await server.firstRecord { $0.direction == .toClient && $0.element["type"] == "subscribed" }
        #expect(try await server.roster(of: "juliet").map(\.subscription) == [.to])
        #expect(try await server.roster(of: "romeo").map(\.isApproved) == [false])
        await stream.disconnect()
        await other.disconnect()
        await server.stop()
    }

    @Test("a contact is named, pushed, and removed with both subscriptions (RFC 6121 §2.3, §2.5)")
    func changesRoster() async throws {
        let server = try await start()
        try await server.befriend("juliet", "romeo")
        let stream = try await online("juliet", server)
        var events = stream.events.makeAsyncIterator()
        _ = try await stream.request(item(romeo, ["name": "My love"]))
        var change: RosterChange?
        while change == nil, let event = try await events.next() {
            if case .roster(.changed(let pushed, _)) = event { change = pushed }
        }
        #expect(change == .updated(RosterItem(jid: romeo, name: "My love", subscription: .both)))
        _ = try await stream.request(item(romeo, ["subscription": "remove"]))
        #expect(try await server.roster(of: "juliet").isEmpty)
        #expect(try await server.roster(of: "romeo").map(\.subscription) == [.none])
        let error = await #expect(throws: XMPPError.self) {
            try await stream.request(item(romeo, ["subscription": "remove"]))
        }
        #expect(error?.stanzaError?.condition == .itemNotFound)
        await stream.disconnect()
        await server.stop()
    }

    @Test("who knows the roster's version gets no roster (RFC 6121 §2.6.3)")
    func knowsVersions() async throws {
        let server = try await start()
        try await server.befriend("juliet", "romeo")
        let stream = try await online("juliet", server)
        let ask = { (version: String) in
            IQ(.get, payload: Element("query", namespace: Namespace.roster, attributes: ["ver": version]))
        }
        let full = try await stream.request(ask(""))
        let version = try #require(full.payload?["ver"])
        #expect(full.payload?.children.count == 1)
        let empty = try await stream.request(ask(version))
        #expect(empty.payload == nil)
        await stream.disconnect()
        await server.stop()
    }

    @Test("a message to the bare address goes to the highest priority, a negative one gets none (RFC 6121 §8.5.2)")
    func prefersPriority() async throws {
        let server = try await start()
        let low = try await online("romeo", server, priority: 1)
        let high = try await online("romeo", server, priority: 5)
        let negative = try await online("romeo", server, priority: -1)
        var messages = high.messages.makeAsyncIterator()
        let sender = try await online("juliet", server)
        try await sender.send(Message(to: romeo, body: "hello"))
        #expect(try await messages.next()?.body == "hello")
        // A ping after it proves that nothing is under way to the others.
        for stream in [low, negative, high] {
            _ = try await stream.request(
                IQ(.get, to: server.domain, payload: Element("ping", namespace: Namespace.ping)))
        }
        let deliveries = await server.transcript.filter {
            $0.direction == .toClient && $0.element.localName == "message"
        }
        #expect(deliveries.count == 1)
        #expect(await deliveries.first?.account == high.jid)
        for stream in [low, high, negative, sender] { await stream.disconnect() }
        await server.stop()
    }
}
