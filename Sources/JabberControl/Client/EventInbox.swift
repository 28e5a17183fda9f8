// SPDX-License-Identifier: Apache-2.0

internal import SocketIO

/// Events that were read and not taken yet: a bounded queue between a connection and who iterates.
final class EventInbox: Sendable {
    /// How many events may wait before nothing more is read; 1,000. What one read has brought comes on top.
    static let maximumWaiting = 1_000
    /// With how many it is read on; 200.
    static let comfortableWaiting = 200

    private struct State {
        var events: [ControlEvent] = []
        /// How many of them were taken.
        var taken = 0
        var lastCursor: String?
        var ending: Result<Void, ControlError>?
        var waiter: CheckedContinuation<Void, Never>?
        var readOn: (@Sendable () -> Void)?

        var count: Int { events.count - taken }

        mutating func removeWaiter() -> CheckedContinuation<Void, Never>? {
            defer { waiter = nil }
            return waiter
        }
    }

    private let state = Locked(State())

    /// The cursor of the last event that was put in.
    var lastCursor: String? { state.withLock { $0.lastCursor } }

    /// Whether nothing waits.
    var isEmpty: Bool { state.withLock { $0.count == 0 } }

    /// Puts an event in.
    ///
    /// - Parameter readOn: What to do when there is room again; called once, when nothing more may come.
    /// - Returns: Whether nothing more should be read until then.
    func put(_ event: ControlEvent, readOn: @escaping @Sendable () -> Void) -> Bool {
        let (waiter, isFull) = state.withLock { state in
            state.events.append(event)
            state.lastCursor = event.cursor ?? state.lastCursor
            let isFull = state.count >= Self.maximumWaiting
            if isFull { state.readOn = readOn }
            return (state.removeWaiter(), isFull)
        }
        waiter?.resume()
        return isFull
    }

    /// No more events come.
    func finish(_ error: ControlError? = nil) {
        let waiter = state.withLock { state in
            if state.ending == nil { state.ending = error.map(Result.failure) ?? .success(()) }
            return state.removeWaiter()
        }
        waiter?.resume()
    }

    /// Takes the first event, waiting for it.
    ///
    /// - Returns: The event; `nil` at the end.
    /// - Throws: What it has ended with.
    func next() async throws(ControlError) -> ControlEvent? {
        while true {
            if let event = take() { return event }
            if let ending = state.withLock({ $0.count == 0 ? $0.ending : nil }) {
                try ending.get()
                return nil
            }
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    guard state.count == 0, state.ending == nil else { return true }
                    state.waiter = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        }
    }

    private func take() -> ControlEvent? {
        let (event, readOn) = state.withLock { state -> (ControlEvent?, (@Sendable () -> Void)?) in
            guard state.count > 0 else { return (nil, nil) }
            let event = state.events[state.taken]
            state.taken += 1
            if state.taken > 64, state.taken * 2 > state.events.count {
                state.events.removeFirst(state.taken)
                state.taken = 0
            }
            guard state.count <= Self.comfortableWaiting else { return (event, nil) }
            defer { state.readOn = nil }
            return (event, state.readOn)
        }
        readOn?()
        return event
    }
}
