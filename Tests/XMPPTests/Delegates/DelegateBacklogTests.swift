// SPDX-License-Identifier: Apache-2.0

import SocketIO
import Testing
import XMPPTestSupport

@testable import XMPP

/// A delegate that does not return from its first message before it is let go.
private final class Sleeper: MessageDelegate {
    let gate: Gate

    init(_ gate: Gate) { self.gate = gate }

    func stream(_ stream: XMPPStream, didReceive message: Message) async { await gate.pass() }
}

/// Where the sleeper sleeps.
private final class Gate: Sendable {
    private struct State {
        var calls = 0
        var isOpen = false
        var sleepers: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Locked(State())

    /// How often somebody came.
    var calls: Int { state.withLock { $0.calls } }

    func pass() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                state.calls += 1
                if !state.isOpen { state.sleepers.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    func open() {
        let sleepers = state.withLock { state in
            state.isOpen = true
            defer { state.sleepers = [] }
            return state.sleepers
        }
        for sleeper in sleepers { sleeper.resume() }
    }
}

@Suite("A delegate that is far behind", .timeLimit(.minutes(5)))
struct DelegateBacklogTests {
    private let count = 3_000

    /// A stream whose sleeping delegate has made it stop reading, with a recorder beside.
    private func paused(_ gate: Gate) async throws -> (LoopbackServer, XMPPStream, Recorder, Sleeper) {
        let server = try await verona()
        let (stream, recorder) = try await romeo(server)
        let sleeper = Sleeper(gate)
        stream.add(messageDelegate: sleeper)
        try await stream.goOnline()
        let romeo = try JID("romeo@example.net")
        for number in 1...count {
            try await server.send(
                Message(to: romeo, body: "\(number) " + String(repeating: "x", count: 2_000)), as: "juliet")
        }
        try await stream.send(Message(to: try JID("juliet@example.net"), body: "read on?"))
        // Nobody reads its answer while the sleeper sleeps.
        await #expect(throws: XMPPError.self) { try await stream.ping(timeout: .milliseconds(200)) }
        return (server, stream, recorder, sleeper)
    }

    private func allHeard(_ recorder: Recorder) async {
        await recorder.heard("message juliet@example.net/balcony \(count) " + String(repeating: "x", count: 2_000))
    }

    @Test("when it is removed, the stream reads on, and it hears no more")
    func removed() async throws {
        let gate = Gate()
        let (server, stream, recorder, sleeper) = try await paused(gate)
        stream.remove(delegate: sleeper)
        await allHeard(recorder)
        gate.open()
        try await stream.ping()
        #expect(gate.calls == 1)
        await stream.disconnect()
        await server.stop()
    }

    @Test("when it is gone, the stream reads on")
    func gone() async throws {
        let gate = Gate()
        let (server, stream, recorder) = try await { () -> (LoopbackServer, XMPPStream, Recorder) in
            let (server, stream, recorder, _) = try await paused(gate)
            return (server, stream, recorder)
        }()
        // Only the batch that is under way holds it.
        gate.open()
        await allHeard(recorder)
        #expect(gate.calls < count)
        await stream.disconnect()
        await server.stop()
    }

    @Test("large stanzas wait up to 8 MiB of them; then the stream reads no more until the delegate has caught up")
    func large() async throws {
        let gate = Gate()
        let server = try await verona()
        let (stream, recorder) = try await romeo(server)
        let sleeper = Sleeper(gate)
        stream.add(messageDelegate: sleeper)
        try await stream.goOnline()
        let body = String(repeating: "x", count: 500_000)
        for number in 1...40 {
            await server.inject(
                "<message from='juliet@example.net'><body>\(number) \(body)</body></message>", into: "romeo")
        }
        try await Patience.wait(for: "the stream to read no more") { await stream.isReadingPaused }
        #expect(recorder.lines.count { $0.hasPrefix("message") } <= 8 * 1_048_576 / 500_000 + 1)
        gate.open()
        await recorder.heard("message juliet@example.net 40 \(body)")
        try await stream.ping()
        #expect(gate.calls == 40)
        withExtendedLifetime(sleeper) {}
        await stream.disconnect()
        await server.stop()
    }

    @Test("two loops over one sequence share its events, and both end with the stream")
    func twoLoops() async throws {
        let server = try await verona()
        let (stream, _) = try await romeo(server)
        let messages = stream.messages
        let loops = (0..<2).map { _ in
            Task {
                var bodies: [String] = []
                for try await message in messages { bodies.append(message.body ?? "") }
                return bodies
            }
        }
        try await stream.goOnline()
        for number in 1...20 {
            try await server.send(Message(to: try JID("romeo@example.net"), body: "\(number)"), as: "juliet")
        }
        try await stream.ping()
        await stream.disconnect()
        var bodies: [String] = []
        for loop in loops { bodies += try await loop.value }
        #expect(Set(bodies) == Set((1...20).map(String.init)) && bodies.count == 20)
        await server.stop()
    }
}
