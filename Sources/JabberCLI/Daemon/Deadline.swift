// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import SocketIO

/// Ends what a command waits for when time is up: its calls, its input, and a reader that does not read.
final class Deadline: Sendable {
    private struct State: Sendable {
        var timer: (any ScheduledTimer)?
        /// When time is up.
        var end = Duration.zero
        var client: ControlCaller?
        var hasPassed = false
    }

    private let seconds: Double
    private let environment: CLIEnvironment
    private let error: ControlError
    private let executor = StreamExecutor(label: "jabberctl.deadline")
    private let state = Locked(State())

    /// Starts the clock.
    init(seconds: Double, _ environment: CLIEnvironment, _ error: ControlError? = nil) {
        self.seconds = seconds
        self.environment = environment
        self.error = error ?? Self.error(seconds)
        restart()
    }

    /// What a command ends with when its time limit is over.
    static func error(_ seconds: Double) -> ControlError {
        ControlError(.timedOut, "no answer within \(Duration.seconds(seconds).spoken) (--timeout)")
    }

    /// The client whose calls end too.
    func add(_ client: ControlCaller) {
        let isLate = state.withLock { state in
            state.client = client
            return state.hasPassed
        }
        if isLate { end(client) }
    }

    /// Starts the clock anew.
    func restart() {
        let timer = environment.clock.schedule(after: .seconds(seconds), on: executor) { [weak self] in self?.pass() }
        let end = environment.clock.now + .seconds(seconds)
        state.withLock { state in
            state.timer = timer
            state.end = end
        }
    }

    /// Whether time is up, or will be in a moment.
    var isNear: Bool { environment.clock.now >= state.withLock { $0.end } - .seconds(min(0.75, seconds / 5)) }

    /// How much time is left, in seconds.
    var rest: Double { max(.zero, state.withLock { $0.end } - environment.clock.now).inSeconds }

    /// Stops the clock.
    func cancel() {
        state.withLock { state in
            state.timer?.cancel()
            state.timer = nil
        }
    }

    private func pass() {
        // First the waits: one of them may keep the client's queue, on which its calls end.
        environment.stopWaiting(error)
        let client = state.withLock { state in
            state.hasPassed = true
            return state.client
        }
        if let client { end(client) }
    }

    private func end(_ client: ControlCaller) {
        let error = error
        Task { await client.fail(error) }
    }
}
