// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import SocketIO

/// Bounds work that may not heed cancellation: whoever waits is answered in time, the work is told to end.
enum Race {
    private static let executor = StreamExecutor(label: "jabberctld.deadlines")

    /// What is thrown when time is up.
    static let late = ControlError(.timedOut, "no answer in time")

    /// Runs `work` until it is done, `limit` is over, or the task is cancelled.
    ///
    /// - Parameters:
    ///   - limit: How long to wait; `nil` for as long as it takes.
    ///   - work: What to do; runs in a task of its own, which is cancelled when nobody waits any more.
    /// - Throws: What `work` throws, ``late`` or `cancelled`.
    static func run<Value: Sendable>(
        within limit: Duration?, _ work: @escaping @Sendable () async throws(ControlError) -> Value
    ) async throws(ControlError) -> Value {
        let finish = Handover<Result<Value, ControlError>>()
        let task = Task {
            do throws(ControlError) {
                finish.give(.success(try await work()))
            } catch {
                finish.give(.failure(error))
            }
        }
        let timer = limit.map { limit in
            SystemClock().schedule(after: limit, on: executor) {
                finish.give(.failure(late))
            }
        }
        let result = await withTaskCancellationHandler {
            await finish.value()
        } onCancel: {
            finish.give(.failure(ControlError(.cancelled, "the request was cancelled")))
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
        let finish = Handover<Void>()
        let timer = SystemClock().schedule(after: time, on: executor) { finish.give(()) }
        await withTaskCancellationHandler {
            await finish.value()
        } onCancel: {
            finish.give(())
        }
        timer.cancel()
    }
}
