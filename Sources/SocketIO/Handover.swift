// SPDX-License-Identifier: Apache-2.0

/// One value, from whichever thread has it first to the one task that waits for it, before or after it is given.
///
/// The value passes through a lock and not through the continuation: one that is resumed before its task sleeps hands
/// its value over by a counter in the uninstrumented runtime, and the thread sanitizer would call that a race.
package final class Handover<Value: Sendable>: Sendable {
    private enum State {
        case empty
        case awaited(CheckedContinuation<Void, Never>)
        case given(Value)
        case taken
    }

    private let state = Locked(State.empty)

    /// Makes a hand-over that nothing has been given to.
    package init() {}

    /// Gives the value; every one but the first is dropped.
    ///
    /// - Parameter value: The value.
    package func give(_ value: Value) {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            switch state {
            case .empty:
                state = .given(value)
                return nil
            case .awaited(let waiter):
                state = .given(value)
                return waiter
            case .given, .taken:
                return nil
            }
        }
        waiter?.resume()
    }

    /// Waits for the value and takes it. To be called once. Does not heed cancellation: give a value then.
    ///
    /// - Returns: What was given first.
    package func value() async -> Value {
        while true {
            if let value = take() { return value }
            await withCheckedContinuation { continuation in
                let isThere = state.withLock { state in
                    switch state {
                    case .empty:
                        state = .awaited(continuation)
                        return false
                    case .given:
                        return true
                    case .awaited, .taken:
                        preconditionFailure("a hand-over has one taker")
                    }
                }
                if isThere { continuation.resume() }
            }
        }
    }

    private func take() -> Value? {
        state.withLock { state in
            guard case .given(let value) = state else { return nil }
            state = .taken
            return value
        }
    }
}
