// SPDX-License-Identifier: Apache-2.0

package import Dispatch

/// The executor of one stream: a serial dispatch queue that actors, sources and timers share.
///
/// An actor that returns this executor from `unownedExecutor` runs on ``queue``, so a dispatch source whose handlers
/// run on the same queue may enter the actor with `assumeIsolated`, without a hop and without a lock.
package final class StreamExecutor: SerialExecutor {
    /// The serial queue that everything of one stream runs on.
    package let queue: DispatchQueue

    /// Makes an executor with a queue of its own.
    ///
    /// - Parameter label: The queue's name, shown by debuggers.
    package init(label: String = "swift-xmpp.stream") {
        queue = DispatchQueue(label: label)
    }

    /// Runs a job of the actor on ``queue``.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedSerialExecutor()
        queue.async { job.runSynchronously(on: executor) }
    }

    /// Runs `body` on ``queue``, after what is already there. For entering an actor from outside, with
    /// `assumeIsolated`.
    package func run(_ body: @escaping @Sendable () -> Void) {
        queue.async(execute: body)
    }

    /// This executor as the reference that actors hand out.
    package func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }

    /// Traps, in debug and in release, when the caller is not on ``queue``: `assumeIsolated` asks it.
    package func checkIsolated() {
        dispatchPrecondition(condition: .onQueue(queue))
    }
}
