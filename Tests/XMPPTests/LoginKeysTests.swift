// SPDX-License-Identifier: Apache-2.0

import Dispatch
import SocketIO
import Testing
import XMPPCrypto
import XMPPTestSupport

@testable import XMPP

@Suite("Keys that a login works out", .timeLimit(.minutes(5)))
struct LoginKeysTests {
    /// How often a login has worked keys out.
    private final class Counter: Sendable {
        private let count = Locked(0)
        var value: Int { count.withLock { $0 } }

        func note(_ entry: StreamLogEntry) {
            if entry.text.hasPrefix("working out keys") { count.withLock { $0 += 1 } }
        }
    }

    private func configuration(
        _ server: LoopbackServer, _ counter: Counter
    ) async throws -> XMPPConfiguration {
        var configuration = try await server.configuration(for: "romeo")
        configuration.usesTokens = false
        configuration.logLevel = .step
        configuration.log = { counter.note($0) }
        return configuration
    }

    @Test("they are worked out once for a salt: who comes back spends nothing on them (RFC 5802 §5.1)")
    func once() async throws {
        let server = try await verona { $0.mechanisms = ["SCRAM-SHA-256"] }
        let counter = Counter()
        let configuration = try await configuration(server, counter)
        for _ in 0..<3 {
            let stream = XMPPStream(configuration)
            try await stream.connect()
            await stream.disconnect()
        }
        #expect(counter.value == 1)
        await server.changeOptions { $0.iterations = 5_000 }
        for _ in 0..<2 {
            let stream = XMPPStream(configuration)
            try await stream.connect()
            await stream.disconnect()
        }
        #expect(counter.value == 2, "the server asks for others now")
        await server.stop()
    }

    @Test("those of a refused password are not kept")
    func refused() async throws {
        let server = try await verona { $0.mechanisms = ["SCRAM-SHA-256"] }
        var configuration = try await configuration(server, Counter())
        configuration.password = "wrong"
        await #expect(throws: XMPPError.self) { try await XMPPStream(configuration).connect() }
        #expect(configuration.password?.keptKeys == nil)
        await server.stop()
    }

    @Test("nobody who calls an attempt off waits for keys that are being worked out (RFC 5802 §9)")
    func calledOff() async throws {
        let server = try await verona { $0.mechanisms = ["SCRAM-SHA-1"] }
        let gate = Gate()
        var configuration = try await configuration(server, Counter())
        configuration.derivation = { (work) throws(CryptoError) in
            gate.pass()
            return try work.keys()
        }
        let stream = XMPPStream(configuration)
        let task = Task { try await stream.connect() }
        await gate.reached()
        task.cancel()
        let error = await #expect(throws: XMPPError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        #expect(!gate.isOpen, "the keys have been waited for")
        gate.open()
        await server.stop()
    }
}

/// Holds a thread until a test lets it go.
private final class Gate: Sendable {
    private let (arrivals, arrival) = AsyncStream<Void>.makeStream()
    private let lock = DispatchSemaphore(value: 0)
    private let state = Locked(false)

    /// Whether anybody has been let through.
    var isOpen: Bool { state.withLock { $0 } }

    /// Waits for ``open()``. A fault must not hold a thread for ever: the gate opens by itself in the end.
    func pass() {
        arrival.yield()
        if lock.wait(timeout: .now() + Patience.usual.inSeconds) == .timedOut { state.withLock { $0 = true } }
    }

    /// Waits until somebody stands before the gate.
    func reached() async {
        for await _ in arrivals { return }
    }

    func open() {
        state.withLock { $0 = true }
        lock.signal()
    }
}
