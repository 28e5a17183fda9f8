// SPDX-License-Identifier: Apache-2.0

/// Those who want to know that something has changed, and then look for themselves: however often it changes while one
/// of them looks, it looks once more.
package final class ChangeListeners: Sendable {
    /// How many may listen; 10,000. Who comes after them listens to a stream that has ended.
    package static let maximumCount = 10_000

    private struct State {
        var listeners: [Int: AsyncStream<Void>.Continuation] = [:]
        var lastID = 0
        var hasFinished = false
    }

    private let state = Locked(State())

    /// Makes one that nobody listens to.
    package init() {}

    deinit { finish() }

    /// Gives an element after each change from now on, one for those that come together.
    ///
    /// - Returns: A stream that ends with ``finish()``, or when the task that reads it is cancelled.
    package func stream() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let id = state.withLock { state -> Int? in
            guard !state.hasFinished, state.listeners.count < Self.maximumCount else { return nil }
            state.lastID += 1
            state.listeners[state.lastID] = continuation
            return state.lastID
        }
        guard let id else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { _ = $0.listeners.removeValue(forKey: id) }
        }
        return stream
    }

    /// Something has changed. What it is about is there already: who looks finds it.
    package func raise() {
        for listener in state.withLock({ Array($0.listeners.values) }) { listener.yield() }
    }

    /// Nothing changes any more.
    package func finish() {
        let listeners = state.withLock { state in
            state.hasFinished = true
            defer { state.listeners = [:] }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.finish() }
    }

    /// How many listen.
    package var count: Int { state.withLock { $0.listeners.count } }
}
