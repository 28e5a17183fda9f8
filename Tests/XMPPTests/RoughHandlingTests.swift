// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import Testing
import XMPP
import XMPPCore
import XMPPTestSupport

/// A delegate that ends the stream as soon as it hears of something.
private final class Quitter: ChatDelegate, MessageDelegate {
    /// What it waits for.
    enum Moment: CaseIterable, Sendable {
        case connected, authenticated, roster, presence, online, message, end
    }

    let moment: Moment

    init(_ moment: Moment) { self.moment = moment }

    private func heard(_ moment: Moment, _ stream: XMPPStream) async {
        if moment == self.moment { await stream.disconnect() }
    }

    func streamDidConnect(_ stream: XMPPStream) async { await heard(.connected, stream) }
    func stream(_ stream: XMPPStream, didAuthenticateAs jid: JID) async { await heard(.authenticated, stream) }
    func stream(_ stream: XMPPStream, didUpdateRoster update: RosterUpdate) async { await heard(.roster, stream) }
    func stream(_ stream: XMPPStream, didReceive presence: Presence) async { await heard(.presence, stream) }
    func stream(_ stream: XMPPStream, buddyCameOnline buddy: Buddy) async { await heard(.online, stream) }
    func stream(_ stream: XMPPStream, didReceive message: Message) async { await heard(.message, stream) }
    func streamDidDisconnect(_ stream: XMPPStream, error: XMPPError?) async { await heard(.end, stream) }
}

/// A delegate that keeps its thread until it is let go.
private final class Blocker: MessageDelegate {
    let gate = DispatchSemaphore(value: 0)

    func stream(_ stream: XMPPStream, didReceive message: Message) async { wait() }

    private func wait() { gate.wait() }
}

@Suite("A client that is handled roughly", .timeLimit(.minutes(5)))
struct RoughHandlingTests {
    @Test("a delegate may end the stream from within any call", arguments: Quitter.Moment.allCases)
    fileprivate func quitting(_ moment: Quitter.Moment) async throws {
        let server = try await verona()
        let stream = XMPPStream(try await server.configuration(for: "romeo", resource: "orchard"))
        let quitter = Quitter(moment)
        let recorder = Recorder()
        stream.add(chatDelegate: quitter)
        stream.add(messageDelegate: quitter)
        stream.add(chatDelegate: recorder)
        // It may be gone at any step.
        _ = try? await stream.connect()
        _ = try? await stream.goOnline()
        try? await server.send(Message(to: JID("romeo@example.net"), body: "end it"), as: "juliet")
        if moment == .end { await stream.disconnect() }
        await stream.waitUntilEnded()
        #expect(await stream.isEstablished == false)
        await stream.disconnect()
        #expect(recorder.lines.count { $0.hasPrefix("disconnected") } <= 1)
        await server.stop()
    }

    @Test("of many who connect one stream at once, one does it and the others are told")
    func concurrentConnects() async throws {
        let server = try await verona()
        let stream = XMPPStream(try await server.configuration(for: "romeo"))
        let successes = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<20 { group.addTask { (try? await stream.connect()) != nil } }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(successes == 1)
        #expect(await stream.isEstablished)
        #expect(await server.openConnections == 1)
        await stream.disconnect()
        await server.stop()
    }

    @Test("many ends at once, and an end before and after everything, are one end")
    func concurrentEnds() async throws {
        let server = try await verona()
        let (stream, recorder) = try await romeo(server)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<20 { group.addTask { await stream.disconnect() } }
        }
        await stream.disconnect()
        await recorder.heard("disconnected ")
        #expect(recorder.lines.count { $0.hasPrefix("disconnected") } == 1)
        let unused = XMPPStream(try await server.configuration(for: "romeo"))
        await unused.disconnect()
        await #expect(throws: XMPPError.self) { _ = try await unused.connect() }
        await server.stop()
    }

    @Test("work that is called off at any moment ends, and leaves no connection behind", arguments: [UInt64(1), 2, 3])
    func cancellations(seed: UInt64) async throws {
        let server = try await verona()
        var generator = SeededGenerator(seed: seed)
        let configuration = try await server.configuration(for: "romeo", resource: "orchard")
        for _ in 0..<20 {
            let stream = XMPPStream(configuration)
            let work = Task {
                try await stream.connect()
                try await stream.goOnline()
                try await stream.send(Message(to: JID("juliet@example.net"), body: "hello"))
                try await stream.waitUntilHandled()
                try await stream.ping()
                for try await _ in stream.messages {}
            }
            for _ in 0..<Int.random(in: 0..<3_000, using: &generator) { await Task.yield() }
            work.cancel()
            _ = await work.result
            await stream.disconnect()
            #expect(await stream.isEstablished == false)
        }
        // The last goodbye may still be on its way.
        try await Patience.wait(for: "the last connection to close") { await server.openConnections == 0 }
        await server.stop()
    }

    @Test(
        "a delegate that keeps its thread keeps the stream from nothing",
        .enabled(if: ProcessInfo.processInfo.activeProcessorCount > 1))
    func blocking() async throws {
        let server = try await verona()
        let (stream, recorder) = try await romeo(server)
        let blocker = Blocker()
        stream.add(messageDelegate: blocker)
        try await stream.goOnline()
        for body in ["one", "two"] {
            try await server.send(Message(to: JID("romeo@example.net"), body: body), as: "juliet")
        }
        await recorder.heard("message juliet@example.net/balcony two")
        try await stream.ping()
        await stream.disconnect()
        #expect(await stream.isEstablished == false)
        for _ in 0..<2 { blocker.gate.signal() }
        await server.stop()
    }
}
