// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
package import SocketIO

/// A clock that stands still until a test moves it.
///
/// ```swift
/// let clock = TestClock()
/// configuration.use(clock)
/// // …
/// await clock.advance(by: .seconds(300))   // the keepalive is due
/// ```
public final class TestClock: Sendable {
    /// A timer that waits for its moment.
    private struct Entry {
        let id: Int
        let deadline: Duration
        let executor: StreamExecutor
        let body: @Sendable () -> Void
    }

    private struct State {
        var now = Duration.zero
        var lastID = 0
        var entries: [Entry] = []
        /// Those who wait for timers to be set, with the number of timers they want.
        var waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Locked(State())

    /// Makes a clock that shows zero.
    public init() {}

    /// Time since the clock was made, as far as the test has moved it.
    public var now: Duration { state.withLock { $0.now } }

    /// How many timers are set.
    public var timerCount: Int { state.withLock { $0.entries.count } }

    /// How long until the next timer is due; `nil` when none is set.
    public var untilNextTimer: Duration? {
        state.withLock { state in state.entries.map(\.deadline).min().map { max(.zero, $0 - state.now) } }
    }

    /// Waits until at least so many timers are set.
    public func waitForTimers(_ count: Int = 1) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.entries.count >= count { return true }
                state.waiters.append((count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    /// Moves the clock; timers that become due fire in the order of their deadlines, those that they set included.
    ///
    /// Returns when all of them have run.
    public func advance(by duration: Duration) async {
        let target = now + duration
        while let entry = takeNext(until: target) {
            await withCheckedContinuation { continuation in
                entry.executor.queue.async {
                    entry.body()
                    continuation.resume()
                }
            }
        }
        state.withLock { $0.now = max($0.now, target) }
    }

    /// Moves the clock to the next timer and fires it; does nothing when none is set.
    public func advanceToNextTimer() async {
        if let duration = untilNextTimer { await advance(by: duration) }
    }

    /// Takes the timer that is due first, up to a moment, and moves the clock there.
    private func takeNext(until target: Duration) -> Entry? {
        state.withLock { state in
            let due = state.entries.filter { $0.deadline <= target }
            guard let next = due.min(by: { ($0.deadline, $0.id) < ($1.deadline, $1.id) }) else { return nil }
            state.entries.removeAll { $0.id == next.id }
            state.now = max(state.now, next.deadline)
            return next
        }
    }

    private func cancel(_ id: Int) {
        state.withLock { $0.entries.removeAll { $0.id == id } }
    }

    private struct Timer: ScheduledTimer {
        let clock: TestClock
        let id: Int

        func cancel() { clock.cancel(id) }
    }
}

extension TestClock: StreamClock {
    /// Sets a timer.
    package func schedule(
        after delay: Duration, on executor: StreamExecutor, _ body: @escaping @Sendable () -> Void
    ) -> any ScheduledTimer {
        let (id, ready) = state.withLock { state in
            state.lastID += 1
            let deadline = state.now + max(.zero, delay)
            state.entries.append(Entry(id: state.lastID, deadline: deadline, executor: executor, body: body))
            let count = state.entries.count
            let ready = state.waiters.filter { $0.count <= count }.map(\.continuation)
            state.waiters.removeAll { $0.count <= count }
            return (state.lastID, ready)
        }
        for continuation in ready { continuation.resume() }
        return Timer(clock: self, id: id)
    }
}
