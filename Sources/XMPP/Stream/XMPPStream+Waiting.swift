// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore

/// What a task may wait for on a stream, besides the answer to a request.
enum Awaited: Sendable, Equatable {
    /// Room for more: bytes that the network has not taken, stanzas that are not acknowledged.
    case room
    /// The acknowledgement of so many stanzas sent since the start, modulo 2^32.
    case handled(UInt32)
    /// The end of the stream.
    case end
    /// The end of the stream, or the loss of a connection that it outlives.
    case interruption
    /// That a room lets the user in.
    case entry(JID)
    /// That a room has seen the user leave.
    case exit(JID)
    /// That delegates are done with what they were given, and that it is kept.
    case settling
    /// That what is to be sent under this number is kept, and sent.
    case kept(Int)
    /// That some time has passed in which an archive may have grown.
    case quiet
}

/// A task that waits.
struct StreamWaiter {
    let id: Int
    let awaited: Awaited
    let continuation: CheckedContinuation<Result<Void, XMPPError>, Never>
}

extension XMPPStream {
    /// Suspends until ``endWaiting(_:where:)`` says that what is waited for has come.
    ///
    /// The caller has just looked: it must not have suspended since, or what it waits for may have come unseen.
    ///
    /// - Parameter heedsCancellation: Whether the waiting ends, with an error, when the task is cancelled.
    func wait(for awaited: Awaited, heedsCancellation: Bool = true) async -> Result<Void, XMPPError> {
        lastWaiterID += 1
        let id = lastWaiterID
        guard heedsCancellation else {
            return await withCheckedContinuation {
                waitList.append(StreamWaiter(id: id, awaited: awaited, continuation: $0))
            }
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                waitList.append(StreamWaiter(id: id, awaited: awaited, continuation: continuation))
                // The handler may have come before there was anything to end.
                if Task.isCancelled { stopWaiting(id) }
            }
        } onCancel: {
            Task { await self.stopWaiting(id) }
        }
    }

    /// Resumes those whose wait is over, in the order in which they began.
    func endWaiting(_ outcome: Result<Void, XMPPError> = .success(()), where isOver: (Awaited) -> Bool) {
        let resumed = waitList.filter { isOver($0.awaited) }
        guard !resumed.isEmpty else { return }
        waitList.removeAll { isOver($0.awaited) }
        for waiter in resumed { waiter.continuation.resume(returning: outcome) }
    }

    /// Asks the server for a sign of life: when none comes in time (``StreamTimeouts/answer``), the connection is dead.
    package func probe() {
        guard isEstablished else { return }
        perform(machine.probe())
        endTurn()
    }

    /// Room has been made: those who wait for it look again.
    func resumeSenders() {
        endWaiting { $0 == .room }
    }

    private func stopWaiting(_ id: Int) {
        guard let index = waitList.firstIndex(where: { $0.id == id }) else { return }
        waitList.remove(at: index).continuation.resume(
            returning: .failure(XMPPError(.cancelled, "The waiting was called off.")))
    }
}
