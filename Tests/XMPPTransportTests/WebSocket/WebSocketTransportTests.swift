// SPDX-License-Identifier: Apache-2.0

import Dispatch
import SocketIO
import Testing

@testable import XMPPTransport

@Suite("A WebSocket as a transport", .timeLimit(.minutes(3)))
struct WebSocketTransportTests {
    private static let maximum = 65_536

    /// A WebSocket, and at the other end of the socket pair another one, or bare bytes.
    private struct Pair {
        let client: WebSocketTransport
        let peer: any ByteTransport
        let clientLog = EventLog()
        let peerLog = EventLog()

        init(servesWebSocket: Bool = true, path: String = "/ws") throws {
            let (near, far) = try SocketPair.transports(on: StreamExecutor(), and: StreamExecutor())
            client = try WebSocketTransport(
                over: near, role: .client(host: "example.org", path: "/ws"), maximumMessageBytes: maximum)
            peer =
                servesWebSocket
                ? try WebSocketTransport(over: far, role: .server(path: path), maximumMessageBytes: maximum) : far
        }

        /// Agrees on both sides, and records what comes then.
        func open(timeout: Duration = .seconds(120)) async -> Result<Void, WebSocketError> {
            let outcome = Handover<Result<Void, WebSocketError>>()
            if let server = peer as? WebSocketTransport {
                server.executor.queue.async { [peerLog] in
                    server.upgrade(timeout: .seconds(120)) { _ in server.start { peerLog.record($0) } }
                }
            }
            client.executor.queue.async { [client, clientLog] in
                client.upgrade(timeout: timeout) { result in
                    client.start { clientLog.record($0) }
                    outcome.give(result)
                }
            }
            return await outcome.value()
        }

        /// Plays a server that writes frames by hand: agrees on the WebSocket, then sends these bytes.
        func play(_ bytes: [UInt8]) async throws {
            peer.executor.queue.sync { [peer, peerLog] in peer.start { peerLog.record($0) } }
            async let outcome = open()
            await peerLog.wait { events in
                head(in: events) != nil
            }
            let request = try #require(head(in: peerLog.events))
            let answer = WebSocketHandshake.answer(to: request, path: "/ws").bytes
            peer.executor.queue.sync { [peer] in peer.send(answer + bytes) }
            try await outcome.get()
        }

        func end() {
            client.executor.queue.sync { [client] in client.abort() }
            peer.executor.queue.sync { [peer] in peer.abort() }
        }
    }

    private func text(_ text: String) -> TransportEvent { .received(Array(text.utf8)) }

    private func frame(_ first: UInt8, _ payload: String) -> [UInt8] {
        [first, UInt8(payload.utf8.count)] + payload.utf8
    }

    @Test("each send is one message at the other side, both ways, up to the largest")
    func messages() async throws {
        let pair = try Pair()
        try await pair.open().get()
        let large = [UInt8](repeating: UInt8(ascii: "x"), count: Self.maximum)
        pair.client.executor.queue.sync {
            pair.client.send(Array("<a/>".utf8))
            pair.client.send(large)
            pair.client.send(Array("ü".utf8))
        }
        pair.peer.executor.queue.sync {
            pair.peer.send(Array("<b/>".utf8))
            pair.peer.send(large)
        }
        await pair.peerLog.wait { $0.count >= 3 }
        await pair.clientLog.wait { $0.count >= 2 }
        #expect(pair.peerLog.events == [text("<a/>"), .received(large), text("ü")])
        #expect(pair.clientLog.events == [text("<b/>"), .received(large)])
        pair.end()
    }

    @Test("a server that sends pings and reads no pong makes nothing pile up (RFC 6455 §5.5.3)")
    func pings() async throws {
        let pair = try Pair(servesWebSocket: false)
        let ping = frame(0x89, String(repeating: "p", count: 125))
        try await pair.play([])
        pair.peer.executor.queue.sync { [peer = pair.peer] in
            peer.pauseReading()
            for _ in 0..<400 { peer.send(Array(repeatElement(ping, count: 100).joined())) }
            peer.send(frame(0x81, "<a/>"))
        }
        await pair.clientLog.wait { !$0.isEmpty }
        #expect(pair.clientLog.events == [text("<a/>")])
        let waiting = pair.client.executor.queue.sync { [client = pair.client] in client.pendingBytes }
        #expect(waiting < 2 * WebSocketTransport.maximumUnwrittenAnswers)
        pair.end()
    }

    @Test("a goodbye is the end of input at the other side, then the end of all")
    func goodbye() async throws {
        let pair = try Pair()
        try await pair.open().get()
        pair.client.executor.queue.sync {
            pair.client.send(Array("<a/>".utf8))
            pair.client.close()
        }
        await pair.peerLog.waitForEndOfInput()
        #expect(pair.peerLog.events.prefix(2) == [text("<a/>"), .endOfInput])
        await pair.clientLog.waitForEnd()
        #expect(pair.clientLog.events == [.closed(nil)])
        pair.end()
    }

    @Test("a connection that ends without the closing frame is told from one that was closed")
    func truncation() async throws {
        let pair = try Pair(servesWebSocket: false)
        try await pair.play(frame(0x81, "<a/>"))
        await pair.clientLog.wait { !$0.isEmpty }
        pair.peer.executor.queue.sync { pair.peer.close() }
        await pair.clientLog.waitForEnd()
        guard case .closed(let error?)? = pair.clientLog.events.last, error.code == .truncated else {
            Issue.record("\(pair.clientLog.events)")
            return
        }
        pair.end()
    }

    @Test("fragments are one message, pings in between are answered and told to nobody (RFC 6455 §5.4, §5.5.2)")
    func fragments() async throws {
        let pair = try Pair(servesWebSocket: false)
        try await pair.play(frame(0x01, "<a") + frame(0x89, "p") + frame(0x80, "/>") + frame(0x81, ""))
        pair.peer.executor.queue.sync { pair.peer.send(frame(0x81, "<b/>")) }
        await pair.clientLog.wait { $0.count >= 2 }
        #expect(pair.clientLog.events == [text("<a/>"), text("<b/>")])
        // The pong is masked: an opcode and a length.
        await pair.peerLog.wait { bytes(of: $0).contains(0x8A) }
        pair.end()
    }

    @Test(
        "what breaks the rules ends the connection with a reason (RFC 6455 §5, RFC 7395 §3.2)",
        arguments: [
            ([0x82, 0x01, 0x00], "binary"), ([0xC1, 0x01, 0x61], "malformed"), ([0x83, 0x00], "malformed"),
            ([0x81, 0x81, 0, 0, 0, 0, 0x61], "malformed"), ([0x81, 0x01, 0xFF], "malformed"),
            ([0x80, 0x01, 0x61], "malformed"), ([0x09, 0x00], "malformed"),
            ([0x88, 0x04, 0x03, 0xE8, 0xFF, 0x61], "not UTF-8"),
            ([0x81, 0x7F, 0, 0, 0, 0, 0x7F, 0xFF, 0xFF, 0xFF, 0x61], "65536 bytes"),
            ([0x81, 0x7F, 0xFF, 0, 0, 0, 0, 0, 0, 0], "malformed"),
        ] as [([UInt8], String)])
    func violations(_ bytes: [UInt8], _ reason: String) async throws {
        let pair = try Pair(servesWebSocket: false)
        try await pair.play(bytes)
        await pair.clientLog.waitForEnd()
        guard case .closed(let error?)? = pair.clientLog.events.last else {
            Issue.record("\(pair.clientLog.events)")
            return
        }
        #expect(error.code == .violation, "\(error)")
        #expect(error.description.contains(reason) && pair.clientLog.events.count == 1, "\(error)")
        pair.end()
    }

    @Test(
        "what a closing frame says is told, what comes before it is delivered (RFC 6455 §5.5.1)",
        arguments: [
            ([0x88, 0x02, 0x03, 0xE9], "the server closed the WebSocket (going away, 1001)"),
            (
                [0x88, 0x05, 0x03, 0xF0] + "a\u{7}b".utf8,
                "the server closed the WebSocket (policy violation, 1008: “a\u{FFFD}b”)"
            ),
            ([0x88, 0x04, 0x0F, 0xA0] + "no".utf8, "the server closed the WebSocket (code 4000: “no”)"),
            ([0x88, 0x05, 0x03, 0xE8] + "bye".utf8, "the server closed the WebSocket (“bye”)"),
            ([0x88, 0x02, 0x03, 0xE8], nil), ([0x88, 0x00], nil),
        ] as [([UInt8], String?)])
    func reasons(_ closing: [UInt8], _ reason: String?) async throws {
        let pair = try Pair(servesWebSocket: false)
        try await pair.play(frame(0x81, "<a/>") + closing)
        await pair.clientLog.wait { $0.count >= 2 }
        let end = reason.map { TransportEvent.closed(TransportError(.connectionLost, $0)) } ?? .endOfInput
        #expect(pair.clientLog.events.prefix(2) == [text("<a/>"), end])
        pair.end()
    }

    @Test("what is paused brings nothing, and everything afterwards")
    func pausing() async throws {
        let pair = try Pair(servesWebSocket: false)
        pair.client.executor.queue.sync { pair.client.pauseReading() }
        try await pair.play(frame(0x81, "<a/>") + frame(0x81, "<b/>"))
        for _ in 0..<10 { await Task.yield() }
        #expect(pair.clientLog.events == [])
        pair.client.executor.queue.sync { pair.client.resumeReading() }
        await pair.clientLog.wait { $0.count >= 2 }
        #expect(pair.clientLog.events == [text("<a/>"), text("<b/>")])
        pair.end()
    }

    @Test("a server that knows no such path, hangs up, or says nothing is told apart")
    func refusals() async throws {
        let other = try Pair(path: "/other")
        #expect(await other.open().failure == .refused(status: 404, reason: "Not Found"))
        other.end()
        let closing = try Pair(servesWebSocket: false)
        closing.peer.executor.queue.sync { closing.peer.start { _ in } }
        async let outcome = closing.open()
        closing.peer.executor.queue.sync { closing.peer.abort() }
        guard case .connectionLost? = await outcome.failure else {
            Issue.record("a lost connection is not told")
            return
        }
        closing.end()
        let silent = try Pair(servesWebSocket: false)
        #expect(await silent.open(timeout: .milliseconds(50)).failure == .timedOut(within: .milliseconds(50)))
        silent.end()
    }
}

extension Result where Success == Void, Failure == WebSocketError {
    fileprivate var failure: WebSocketError? {
        if case .failure(let error) = self { error } else { nil }
    }
}

/// Everything received, in one.
private func bytes(of events: [TransportEvent]) -> [UInt8] {
    events.reduce(into: []) { if case .received(let bytes) = $1 { $0 += bytes } }
}

/// The head that has been received, when it is complete.
private func head(in events: [TransportEvent]) -> HTTPHead? {
    (try? HTTPHead.read(bytes(of: events)[...]))?.head
}
