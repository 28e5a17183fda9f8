// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
internal import XMPP

/// What happens on the streams of one account, for the methods that run: handlers are called at once, on the stream's
/// executor, so that a method that has seen a ping's answer has seen everything before it.
final class EventFeed: Sendable {
    private struct State {
        var handlers: [Int: @Sendable (XMPPEvent) -> Void] = [:]
        var lastID = 0
        var count = 0
        var lastPresence: Duration?
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
        var leavesTheRest = false
    }

    private static let executor = StreamExecutor(label: "jabberctld.feed")
    private let clock: any StreamClock
    private let state = Locked(State())

    init(clock: any StreamClock = SystemClock()) {
        self.clock = clock
    }

    /// Calls a handler with everything from now on, until ``cancel(_:)``. It must not block.
    func subscribe(_ handler: @escaping @Sendable (XMPPEvent) -> Void) -> Int {
        state.withLock { state in
            state.lastID += 1
            state.handlers[state.lastID] = handler
            return state.lastID
        }
    }

    /// Ends a subscription.
    func cancel(_ subscription: Int) {
        state.withLock { $0.handlers[subscription] = nil }
    }

    /// The only subscriber has seen enough: unless there are others, what comes from now on is left to the server.
    func leaveTheRest() {
        state.withLock { state in
            if state.handlers.count <= 1 { state.leavesTheRest = true }
        }
    }

    /// A new stream begins, on which everything is taken.
    func takeEverything() {
        state.withLock { $0.leavesTheRest = false }
    }

    /// Whether what comes is left to the server.
    var leavesTheRest: Bool { state.withLock { $0.leavesTheRest } }

    /// Something happened.
    func publish(_ event: XMPPEvent) {
        let now = clock.now
        let (handlers, waiters) = state.withLock { state in
            state.count += 1
            if case .presence = event { state.lastPresence = now }
            let waiters = Array(state.waiters.values)
            state.waiters = [:]
            return (Array(state.handlers.values), waiters)
        }
        for handler in handlers { handler(event) }
        for waiter in waiters { waiter.resume() }
    }

    /// How many events there were so far.
    var count: Int { state.withLock { $0.count } }

    /// Waits until `condition` holds, looking again after each event.
    ///
    /// - Returns: Whether it holds; `false` when it does not after `limit`.
    func wait(atMost limit: Duration, until condition: @Sendable () async -> Bool) async -> Bool {
        let deadline = clock.now + limit
        while true {
            let seen = count
            if await condition() { return true }
            let rest = deadline - clock.now
            guard rest > .zero else { return false }
            await next(after: seen, atMost: rest)
        }
    }

    /// Waits until no presence has arrived for `quiet`, counted from `start` at the earliest.
    func waitForQuiet(_ quiet: Duration, since start: Duration, until deadline: Duration) async {
        while true {
            let (seen, last) = state.withLock { ($0.count, $0.lastPresence) }
            let now = clock.now
            let due = min(max(start, last ?? start) + quiet, deadline)
            guard due > now else { return }
            await next(after: seen, atMost: due - now)
        }
    }

    /// The present moment of the feed's clock.
    var now: Duration { clock.now }

    /// Waits for an event beyond the first `seen` ones.
    func next(after seen: Int, atMost limit: Duration) async {
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
                let timer = clock.schedule(after: limit, on: Self.executor) { [weak self] in self?.wake(id) }
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
