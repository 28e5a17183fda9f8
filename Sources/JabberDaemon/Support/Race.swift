// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import SocketIO
internal import Synchronization

/// Bounds work that may not heed cancellation: whoever waits is answered in time, the work is told to end.
enum Race {
    private static let executor = StreamExecutor(label: "jabberctld.deadlines")

    /// Runs `work` until it is done, `limit` is over, or the task is cancelled.
    ///
    /// - Parameters:
    ///   - limit: How long to wait; `nil` for as long as it takes.
    ///   - work: What to do; runs in a task of its own, which is cancelled when nobody waits any more.
    /// - Throws: What `work` throws, `timedOut` or `cancelled`.
    static func run<Value: Sendable>(
        within limit: Duration?, _ work: @escaping @Sendable () async throws(ControlError) -> Value
    ) async throws(ControlError) -> Value {
        let finish = Finish<Value>()
        let task = Task {
            do throws(ControlError) {
                finish.settle(.success(try await work()))
            } catch {
                finish.settle(.failure(error))
            }
        }
        let timer = limit.map { limit in
            SystemClock().schedule(after: limit, on: executor) {
                finish.settle(.failure(ControlError(.timedOut, "no answer in time")))
            }
        }
        let result = await withTaskCancellationHandler {
            await finish.value()
        } onCancel: {
            finish.settle(.failure(ControlError(.cancelled, "the request was cancelled")))
        }
        timer?.cancel()
        task.cancel()
        return try result.get()
    }

    /// Runs `work` for at most `limit`; what it throws, and whether it was done, is of no interest.
    static func attempt(within limit: Duration, _ work: @escaping @Sendable () async -> Void) async {
        _ = try? await run(within: limit) { () throws(ControlError) in await work() }
    }

    /// Waits; less when the task is cancelled.
    static func pause(_ time: Duration) async {
        let finish = Finish<Void>()
        let timer = SystemClock().schedule(after: time, on: executor) { finish.settle(.success(())) }
        _ = await withTaskCancellationHandler {
            await finish.value()
        } onCancel: {
            finish.settle(.success(()))
        }
        timer.cancel()
    }
}

/// The first of several outcomes, for one who waits.
private final class Finish<Value: Sendable>: Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<Result<Value, ControlError>, Never>)
        case settled(Result<Value, ControlError>)
        case taken
    }

    private let state = Mutex(State.open)

    func settle(_ result: Result<Value, ControlError>) {
        let waiter = state.withLock { state -> CheckedContinuation<Result<Value, ControlError>, Never>? in
            switch state {
            case .open:
                state = .settled(result)
                return nil
            case .awaited(let waiter):
                state = .taken
                return waiter
            case .settled, .taken:
                return nil
            }
        }
        waiter?.resume(returning: result)
    }

    func value() async -> Result<Value, ControlError> {
        await withCheckedContinuation { continuation in
            let result = state.withLock { state -> Result<Value, ControlError>? in
                guard case .settled(let result) = state else {
                    state = .awaited(continuation)
                    return nil
                }
                state = .taken
                return result
            }
            if let result { continuation.resume(returning: result) }
        }
    }
}
