// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPP
import XMPPTestSupport

@Suite("A session that outlives its connection (XEP-0198 §5)", .timeLimit(.minutes(5)))
struct ResumingTests {
    private static let patience = ReconnectPolicy(firstDelay: .milliseconds(1), minimumDelay: .milliseconds(1))

    private func client(
        _ server: LoopbackServer, store: any StreamStateStore = InMemoryStreamStateStore(),
        _ change: (inout XMPPConfiguration) -> Void = { _ in }
    ) async throws -> (XMPPClient, Recorder) {
        var configuration = try await server.configuration(for: "romeo", resource: "orchard")
        change(&configuration)
        let client = XMPPClient(configuration, reconnect: Self.patience, store: store)
        let recorder = Recorder()
        client.add(chatDelegate: recorder)
        client.add(messageDelegate: recorder)
        return (client, recorder)
    }

    private func text(_ body: String, to: String = "juliet@example.net/balcony") throws -> Message {
        Message(to: try JID(to), body: body, id: body)
    }

    @Test("a lost connection is resumed: nobody goes offline, nothing is asked again, nothing is lost")
    func resumed() async throws {
        let server = try await verona { $0.resumption = .kept(for: .seconds(60)) }
        let (client, recorder) = try await client(server)
        try await client.start()
        await recorder.heard("online Juliet")
        let messages = client.messages
        let stream = try #require(await client.stream)
        await server.cutConnections(of: "romeo")
        try await server.send(Message(to: try JID("romeo@example.net/orchard"), body: "meanwhile"), as: "juliet")
        await recorder.heard("message juliet@example.net/balcony meanwhile")
        await recorder.heard("resumed")
        #expect(await client.stream === stream)
        #expect(await stream.isResumed)
        #expect(client.buddies.online.map(\.displayName) == ["Juliet"])
        try await client.send(text("hello"))
        try await client.waitUntilHandled()
        for try await message in messages {
            #expect(message.body == "meanwhile", "the sequence lives on")
            break
        }
        await client.stop()
        let lines = recorder.lines
        #expect(lines.count { $0.hasPrefix("authenticated") } == 1)
        #expect(lines.count { $0.hasPrefix("roster") } == 1)
        #expect(lines.count { $0 == "online Juliet" } == 1)
        let asked = await server.received(from: "romeo")
        #expect(asked.count { $0.localName == "presence" && $0["type"] == nil } == 1)
        #expect(asked.count { $0.localName == "resume" } == 1)
        await server.stop()
    }

    @Test("requests and waits for acknowledgements survive the change of the connection")
    func waits() async throws {
        let server = try await verona {
            $0.resumption = .kept(for: .seconds(60))
            $0.answersAcknowledgementRequests = false
        }
        let (client, recorder) = try await client(server)
        try await client.start()
        let stream = try #require(await client.stream)
        try await client.send(text("one"))
        let handled = Task { try await stream.waitUntilHandled() }
        _ = try await server.firstElement(from: "romeo") { $0.localName == "r" }
        // The request is not answered before the connection is cut: nobody at that address does it.
        let ping = IQ(
            .get, to: try JID("juliet@example.net/balcony"), payload: Element("ping", namespace: "urn:xmpp:ping"))
        let request = Task { try await stream.request(ping, timeout: .seconds(60)) }
        _ = try await server.firstElement(from: "romeo") { $0.localName == "iq" && $0["to"] != nil }
        await server.cutConnections(of: "romeo")
        await server.changeOptions { $0.answersAcknowledgementRequests = true }
        try await handled.value
        _ = try await request.value
        await recorder.heard("resumed")
        #expect(!recorder.lines.contains { $0.hasPrefix("disconnected") })
        await client.stop()
        await server.stop()
    }

    @Test(
        "where the server has given the session up, the delegates hear what became of it",
        arguments: [
            LoopbackOptions.Resumption.refused, .refusedWithCount,
        ])
    func refused(resumption: LoopbackOptions.Resumption) async throws {
        let server = try await verona {
            $0.resumption = resumption
            $0.answersAcknowledgementRequests = false
        }
        let (client, recorder) = try await client(server)
        try await client.start()
        await recorder.heard("online Juliet")
        try await client.send(text("one"))
        _ = try await server.firstElement(from: "romeo") { $0["id"] == "one" }
        await server.cutConnections(of: "romeo")
        await recorder.heard("not resumed \(resumption == .refused ? "one" : "")")
        // Online again is who has said again what was to be said.
        try await client.start()
        try await client.request(IQ(.get, payload: Element("ping", namespace: Namespace.ping)))
        let copies = await server.transcript.filter {
            $0.direction == .fromClient && $0.element["id"] == "one"
        }
        #expect(copies.count == (resumption == .refused ? 2 : 1))
        #expect(copies.allSatisfy { $0.connection == 1 || (try? Message($0.element))?.delay != nil })
        await client.stop()
        let lines = recorder.lines.filter { $0.hasPrefix("o") || $0.hasPrefix("a") || $0.hasPrefix("not") }
        #expect(
            lines == [
                "authenticated romeo@example.net/orchard", "online Juliet", "offline Juliet",
                "not resumed \(resumption == .refused ? "one" : "")", "authenticated romeo@example.net/orchard",
                "online Juliet", "offline Juliet",
            ] || !lines.isEmpty && lines.dropLast(2).last == "authenticated romeo@example.net/orchard", "\(lines)")
        await server.stop()
    }

    @Test("a client that is started again goes on with the session that a store kept")
    func store() async throws {
        let server = try await verona { $0.resumption = .kept(for: .seconds(60)) }
        let store = InMemoryStreamStateStore()
        var (client, recorder) = try await client(server, store: store)
        try await client.start()
        let account = try JID("romeo@example.net")
        #expect(await store.state(of: account) == nil, "what is established is not interrupted")
        let stream = try #require(await client.stream)
        await server.planEveryConnection([.cut(afterBytes: 0)])
        await server.cutConnections(of: "romeo")
        await recorder.heard("interrupted")
        await client.stop()
        #expect(await store.state(of: account)?.id != nil)
        await server.planEveryConnection([])
        try await server.send(Message(to: try JID("romeo@example.net/orchard"), body: "later"), as: "juliet")
        #expect(await stream.isEstablished == false)

        (client, recorder) = try await self.client(server, store: store)
        try await client.start()
        await recorder.heard("message juliet@example.net/balcony later")
        await recorder.heard("online Juliet")
        #expect(recorder.lines.contains("resumed"))
        #expect(await store.state(of: account) == nil)
        await client.stop()
        #expect(await store.state(of: account) == nil, "an orderly end leaves nothing")
        await server.stop()
    }

    @Test("a stanza counts as handled when the delegates are done with it, and is acknowledged then")
    func handledByDelegates() async throws {
        let server = try await verona { $0.requestsAcknowledgementEvery = 1 }
        let (client, _) = try await client(server) { $0.stanzaHandling = .whenDelegatesAreDone }
        let keeper = Keeper()
        client.add(messageDelegate: keeper)
        try await client.start()
        try await server.send(Message(to: try JID("romeo@example.net/orchard"), body: "keep me"), as: "juliet")
        await keeper.began()
        try await client.stream?.ping()
        let during = await Self.count(server)
        #expect(during < (await Self.place(of: "keep me", server)), "it is in the delegate's hands")
        keeper.finish()
        _ = try await server.firstElement(from: "romeo") {
            $0.localName == "a" && ($0["h"].flatMap { UInt32($0) } ?? 0) > during
        }
        await client.stop()
        await server.stop()
    }

    /// The how manieth stanza since Stream Management was enabled a message to the client was.
    private static func place(of body: String, _ server: LoopbackServer) async -> UInt32 {
        let sent = await server.transcript.filter { $0.direction == .toClient && $0.account?.localpart == "romeo" }
        let counted = sent.map(\.element).drop { $0.localName != "enabled" }.dropFirst().filter {
            $0.namespace == Namespace.client
        }
        return UInt32(counted.prefix { (try? Message($0))?.body != body }.count + 1)
    }

    /// The highest count that the client has acknowledged.
    private static func count(_ server: LoopbackServer) async -> UInt32 {
        await server.received(from: "romeo").filter { $0.localName == "a" }.compactMap {
            $0["h"].flatMap { UInt32($0) }
        }
        .max() ?? 0
    }
}

/// A delegate that is busy with its first message until it is told otherwise.
private final class Keeper: MessageDelegate {
    private let arrivals = AsyncStream.makeStream(of: Void.self)
    private let permissions = AsyncStream.makeStream(of: Void.self)

    func began() async { for await _ in arrivals.stream { return } }

    func finish() { permissions.continuation.finish() }

    func stream(_ stream: XMPPStream, didReceive message: Message) async {
        arrivals.continuation.yield()
        for await _ in permissions.stream {}
    }
}
