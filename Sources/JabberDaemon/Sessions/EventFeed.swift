// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
internal import XMPP

/// What happens on the streams of one account, for the methods that run: handlers are called at once, on the stream's
/// executor, so that a method that has seen a ping's answer has seen everything before it.
final class EventFeed: Sendable {
    private struct State {
        var handlers: [Int: @Sendable (XMPPEvent) -> Void] = [:]
        var lastID = 0
        var lastPresence: Duration?
        var leavesTheRest = false
    }

    private let clock: any StreamClock
    private let signal: Signal
    private let state = Locked(State())

    init(clock: any StreamClock = SystemClock()) {
        self.clock = clock
        signal = Signal(clock: clock)
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
        let handlers = state.withLock { state in
            if case .presence = event { state.lastPresence = now }
            return Array(state.handlers.values)
        }
        for handler in handlers { handler(event) }
        // Only now: who is woken finds what the handlers have done.
        signal.raise()
    }

    /// How many events there were so far.
    var count: Int { signal.count }

    /// Waits until `condition` holds, looking again after each event.
    ///
    /// - Returns: Whether it holds; `false` when it does not after `limit`.
    func wait(atMost limit: Duration, until condition: @Sendable () async -> Bool) async -> Bool {
        await signal.wait(atMost: limit, until: condition)
    }

    /// Waits until no presence has arrived for `quiet`, counted from `start` at the earliest.
    func waitForQuiet(_ quiet: Duration, since start: Duration, until deadline: Duration) async {
        while true {
            let seen = signal.count
            let last = state.withLock { $0.lastPresence }
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
        await signal.next(after: seen, atMost: limit)
    }
}
