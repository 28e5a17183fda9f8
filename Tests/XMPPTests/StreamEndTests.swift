// SPDX-License-Identifier: Apache-2.0

import SocketIO
import Testing
import XMPP
import XMPPTestSupport
import XMPPTransport

@Suite("The end of a stream, and those who wait", .timeLimit(.minutes(5)))
struct StreamEndTests {
    /// A session with a server that does as it is told.
    private func session() async throws -> (ScriptedServer, XMPPStream) {
        let server = try ScriptedServer(usesTLS: false)
        let played = Task { try await server.play(StreamScript(.advance(to: .bound))) }
        let stream = XMPPStream(server.configuration)
        try await stream.connect()
        try await played.value
        return (server, stream)
    }

    @Test("nothing is sent behind the end of the stream, and who tries is told (RFC 6120 §4.4)")
    func nothingAfterTheEnd() async throws {
        let (server, stream) = try await session()
        try await server.play(StreamScript(.mute))
        let goodbye = Task { await stream.disconnect() }
        try await server.next(containing: "</stream:stream")
        #expect(await !stream.isEstablished)
        let error = await #expect(throws: XMPPError.self) {
            try await stream.send(Message(to: try JID("romeo@example.net"), body: "wait"))
        }
        #expect(error?.code == .notConnected)
        try await server.play(StreamScript(.send("</stream:stream>")))
        await goodbye.value
        try await server.waitForEnd()
        #expect(await server.received.last?.last?.contains("</stream:stream") == true)
    }

    @Test("whoever waits for the end, or for the server, can be called off; the stream goes on")
    func cancelling() async throws {
        let (server, stream) = try await session()
        try await stream.send(Message(to: try JID("romeo@example.net"), body: "hello"))
        let end = Task { await stream.waitUntilEnded() }
        // The server never answers.
        let handled = Task { try await stream.waitUntilHandled() }
        try await server.next(containing: "<ping")
        end.cancel()
        handled.cancel()
        #expect(await end.value == nil)
        let error = await #expect(throws: XMPPError.self) { try await handled.value }
        #expect(error?.code == .cancelled)
        #expect(await stream.isEstablished)
        try await server.play(StreamScript(.reset))
        #expect(await stream.waitUntilEnded()?.code == .connectionLost)
    }

    @Test("those who are called off while an acknowledgement is due disturb nobody else (XEP-0198)")
    func cancellingAcknowledgement() async throws {
        let server = try await verona()
        let (stream, _) = try await romeo(server)
        try await stream.send(Message(to: try JID("juliet@example.net"), body: "hello"))
        let tasks = (0..<20).map { _ in Task { try await stream.waitUntilHandled() } }
        for task in tasks { task.cancel() }
        for task in tasks { _ = try? await task.value }
        try await stream.waitUntilHandled()
        await stream.disconnect()
        await server.stop()
    }

    @Test("disconnecting does not wait for name servers that are slow")
    func slowLookUp() async throws {
        var configuration = XMPPConfiguration(jid: try JID("juliet@example.org"), password: "secret")
        let connector = EndlessConnector()
        configuration.connector = connector
        let stream = XMPPStream(configuration)
        let attempt = Task { try await stream.connect() }
        await connector.asked()
        await stream.disconnect()
        let error = await #expect(throws: XMPPError.self) { try await attempt.value }
        #expect(error?.code == .cancelled)
    }

    @Test("the address that the server binds is the own one from then on (RFC 6120 §7.6)")
    func boundAddress() async throws {
        let server = try ScriptedServer(usesTLS: false)
        let played = Task {
            try await server.play(StreamScript(.advance(to: .bind), .await("<bind")))
            try await server.play(
                StreamScript(
                    .send(
                        "<iq type='result' id='{id}'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'>"
                            + "<jid>capulet@example.org/tomb</jid></bind></iq>")))
        }
        let stream = XMPPStream(server.configuration)
        let messages = stream.messages
        #expect(try await stream.connect() == JID("capulet@example.org/tomb"))
        try await played.value
        let push = { (from: String, id: String) in
            "<iq type='set' id='\(id)' from='\(from)'><query xmlns='jabber:iq:roster'><item jid='a@b.example'/></query></iq>"
        }
        try await server.play(
            StreamScript(
                .send(push("juliet@example.org", "forged")), .await("id='forged'"),
                .send(push("capulet@example.org", "own")), .await("id='own'"),
                .send("<presence from='capulet@example.org/vault'/><message><body>end</body></message>")))
        #expect(try await messages.first { _ in true }?.body == "end")
        let answers = await server.received.last?.filter { $0.hasPrefix("<iq") } ?? []
        #expect(answers.first { $0.contains("id='forged'") }?.contains("type='error'") == true)
        #expect(answers.first { $0.contains("id='own'") }?.contains("type='result'") == true)
        // Another resource of the own account is no buddy.
        #expect(await stream.buddies.isEmpty)
        try await server.play(StreamScript(.reset))
        await stream.waitUntilEnded()
    }
}

/// A network whose name servers never answer.
private final class EndlessConnector: StreamConnector {
    private let (asks, question) = AsyncStream.makeStream(of: Void.self)
    private let answers = Locked<CheckedContinuation<Void, Never>?>(nil)

    /// Waits until somebody asks.
    func asked() async {
        for await _ in asks { return }
    }

    func targets(
        for domain: String, override: ConnectionTarget?
    ) async throws(ConnectError) -> [ConnectionTarget] {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                answers.withLock { $0 = continuation }
                question.yield()
            }
        } onCancel: {
            answers.withLock { continuation in
                continuation?.resume()
                continuation = nil
            }
        }
        throw ConnectError.cancelled
    }

    func connect(
        to target: ConnectionTarget, on executor: StreamExecutor
    ) async throws(ConnectError) -> any ByteTransport {
        throw ConnectError.cancelled
    }
}
