// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import Testing
import XMPPTestSupport

@testable import SocketIO

@Suite("Watched descriptors", .timeLimit(.minutes(5))) struct DescriptorWatchTests {
    private let executor = StreamExecutor()

    /// Counts what a watch tells.
    private final class Calls: Sendable {
        private let count = Locked(0)
        var total: Int { count.withLock { $0 } }
        func add() { count.withLock { $0 += 1 } }

        func wait(for number: Int) async throws {
            try await Patience.wait(for: "call \(number)") { self.total >= number }
        }
    }

    private func watch(_ descriptor: Descriptor, for interest: Readiness, _ calls: Calls) throws -> DescriptorWatch {
        try DescriptorWatch(descriptor.number, for: interest, on: executor) { calls.add() }
    }

    /// Lets everything that Dispatch already knows of arrive.
    private func settle() async throws {
        for _ in 0..<3 {
            let pair = try SocketPair()
            let calls = Calls()
            let other = try watch(pair.first, for: .writing, calls)
            try await calls.wait(for: 1)
            executor.queue.sync { other.cancel() }
        }
    }

    @Test("reading is told once bytes have come, and again while they are there")
    func reading() async throws {
        let pair = try SocketPair()
        let calls = Calls()
        let watch = try watch(pair.first, for: .reading, calls)
        try await settle()
        #expect(calls.total == 0)
        #expect(send(pair.second.number, [1], 1, 0) == 1)
        try await calls.wait(for: 3)
        executor.queue.sync { watch.cancel() }
    }

    @Test("writing is told while there is room, and not when there is none")
    func writing() async throws {
        let pair = try SocketPair()
        try pair.first.prepare()
        let bytes = [UInt8](repeating: 0, count: 4_096)
        while send(pair.first.number, bytes, bytes.count, 0) > 0 {}
        let calls = Calls()
        let watch = try watch(pair.first, for: .writing, calls)
        try await settle()
        #expect(calls.total == 0)
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        #expect(recv(pair.second.number, &buffer, buffer.count, 0) > 0)
        try await calls.wait(for: 1)
        executor.queue.sync { watch.cancel() }
    }

    @Test("who waits for nothing hears nothing, not even that the peer has hung up, until it waits again")
    func nothing() async throws {
        let pair = try SocketPair()
        let calls = Calls()
        let watch = try watch(pair.first, for: [], calls)
        #expect(send(pair.second.number, [1], 1, 0) == 1)
        #expect(shutdown(pair.second.number, Int32(SHUT_RDWR)) == 0)
        try await settle()
        #expect(calls.total == 0)
        executor.queue.sync { watch.wait(for: .reading) }
        try await calls.wait(for: 1)
        let told = executor.queue.sync {
            watch.wait(for: [])
            return calls.total
        }
        try await settle()
        #expect(calls.total == told)
        executor.queue.sync { watch.cancel() }
    }

    @Test("once it is called off, it is silent, and the descriptor may be closed and its number be another file's")
    func cancelled() async throws {
        let calls = Calls()
        for _ in 0..<200 {
            let pair = try SocketPair()
            let watch = try watch(pair.first, for: .reading, calls)
            executor.queue.sync {
                _ = send(pair.second.number, [1], 1, 0)
                watch.cancel()
                watch.cancel()
                watch.wait(for: .writing)
            }
        }
        try await settle()
        #expect(calls.total == 0)
    }

    @Test("what cannot be waited for is refused")
    func refused() throws {
        let file = Descriptor(owning: open("/dev/null", O_RDONLY | O_CLOEXEC))
        let error = #expect(throws: SystemError.self) { _ = try watch(file, for: .reading, Calls()) }
        #expect(error?.code == EPERM)
        let none = #expect(throws: SystemError.self) {
            _ = try DescriptorWatch(-1, for: .reading, on: executor) {}
        }
        #expect(none?.code == EBADF)
    }

    @Test("peers that write and hang up at once, from all sides, end nothing but their own connections")
    func hangUps() async throws {
        // Watched by Dispatch itself, one in some 100,000 ends the process.
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    let executor = StreamExecutor()
                    for _ in 0..<2_000 {
                        await Self.hangUp(on: executor)
                    }
                }
            }
        }
    }

    private static func hangUp(on executor: StreamExecutor) async {
        guard let pair = try? SocketPair(), let transport = try? SocketTransport(pair.first, on: executor) else {
            Issue.record("no sockets")
            return
        }
        _ = send(pair.second.number, [1], 1, 0)
        _ = shutdown(pair.second.number, Int32(SHUT_RDWR))
        await withCheckedContinuation { continuation in
            executor.queue.async {
                transport.start { event in
                    guard case .endOfInput = event else { return }
                    transport.abort()
                    continuation.resume()
                }
            }
        }
        withExtendedLifetime(pair) {}
    }
}
