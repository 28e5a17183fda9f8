// SPDX-License-Identifier: Apache-2.0

package import Dispatch

/// What a socket can be waited for.
package enum Readiness: Sendable {
    /// Bytes have come, or the end of the stream, or, at a listening socket, a connection.
    case readable
    /// There is space in the send buffer, or, at a socket that connects, an outcome.
    case writable
}

extension Descriptor {
    /// Waits on the event loop, without a thread, until the socket is ready or the time is over.
    ///
    /// - Returns: Whether it is ready.
    package func waits(for readiness: Readiness, until deadline: DispatchTime) async -> Bool {
        let queue = DispatchQueue(label: "example.wait")
        let source: any DispatchSourceProtocol =
            switch readiness {
            case .readable: DispatchSource.makeReadSource(fileDescriptor: number, queue: queue)
            case .writable: DispatchSource.makeWriteSource(fileDescriptor: number, queue: queue)
            }
        let isReady = await first(by: deadline) { answer in
            source.setEventHandler { answer.yield(true) }
            source.activate()
        }
        // The event loop must have let go of a descriptor before it is closed: its number may be another socket's at
        // once.
        await withCheckedContinuation { continuation in
            source.setCancelHandler { continuation.resume() }
            source.cancel()
        }
        return isReady ?? false
    }
}

/// The first answer, or `nil` when there was none before the deadline. What answers later answers nobody.
package func first<Answer: Sendable>(
    by deadline: DispatchTime, of begin: (AsyncStream<Answer?>.Continuation) -> Void
) async -> Answer? {
    let (answers, answer) = AsyncStream.makeStream(of: Answer?.self, bufferingPolicy: .bufferingOldest(1))
    let timer = DispatchSource.makeTimerSource()
    timer.setEventHandler { answer.yield(nil) }
    timer.schedule(deadline: deadline)
    timer.activate()
    begin(answer)
    defer { timer.cancel() }
    for await answer in answers { return answer }
    // The task was cancelled.
    return nil
}
