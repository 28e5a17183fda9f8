// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPP
import XMPPTestSupport

@Suite("A stream from connecting to disconnecting")
struct StreamTests {
    @Test("delegates hear what happens, in order, and presence has names from the roster", arguments: [false, true])
    func life(directTLS: Bool) async throws {
        let server = try await verona()
        let configuration = try await server.configuration(for: "romeo", resource: "orchard", directTLS: directTLS)
        let stream = XMPPStream(configuration)
        let recorder = Recorder()
        stream.add(chatDelegate: recorder)
        stream.add(messageDelegate: recorder)
        #expect(try await stream.connect() == JID("romeo@example.net/orchard"))
        #expect(await stream.security?.version == "TLSv1.3")
        try await stream.goOnline()
        await recorder.heard("online Juliet")
        try await server.set(Presence(show: .away), of: "juliet")
        await recorder.heard("changed Juliet away")
        try await server.send(Message(to: try JID("romeo@example.net"), body: "hi"), as: "juliet")
        await recorder.heard("message juliet@example.net/balcony hi")
        try await server.set(Presence(.unavailable), of: "juliet")
        await recorder.heard("offline Juliet")
        await stream.disconnect()
        await recorder.heard("disconnected ")
        #expect(
            recorder.lines == [
                "connected", "authenticated romeo@example.net/orchard", "roster 2", "online Juliet",
                "changed Juliet away", "message juliet@example.net/balcony hi", "offline Juliet", "disconnected ",
            ])
        await server.stop()
    }

    @Test("at the end of the stream everybody is offline (RFC 6121 §4.5)")
    func staleClearing() async throws {
        let server = try await verona()
        let (stream, recorder) = try await romeo(server)
        try await stream.goOnline()
        await recorder.heard("online Juliet")
        await server.cutConnections(of: "romeo")
        await recorder.heard("disconnected connectionLost")
        #expect(Array(recorder.lines.suffix(2)) == ["offline Juliet", "disconnected connectionLost"])
        #expect(await stream.buddies.isEmpty)
        await server.stop()
    }

    @Test("sequences end with the stream, and hold what came before anybody looked")
    func sequences() async throws {
        let server = try await verona()
        let (stream, _) = try await romeo(server)
        let messages = stream.messages
        try await stream.goOnline()
        for number in 1...3 {
            try await server.send(Message(to: try JID("romeo@example.net"), body: "\(number)"), as: "juliet")
        }
        try await stream.ping()
        await stream.disconnect()
        var bodies: [String?] = []
        for try await message in messages { bodies.append(message.body) }
        #expect(bodies == ["1", "2", "3"])
        await server.stop()
    }

    @Test("a sequence that nobody reads ends with an error instead of losing events silently")
    func overflow() async throws {
        let server = try await verona()
        let (stream, _) = try await romeo(server)
        let events = stream.events(limit: 2)
        try await stream.goOnline()
        try await stream.ping()
        await stream.disconnect()
        var count = 0
        await #expect(throws: XMPPError.self) {
            for try await _ in events { count += 1 }
        }
        #expect(count == 2)
        await server.stop()
    }

    @Test("what was sent counts as handled when the server says so (XEP-0198, or a ping)", arguments: [true, false])
    func handled(isManaged: Bool) async throws {
        let server = try await verona { $0.offersStreamManagement = isManaged }
        let (stream, _) = try await romeo(server)
        for number in 0..<20 {
            try await stream.send(Message(to: try JID("juliet@example.net"), body: "\(number)"))
        }
        try await stream.waitUntilHandled()
        #expect(try await server.stanzas(for: "juliet").filter { $0.localName == "message" }.count == 20)
        await stream.disconnect()
        await server.stop()
    }

    @Test("2,500 messages pass the limit of unacknowledged stanzas without losing one")
    func manyMessages() async throws {
        let server = try await verona()
        let (stream, _) = try await romeo(server)
        let juliet = try JID("juliet@example.net")
        for number in 0..<2_500 { try await stream.send(Message(to: juliet, body: "\(number)")) }
        try await stream.waitUntilHandled()
        await stream.disconnect()
        let bodies = await server.received(from: "romeo").compactMap { try? Message($0) }.compactMap(\.body)
        #expect(bodies == (0..<2_500).map(String.init))
        await server.stop()
    }

    @Test("a bounce is told as one, and names the message (RFC 6120 §8.3)")
    func bounce() async throws {
        let server = try await verona()
        let (stream, recorder) = try await romeo(server)
        try await stream.send(Message(to: try JID("nobody@example.net"), body: "?", id: "m1"))
        await recorder.heard("bounced m1 service-unavailable")
        await stream.disconnect()
        await server.stop()
    }

    @Test("only the addressee can say that a message was received (XEP-0184 §5.4)")
    func receipts() async throws {
        let server = try await verona()
        try await server.add(LoopbackBuddy("mallory", behaviors: []))
        let (stream, recorder) = try await romeo(server)
        try await stream.goOnline()
        try await stream.send(Message(to: try JID("juliet@example.net"), body: "?", id: "m1"))
        try await stream.waitUntilHandled()
        for sender in ["mallory", "juliet"] {
            var receipt = Message(to: try JID("romeo@example.net/orchard"))
            receipt.append(Element("received", namespace: "urn:xmpp:receipts", attributes: ["id": "m1"]))
            try await server.send(receipt, as: sender)
        }
        await recorder.heard("receipt m1 juliet@example.net/balcony")
        #expect(recorder.lines.filter { $0.hasPrefix("receipt") }.count == 1)
        await stream.disconnect()
        await server.stop()
    }

    @Test("a text that XML cannot hold is an error, and the stream lives on (RFC 6120 §11)")
    func illegalText() async throws {
        let server = try await verona()
        let (stream, _) = try await romeo(server)
        let error = await #expect(throws: XMPPError.self) {
            try await stream.send(Message(to: try JID("juliet@example.net"), body: "bell \u{7}"))
        }
        #expect(error?.code == .invalidStanza)
        #expect(try await stream.ping() > .zero)
        await stream.disconnect()
        await server.stop()
    }

    @Test("a stream is used once")
    func once() async throws {
        let server = try await verona()
        let (stream, _) = try await romeo(server)
        await #expect(throws: XMPPError.self) { try await stream.connect() }
        await stream.disconnect()
        await stream.disconnect()
        let error = await #expect(throws: XMPPError.self) { try await stream.send(Presence()) }
        #expect(error?.code == .notConnected)
        await server.stop()
    }

    @Test("disconnecting while connecting abandons the attempt", .timeLimit(.minutes(5)))
    func abandon() async throws {
        let server = try await verona()
        await server.planNextConnection([.stall(afterBytes: 10)])
        let stream = XMPPStream(try await server.configuration(for: "romeo"))
        let attempt = Task { try await stream.connect() }
        _ = try? await server.firstRecord(within: .milliseconds(200)) { _ in false }
        await stream.disconnect()
        await #expect(throws: XMPPError.self) { try await attempt.value }
        await server.stop()
    }

    @Test("cancelling the task abandons the attempt", .timeLimit(.minutes(5)))
    func cancel() async throws {
        let server = try await verona()
        await server.planNextConnection([.stall(afterBytes: 10)])
        let stream = XMPPStream(try await server.configuration(for: "romeo"))
        let attempt = Task { try await stream.connect() }
        _ = try? await server.firstRecord(within: .milliseconds(200)) { _ in false }
        attempt.cancel()
        let error = await #expect(throws: XMPPError.self) { try await attempt.value }
        #expect(error?.code == .cancelled)
        await server.stop()
    }
}
