// SPDX-License-Identifier: Apache-2.0

import SocketIO
import Testing
import XMPPTestSupport

@testable import XMPP

@Suite("Keys that a login works out", .timeLimit(.minutes(2)))
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

    @Test("a server that asks for millions of iterations keeps nobody from calling the attempt off (RFC 5802 §9)")
    func calledOff() async throws {
        let server = try await verona { options in
            options.mechanisms = ["SCRAM-SHA-1"]
            options.iterations = 4_000_000
        }
        // On a busy machine the keys may be there before anybody calls the attempt off.
        for _ in 0..<5 {
            let counter = Counter()
            let stream = XMPPStream(try await configuration(server, counter))
            let task = Task { try await stream.connect() }
            try await Patience.wait(for: "the challenge") { counter.value > 0 }
            task.cancel()
            let hasFailed = (try? await task.value) == nil
            if await stream.isDerivingKeys, hasFailed { return await server.stop() }
            await stream.disconnect()
        }
        Issue.record("the keys are waited for")
        await server.stop()
    }
}
