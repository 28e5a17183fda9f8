// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPP
import XMPPTestSupport

@Suite("A server that is slow on purpose")
struct SlownessTests {
    /// Connects while the clock is moved from timer to timer, and says how the attempt ended and when.
    private func attempt(
        _ server: LoopbackServer, stalled: [LoopbackFault], on layer: LoopbackFault.Layer, timers: Int,
        directTLS: Bool = false
    ) async throws -> (error: XMPPError?, elapsed: Duration) {
        await server.planNextConnection(stalled, on: layer)
        let clock = TestClock()
        var configuration = try await server.configuration(for: "romeo", directTLS: directTLS)
        configuration.clock = clock
        let stream = XMPPStream(configuration)
        let outcome = Task { try await stream.connect() }
        // The deadlines run from here; nothing that the server still sends completes a step.
        await clock.waitForTimers(timers)
        await clock.advanceToNextTimer()
        let error = await #expect(throws: XMPPError.self) { _ = try await outcome.value }
        await server.stop()
        return (error, clock.now)
    }

    @Test("a stream header that does not end is waited for 30 seconds")
    func slowHeader() async throws {
        let (error, elapsed) = try await attempt(
            try await verona(), stalled: [.stall(afterBytes: 40)], on: .wire, timers: 1)
        #expect(error?.code == .timedOut)
        #expect(elapsed == .seconds(30))
    }

    @Test("a TLS handshake that does not end is waited for 15 seconds", arguments: [true, false])
    func slowHandshake(directTLS: Bool) async throws {
        let (error, elapsed) = try await attempt(
            try await verona(), stalled: [.stall(afterBytes: directTLS ? 100 : 700)], on: .wire, timers: 2,
            directTLS: directTLS)
        #expect(error?.code == .timedOut)
        #expect(elapsed == .seconds(15))
    }

    @Test("a stanza that comes one byte in ten seconds is waited for 300 seconds; the processor hardly notices")
    func slowStanza() async throws {
        let server = try await verona()
        let clock = TestClock()
        let (stream, recorder) = try await romeo(server) { $0.clock = clock }
        let timers = clock.timerCount
        let start = clock.now
        await server.inject("<message from='mallory@evil.example'><body>", into: "romeo")
        await clock.waitForTimers(timers + 1)
        for _ in 0..<29 {
            await server.inject("x", into: "romeo")
            await clock.advance(by: .seconds(10))
        }
        #expect(await stream.isEstablished)
        await clock.advance(by: .seconds(10))
        await recorder.heard("disconnected timedOut")
        #expect(clock.now - start == .seconds(300))
        await server.stop()
    }
}
