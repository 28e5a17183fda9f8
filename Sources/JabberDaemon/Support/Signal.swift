// SPDX-License-Identifier: Apache-2.0

internal import SocketIO

/// Counts how often something happened, and wakes those who wait for it to happen again.
final class Signal: Sendable {
    private struct State {
        var count = 0
        var lastID = 0
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    }

    private static let executor = StreamExecutor(label: "jabberctld.signal")
    private let clock: any StreamClock
    private let state = Locked(State())

    /// - Parameter clock: The clock that tells how long is waited.
    init(clock: any StreamClock = SystemClock()) {
        self.clock = clock
    }

    /// It happened. What it is about is there already: who is woken finds it.
    func raise() {
        let waiters = state.withLock { state in
            state.count += 1
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume() }
    }

    /// How often it happened so far. Read before one looks at what it is about, it never makes one miss something.
    var count: Int { state.withLock { $0.count } }

    /// Waits until `condition` holds, looking again each time.
    ///
    /// - Returns: Whether it holds; `false` when it does not after `limit`, or when the task is cancelled.
    func wait(atMost limit: Duration, until condition: @Sendable () async -> Bool) async -> Bool {
        let deadline = clock.now + limit
        while true {
            let seen = count
            if await condition() { return true }
            let rest = deadline - clock.now
            guard rest > .zero, !Task.isCancelled else { return false }
            await next(after: seen, atMost: rest)
        }
    }

    /// Waits for more than `seen`; less when the limit is over or the task is cancelled.
    ///
    /// - Parameter limit: How long at most; `nil` for as long as it takes.
    func next(after seen: Int, atMost limit: Duration? = nil) async {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        let deadline = Locked<(any ScheduledTimer)?>(nil)
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDue = state.withLock { state -> Bool in
                    guard state.count == seen, !Task.isCancelled else { return true }
                    state.waiters[id] = continuation
                    return false
                }
                guard !isDue else { return continuation.resume() }
                // Only now: a timer that fired before the waiter was there would wake nobody.
                let timer = limit.map { limit in
                    clock.schedule(after: limit, on: Self.executor) { [weak self] in self?.wake(id) }
                }
                deadline.withLock { $0 = timer }
            }
        } onCancel: {
            wake(id)
        }
        // Not left to run out: there may be an event for each of a thousand contacts.
        deadline.withLock { $0?.cancel() }
    }

    private func wake(_ id: Int) {
        let waiter = state.withLock { $0.waiters.removeValue(forKey: id) }
        waiter?.resume()
    }
}
