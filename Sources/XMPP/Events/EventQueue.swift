// SPDX-License-Identifier: Apache-2.0

internal import SocketIO

/// An event with the stream that it belongs to.
package struct EventDelivery: Sendable {
    /// The stream.
    package let stream: XMPPStream
    /// What happened on it.
    package let event: XMPPEvent
    /// Held as long as the stanza behind the event is not handled; `nil` where nobody asks.
    var handling: HandlingToken?
}

/// The bounded queue between a stream and its reader. The stream appends batches; the reader takes all that is there.
///
/// Events hold their stream. So what is dropped here is dropped outside of the lock: it may be the last reference, and
/// the stream's `deinit` comes back to this queue.
final class EventQueue: Sendable {
    /// What happens when the queue is full.
    enum Overflow: Sendable {
        /// The queue ends with ``XMPPError/Code/overflow`` after what it holds.
        case fails
        /// It grows; the stream stops reading from the server meanwhile, so that growth ends with the last read.
        case pausesReading
    }

    private struct State {
        var waiting: [EventDelivery] = []
        /// Taken by the reader and not finished with.
        var inProgress = 0
        /// How many bytes the stanzas behind those have that wait, and behind those that are in progress.
        var bytes = (waiting: 0, inProgress: 0)
        /// Usually one; with several, each gets some of the events.
        var readers: [CheckedContinuation<Void, Never>] = []
        var isFinished = false
        var error: XMPPError?
        var wasPaused = false

        var backlog: Int { waiting.count + inProgress }
        var backlogBytes: Int { bytes.waiting + bytes.inProgress }

        mutating func takeReaders() -> [CheckedContinuation<Void, Never>] {
            defer { readers = [] }
            return readers
        }
    }

    private let state = Locked(State())
    private let overflow: Overflow
    private let limit: Int
    private let maximumBytes: Int
    private let onDrain: @Sendable () -> Void

    /// Makes a queue.
    ///
    /// - Parameters:
    ///   - limit: How many events may wait.
    ///   - maximumBytes: How many bytes the stanzas behind them may have.
    ///   - overflow: What happens beyond either.
    ///   - onDrain: Called when a queue that paused the stream has fallen to half of both.
    init(limit: Int, maximumBytes: Int, overflow: Overflow, onDrain: @escaping @Sendable () -> Void = {}) {
        self.limit = limit
        self.maximumBytes = maximumBytes
        self.overflow = overflow
        self.onDrain = onDrain
    }

    /// Appends a batch.
    ///
    /// - Parameters:
    ///   - batch: The events.
    ///   - bytes: How many bytes the stanzas behind them have.
    /// - Returns: Whether the stream should stop reading.
    func append(_ batch: [EventDelivery], bytes: Int) -> Bool {
        let (readers, pauses) = state.withLock { state -> ([CheckedContinuation<Void, Never>], Bool) in
            guard !state.isFinished else { return ([], false) }
            switch overflow {
            case .fails where state.backlog + batch.count > limit:
                let room = max(0, limit - state.backlog)
                state.waiting += batch.prefix(room)
                state.isFinished = true
                state.error = XMPPError(
                    .overflow, "More than \(limit) events waited to be read; the sequence has ended.")
            case .fails where state.backlogBytes + bytes > maximumBytes:
                state.isFinished = true
                state.error = XMPPError(
                    .overflow, "More than \(maximumBytes) bytes waited to be read; the sequence has ended.")
            case .fails, .pausesReading:
                // Usually the reader has taken all: then the batch itself waits, and nothing is copied.
                if state.waiting.isEmpty { state.waiting = batch } else { state.waiting += batch }
                state.bytes.waiting += bytes
            }
            let isTooMuch = state.backlog > limit || state.backlogBytes > maximumBytes
            let pauses = overflow == .pausesReading && isTooMuch
            if pauses { state.wasPaused = true }
            return (state.takeReaders(), pauses)
        }
        for reader in readers { reader.resume() }
        return pauses
    }

    /// Ends the queue after what it holds.
    func finish(_ error: XMPPError? = nil) {
        let readers = state.withLock { state in
            if !state.isFinished {
                state.isFinished = true
                state.error = error
            }
            return state.takeReaders()
        }
        for reader in readers { reader.resume() }
    }

    /// Ends the queue at once, with all it holds: nobody wants to read it any more. A stream that was paused for it
    /// goes on.
    func discard() {
        let (dropped, readers, wasPaused) = state.withLock { state in
            defer {
                state.waiting = []
                state.inProgress = 0
                state.bytes = (0, 0)
                state.isFinished = true
                state.wasPaused = false
            }
            return (state.waiting, state.takeReaders(), state.wasPaused)
        }
        for reader in readers { reader.resume() }
        if wasPaused { onDrain() }
        withExtendedLifetime(dropped) {}
    }

    /// Whether the queue keeps the stream from reading.
    var isOverfull: Bool {
        overflow == .pausesReading && state.withLock { $0.wasPaused && !isHalfEmpty($0) }
    }

    private func isHalfEmpty(_ state: State) -> Bool {
        state.backlog <= limit / 2 && state.backlogBytes <= maximumBytes / 2
    }

    /// All that waits; suspends while nothing does. `nil` at the end, or when the task is cancelled.
    ///
    /// Taking a batch says that the one before it is finished with.
    ///
    /// - Throws: ``XMPPError`` when the queue ended with one.
    nonisolated(nonsending) func next() async throws(XMPPError) -> [EventDelivery]? {
        finishedBatch()
        while true {
            let step = state.withLock { state -> Result<[EventDelivery]?, XMPPError>? in
                if !state.waiting.isEmpty {
                    let batch = state.waiting
                    state.waiting = []
                    state.inProgress = batch.count
                    state.bytes = (0, state.bytes.waiting)
                    return .success(batch)
                }
                guard state.isFinished else { return nil }
                return state.error.map { .failure($0) } ?? .success(nil)
            }
            if let step { return try step.get() }
            if Task.isCancelled { return nil }
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let isReady = state.withLock { state -> Bool in
                        guard state.waiting.isEmpty, !state.isFinished, !Task.isCancelled else { return true }
                        state.readers.append(continuation)
                        return false
                    }
                    if isReady { continuation.resume() }
                }
            } onCancel: {
                wakeReaders()
            }
        }
    }

    /// All of them: those who were not meant go back to sleep.
    private func wakeReaders() {
        let readers = state.withLock { $0.takeReaders() }
        for reader in readers { reader.resume() }
    }

    private func finishedBatch() {
        let hasDrained = state.withLock { state -> Bool in
            state.inProgress = 0
            state.bytes.inProgress = 0
            guard state.wasPaused, isHalfEmpty(state) else { return false }
            state.wasPaused = false
            return true
        }
        if hasDrained { onDrain() }
    }
}
