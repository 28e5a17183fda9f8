// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc

@testable import SocketIO

/// Collects a transport's events; a test waits for what it needs, without sleeping.
final class EventRecorder: Sendable {
    private struct State {
        var events: [TransportEvent] = []
        var waiters:
            [(condition: @Sendable ([TransportEvent]) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Locked(State())

    var events: [TransportEvent] { state.withLock { $0.events } }

    /// All bytes received, in order.
    var bytes: [UInt8] {
        events.reduce(into: []) { result, event in
            if case .received(let bytes) = event { result += bytes }
        }
    }

    /// The events with everything received in one.
    var summary: [TransportEvent] {
        let others = events.filter { if case .received = $0 { false } else { true } }
        return bytes.isEmpty ? others : [.received(bytes)] + others
    }

    func record(_ event: TransportEvent) {
        let ready = state.withLock { state in
            state.events.append(event)
            let ready = state.waiters.filter { $0.condition(state.events) }
            state.waiters.removeAll { $0.condition(state.events) }
            return ready.map(\.continuation)
        }
        for continuation in ready { continuation.resume() }
    }

    /// Waits for a condition; gives up when the test's time is over.
    func wait(until condition: @escaping @Sendable ([TransportEvent]) -> Bool) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    if condition(state.events) || Task.isCancelled { return true }
                    state.waiters.append((condition, continuation))
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            let waiters = state.withLock { state in
                defer { state.waiters = [] }
                return state.waiters
            }
            for waiter in waiters { waiter.continuation.resume() }
        }
    }

    func waitForEnd() async {
        await wait { events in events.contains { if case .closed = $0 { true } else { false } } }
    }

    func waitForEndOfInput() async {
        await wait { $0.contains(.endOfInput) }
    }

    func waitForBytes(_ count: Int) async {
        await wait { events in
            events.reduce(0) { sum, event in if case .received(let bytes) = event { sum + bytes.count } else { sum } }
                >= count
        }
    }
}

/// A clock that a test moves.
final class ManualClock: StreamClock {
    private final class Timer: ScheduledTimer {
        let deadline: Duration
        let executor: StreamExecutor
        private let body: Locked<(@Sendable () -> Void)?>

        init(_ deadline: Duration, _ executor: StreamExecutor, _ body: @escaping @Sendable () -> Void) {
            self.deadline = deadline
            self.executor = executor
            self.body = Locked(body)
        }

        func cancel() {
            body.withLock { $0 = nil }
        }

        func fire() {
            executor.queue.async {
                self.body.withLock { body in
                    defer { body = nil }; return body
                }?()
            }
        }
    }

    private let state = Locked((now: Duration.zero, timers: [Timer]()))

    var now: Duration { state.withLock { $0.now } }

    var scheduled: Int { state.withLock { $0.timers.count } }

    func schedule(
        after delay: Duration, on executor: StreamExecutor, _ body: @escaping @Sendable () -> Void
    ) -> any ScheduledTimer {
        state.withLock { state in
            let timer = Timer(state.now + delay, executor, body)
            state.timers.append(timer)
            return timer
        }
    }

    func advance(by delay: Duration) {
        let due = state.withLock { state in
            state.now += delay
            let now = state.now
            let due = state.timers.filter { $0.deadline <= now }
            state.timers.removeAll { $0.deadline <= now }
            return due
        }
        for timer in due { timer.fire() }
    }
}

extension StreamExecutor {
    /// Runs `body` on the queue and waits for it.
    func run<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async rethrows -> Result {
        try queue.sync(execute: body)
    }
}

/// A transport with a plain descriptor as its peer.
struct Fixture {
    let executor = StreamExecutor()
    let clock = ManualClock()
    let recorder = EventRecorder()
    let transport: SocketTransport
    let peer: Int32

    init(writes: WriteQueue = WriteQueue()) throws {
        var numbers: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &numbers) == 0 else {
            throw SystemError(errno, "socketpair")
        }
        peer = numbers[1]
        transport = try SocketTransport(Descriptor(owning: numbers[0]), on: executor, clock: clock, writes: writes)
    }

    func start() {
        executor.queue.sync { [transport, recorder] in transport.start { recorder.record($0) } }
    }

    func onQueue(_ body: @escaping @Sendable (SocketTransport) -> Void) {
        executor.queue.sync { [transport] in body(transport) }
    }

    /// Writes everything, waiting as needed.
    func peerWrites(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(peer, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// Reads until the end or an error.
    func peerReadsAll() -> [UInt8] {
        var result: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(peer, &buffer, buffer.count, 0)
            guard count > 0 else { return result }
            result += buffer.prefix(count)
        }
    }

    func peerCloses() {
        close(peer)
    }
}

/// Bytes that reveal a lost or swapped piece.
func pattern(_ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
}
