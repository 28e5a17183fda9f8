// SPDX-License-Identifier: Apache-2.0

import Dispatch

/// A timer that can be called off. Cancelling twice, or after it has fired, does nothing.
package protocol ScheduledTimer: Sendable {
    /// Calls the timer off. On the executor's queue, the body is never run after this returns.
    func cancel()
}

/// Where time comes from: the system's monotonic clock, or a test's.
package protocol StreamClock: Sendable {
    /// Time since an arbitrary fixed point; never goes back, unaffected by wall-clock changes.
    var now: Duration { get }

    /// Runs `body` once on the executor's queue after `delay`.
    ///
    /// - Parameters:
    ///   - delay: How long from now; zero or less means as soon as possible.
    ///   - executor: Whose queue runs `body`.
    ///   - body: What to run.
    func schedule(
        after delay: Duration, on executor: StreamExecutor, _ body: @escaping @Sendable () -> Void
    ) -> any ScheduledTimer
}

extension StreamClock {
    /// Suspends for a moment. Cancelling the task does not cut it short.
    ///
    /// - Parameters:
    ///   - delay: How long.
    ///   - executor: Whose queue notices that it is over.
    package func pause(for delay: Duration, on executor: StreamExecutor) async {
        await withCheckedContinuation { continuation in
            _ = schedule(after: delay, on: executor) { continuation.resume() }
        }
    }
}

/// The system's monotonic clock with timers of Dispatch.
package struct SystemClock: StreamClock {
    /// Makes the clock.
    package init() {}

    /// Time since the machine started.
    package var now: Duration {
        .nanoseconds(Int64(truncatingIfNeeded: DispatchTime.now().uptimeNanoseconds))
    }

    /// Runs `body` once on the executor's queue after `delay`.
    package func schedule(
        after delay: Duration, on executor: StreamExecutor, _ body: @escaping @Sendable () -> Void
    ) -> any ScheduledTimer {
        DispatchTimer(after: max(0, delay.inSeconds), on: executor.queue, body)
    }
}

/// A timer source of Dispatch that fires once. Until then, or until it is called off, it keeps itself.
///
/// Not a work item for later (`asyncAfter`): that is kept until it would have been due, with all that it holds, though
/// it was cancelled long before. Streams that come and go leave a good many.
///
/// Unchecked: a source is documented to be usable from every thread but is not marked `Sendable` on Linux; this struct
/// only ever calls its `cancel()`.
private struct DispatchTimer: ScheduledTimer, @unchecked Sendable {
    let source: any DispatchSourceTimer

    init(after seconds: Double, on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void) {
        let source = DispatchSource.makeTimerSource(queue: queue)
        source.setEventHandler {
            // Lets go of the handler, and with it of the source.
            source.cancel()
            body()
        }
        source.schedule(deadline: .now() + seconds)
        source.activate()
        self.source = source
    }

    func cancel() {
        source.cancel()
    }
}

extension Duration {
    /// This duration in seconds.
    package var inSeconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) * 1e-18
    }
}
