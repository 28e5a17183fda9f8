// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPTestSupport

@testable import XMPP

/// Messages that are past one limit each.
enum Oversized: String, CaseIterable, Sendable {
    case bytes
    case elements
    case depth
    /// In the start tag of the message itself.
    case attributes
    case longAttribute

    func message(to: String, id: String = "poison") -> Element {
        var message = Element(
            "message", namespace: "jabber:client", attributes: ["to": to, "id": id, "type": "chat"])
        var content = Element("x", namespace: "urn:x")
        switch self {
        case .bytes: content.append(text: String(repeating: "x", count: 1_100_000))
        case .elements: for _ in 0..<20_001 { content.append(Element("a", namespace: "urn:x")) }
        case .depth:
            for _ in 0..<64 {
                var outer = Element("x", namespace: "urn:x")
                outer.append(content)
                content = outer
            }
        case .attributes: for number in 0..<300 { message["a\(number)"] = "x" }
        case .longAttribute: message["a"] = String(repeating: "x", count: 1_100_000)
        }
        message.append(Element("body", namespace: "jabber:client", text: "x"))
        message.append(content)
        return message
    }
}

@Suite("Stanzas that are past a limit, sent by anybody", .timeLimit(.minutes(5)))
struct OversizedTests {
    private static let quick = ReconnectPolicy(
        firstDelay: .milliseconds(1), baseDelay: .milliseconds(1), minimumDelay: .milliseconds(1))

    /// The settings of somebody who has met such a stanza before.
    private func experienced(_ server: LoopbackServer, at time: DateTime = .now) async throws -> XMPPConfiguration {
        let configuration = try await server.configuration(for: "romeo", resource: "orchard")
        var memory = LoginMemory()
        memory.lastOversized = time
        await configuration.loginMemory.save(memory, of: configuration.jid.bare)
        return configuration
    }

    private func connect(_ configuration: XMPPConfiguration) async throws -> (XMPPStream, Recorder) {
        let stream = XMPPStream(configuration)
        let recorder = Recorder()
        stream.add(chatDelegate: recorder)
        stream.add(messageDelegate: recorder)
        try await stream.connect()
        try await stream.goOnline()
        return (stream, recorder)
    }

    @Test(
        "one that the server sends again at each login costs one connection, and what is behind it arrives",
        arguments: Oversized.allCases)
    func redelivered(_ kind: Oversized) async throws {
        let server = try await verona { $0.resumption = .kept(for: .seconds(60)) }
        let client = XMPPClient(
            try await server.configuration(for: "romeo", resource: "orchard"), reconnect: Self.quick,
            store: InMemoryStreamStateStore())
        let recorder = Recorder()
        client.add(chatDelegate: recorder)
        client.add(messageDelegate: recorder)
        try await client.start()
        try await server.send(Message(kind.message(to: "romeo@example.net")), as: "juliet")
        try await server.send(Message(to: try JID("romeo@example.net"), body: "behind"), as: "juliet")
        await recorder.heard("message juliet@example.net/balcony behind")
        #expect(
            recorder.lines.filter { $0.hasPrefix("not read") } == [
                "not read: message poison juliet@example.net/balcony"
            ])
        // The next one costs nothing, and neither comes again.
        try await server.send(Message(kind.message(to: "romeo@example.net", id: "second")), as: "juliet")
        try await server.send(Message(to: try JID("romeo@example.net"), body: "last"), as: "juliet")
        await recorder.heard("message juliet@example.net/balcony last")
        try await client.stream?.ping()
        await client.stop()
        #expect(await server.acceptedConnections == 2)
        let (stream, next) = try await connect(client.configuration)
        try await stream.ping()
        #expect(!next.lines.contains { $0.hasPrefix("not read") || $0.hasPrefix("message") })
        await stream.disconnect()
        await server.stop()
    }

    @Test("the first one is refused with policy-violation, as soon as it is past the limit (RFC 6120 §4.9.3.14)")
    func first() async throws {
        let server = try await verona()
        let configuration = try await server.configuration(for: "romeo", resource: "orchard")
        let (stream, recorder) = try await connect(configuration)
        // It has no end.
        await server.inject("<message><body>" + String(repeating: "x", count: 1_100_000), into: "romeo")
        try await Patience.wait(for: "the end of the stream") {
            recorder.lines.contains("disconnected protocolViolation")
        }
        let sent = await server.received(from: "romeo").last { $0.localName == "error" }
        #expect(sent?.children.first?.localName == "policy-violation")
        _ = await stream.waitUntilDown()
        #expect(await configuration.loginMemory.memory(of: configuration.jid.bare)?.lastOversized != nil)
        await server.stop()
    }

    @Test(
        "a request is answered with an error, to strangers with that of a resource that is not there (RFC 6120 §8.2.3)")
    func requests() async throws {
        let server = try await verona()
        let (stream, recorder) = try await connect(try await experienced(server))
        await recorder.heard("online Juliet")
        let content = "<q xmlns='urn:x'>" + String(repeating: "<a/>", count: 20_001) + "</q></iq>"
        let senders = [
            ("stranger", "mallory@evil.example/x", "get"), ("contact", "juliet@example.net/balcony", "set"),
            ("odd", "a@b@c", "get"), ("result", "mallory@evil.example/x", "result"),
        ]
        for (id, from, type) in senders {
            await server.inject("<iq type='\(type)' id='\(id)' from='\(from)'>" + content, into: "romeo")
        }
        await server.inject("<iq type='get' from='mallory@evil.example/x'>" + content, into: "romeo")
        await server.inject("<message from='juliet@example.net/balcony'><body>on</body></message>", into: "romeo")
        await recorder.heard("message juliet@example.net/balcony on")
        try await stream.ping()
        let answers = await server.received(from: "romeo").filter { $0["type"] == "error" }
        let conditions = answers.map { answer in
            "\(answer["id"] ?? "") \(answer["to"] ?? "") "
                + (answer.firstChild("error", namespace: Namespace.client)?.children.first?.localName ?? "")
        }
        #expect(
            conditions == [
                "stranger mallory@evil.example/x service-unavailable",
                "contact juliet@example.net/balcony policy-violation",
            ])
        await stream.disconnect()
        await server.stop()
    }

    @Test("an answer that is past a limit fails its request at once")
    func answers() async throws {
        let server = try await verona()
        let (stream, recorder) = try await connect(try await experienced(server))
        let asking = Task {
            try await stream.request(
                IQ(.get, to: try JID("juliet@example.net/balcony"), payload: Element("q", namespace: "urn:x")))
        }
        let request = try await server.firstElement(from: "romeo") { $0.children.first?.namespace == "urn:x" }
        let id = try #require(request["id"])
        let content = "<q xmlns='urn:x'>" + String(repeating: "<a/>", count: 20_001) + "</q></iq>"
        await server.inject("<iq type='result' id='\(id)' from='mallory@evil.example/x'>" + content, into: "romeo")
        await recorder.heard("not read: iq \(id) mallory@evil.example/x")
        await server.inject("<iq type='result' id='\(id)' from='juliet@example.net/balcony'>" + content, into: "romeo")
        let error = await #expect(throws: XMPPError.self) { try await asking.value }
        #expect(error?.code == .tooLarge || error?.stanzaError != nil, "\(String(describing: error))")
        await stream.disconnect()
        await server.stop()
    }

    @Test("after thirty days without one, the next is refused again")
    func forgotten() throws {
        var memory = LoginMemory()
        #expect(!memory.passesOverOversized(at: .now))
        let time = DateTime(millisecondsSinceEpoch: 1_700_000_000_000)
        memory.lastOversized = time
        let days = { (count: Int64) in
            DateTime(millisecondsSinceEpoch: time.millisecondsSinceEpoch + count * 86_400_000)
        }
        #expect([-1, 0, 1, 29].allSatisfy { memory.passesOverOversized(at: days($0)) })
        #expect(!memory.passesOverOversized(at: days(30)))
    }

    @Test("over WebSocket one that the server sends again costs one connection too", arguments: [20_001, 400_000])
    func webSocket(elements: Int) async throws {
        let server = try await verona { $0.resumption = .kept(for: .seconds(60)) }
        let client = XMPPClient(
            try await server.webSocketConfiguration(for: "romeo", resource: "orchard"), reconnect: Self.quick,
            store: InMemoryStreamStateStore())
        let recorder = Recorder()
        client.add(chatDelegate: recorder)
        client.add(messageDelegate: recorder)
        try await client.start()
        var message = Message(to: try JID("romeo@example.net"), body: "x", id: "poison")
        var content = Element("x", namespace: "urn:x")
        for _ in 0..<elements { content.append(Element("a", namespace: "urn:x")) }
        message.append(content)
        try await server.send(message, as: "juliet")
        try await server.send(Message(to: try JID("romeo@example.net"), body: "behind"), as: "juliet")
        await recorder.heard("message juliet@example.net/balcony behind")
        #expect(recorder.lines.contains("not read: message poison juliet@example.net/balcony"))
        await client.stop()
        #expect(await server.acceptedConnections == 2)
        await server.stop()
    }
}
