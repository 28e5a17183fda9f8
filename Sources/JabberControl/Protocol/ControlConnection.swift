// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
package import SocketIO

/// Messages over a transport: what both sides of the control protocol share.
///
/// `@unchecked Sendable`: every mutable property is read and written on the queue of the transport's executor only; the
/// methods that may be called from elsewhere hop there first.
package final class ControlConnection: @unchecked Sendable {
    /// What a connection tells its owner, on the executor's queue and in order.
    package enum Event: Sendable {
        /// A message arrived.
        case message(ControlMessage)
        /// A line that is no message arrived. The connection goes on unless the line was too long.
        case malformed(ControlFrameError)
        /// The connection is gone; `nil` when it ended in good order. Sent exactly once, last.
        case closed(TransportError?)
    }

    /// How many bytes may wait for a peer that does not read before it is dropped: 4 MiB.
    package static let maximumPendingBytes = 4 << 20

    /// How many bytes may wait before who has much to send waits as well: 1 MiB.
    package static let comfortablePendingBytes = 1 << 20

    /// What is answered in place of an answer that is longer than any may be. The caller's data are not at fault.
    package static let tooLongAnswer = ControlError(
        .internalError, "the answer is longer than \(ControlFrame.maximumLongBytes) bytes, the most that one can have")

    /// The executor whose queue events arrive on.
    package let executor: StreamExecutor

    private let transport: any ByteTransport
    private let maximumBytes: Int
    private var reader = ControlLineReader()
    private var handler: (@Sendable (Event) -> Void)?
    private var isClosing = false
    /// Messages on their way to the queue, and whether the peer has much to read already.
    private let load = Locked((underWay: 0, isCrowded: false))
    private var roomWaiters: [CheckedContinuation<Bool, Never>] = []
    /// What waits behind a message in pieces, that first; and how many bytes of it belong to long messages, and to
    /// others.
    private var waiting: [ControlPieces] = []
    private var waitingBytes = (long: 0, short: 0)
    /// The message in pieces that is being read; `nil` where none is taken.
    private var pieces: ControlPieceReader?

    /// Makes a connection; nothing happens before ``start(_:)``.
    ///
    /// - Parameters:
    ///   - transport: The transport.
    ///   - takesPieces: Whether messages that are longer than a line are taken from the peer.
    ///   - maximumBytes: How long a message to the peer may be, in bytes.
    package init(
        over transport: any ByteTransport, takesPieces: Bool = false,
        maximumBytes: Int = ControlFrame.maximumLongBytes
    ) {
        self.maximumBytes = maximumBytes
        self.transport = transport
        pieces = takesPieces ? ControlPieceReader() : nil
        executor = transport.executor
    }

    /// Begins to deliver events. Called once, on the executor's queue.
    package func start(_ handler: @escaping @Sendable (Event) -> Void) {
        dispatchPrecondition(condition: .onQueue(executor.queue))
        self.handler = handler
        transport.start { [weak self] event in self?.received(event) }
    }

    /// Sends a message; from any thread, in order. One that is too long for a line goes in pieces. In place of an
    /// answer that is too long for that too goes an error; with any other such message the connection ends.
    package func send(_ message: ControlMessage) {
        load.withLock { $0.underWay += 1 }
        executor.queue.async {
            self.sendNow(message)
            self.noteLoad(taken: 1)
        }
    }

    /// How many messages may be under way before there is said to be no room; 100.
    private static let maximumUnderWay = 100

    /// Whether the peer reads as fast as it is written to, as far as is known; from any thread.
    package var hasRoom: Bool { load.withLock { !$0.isCrowded && $0.underWay < Self.maximumUnderWay } }

    private func noteLoad(taken: Int = 0) {
        let isCrowded = !waiting.isEmpty || transport.pendingBytes > Self.comfortablePendingBytes
        load.withLock { load in
            load.underWay -= taken
            load.isCrowded = isCrowded
        }
    }

    /// Waits until the peer has read most of what was sent before.
    ///
    /// - Returns: Whether there is anybody to send more to.
    package func waitForRoom() async -> Bool {
        await withCheckedContinuation { continuation in
            executor.queue.async {
                guard !self.isClosing else { return continuation.resume(returning: false) }
                guard !self.waiting.isEmpty || self.transport.pendingBytes > Self.comfortablePendingBytes else {
                    return continuation.resume(returning: true)
                }
                self.roomWaiters.append(continuation)
            }
        }
    }

    private func endWaiting(_ hasRoom: Bool) {
        let waiters = roomWaiters
        roomWaiters = []
        for waiter in waiters { waiter.resume(returning: hasRoom) }
    }

    /// Says why, writes what is queued, then closes; from any thread.
    package func close(saying error: ControlError? = nil) {
        executor.queue.async { self.closeNow(saying: error) }
    }

    /// Stops or goes on reading; from any thread.
    package func setReading(_ isReading: Bool) {
        executor.queue.async {
            if isReading { self.transport.resumeReading() } else { self.transport.pauseReading() }
        }
    }

    /// Closes at once; from any thread.
    package func abort() {
        executor.queue.async {
            self.isClosing = true
            self.waiting = []
            self.endWaiting(false)
            self.transport.abort()
        }
    }

    private func sendNow(_ message: ControlMessage) {
        guard !isClosing else { return }
        do {
            let line = try ControlFrame.encode(message, maximum: maximumBytes)
            wait(ControlPieces(line))
        } catch {
            guard case .response(let response) = message else { return closeNow(saying: error.controlError) }
            // Whoever waits for the answer must hear that it does not fit.
            return sendNow(.response(ControlResponse(id: response.id, result: .failure(Self.tooLongAnswer))))
        }
        sendWaiting()
        // A long message may wait whole: it has a bound of its own.
        if transport.pendingBytes + waitingBytes.short > Self.maximumPendingBytes
            || waitingBytes.long > maximumBytes
        {
            waiting = []
            closeNow(saying: ControlError(.temporary, "the control client does not read: dropped"))
        }
    }

    private func wait(_ pieces: ControlPieces) {
        waiting.append(pieces)
        if pieces.isLong { waitingBytes.long += pieces.count } else { waitingBytes.short += pieces.count }
    }

    /// Gives the transport as much as it should have at a time: everything, but a long message piece by piece.
    private func sendWaiting() {
        while let first = waiting.first, transport.pendingBytes <= Self.comfortablePendingBytes || !first.isLong {
            guard let line = waiting[0].next() else {
                waiting.removeFirst()
                continue
            }
            let sent = first.count - waiting[0].count
            if first.isLong { waitingBytes.long -= sent } else { waitingBytes.short -= sent }
            transport.send(line)
        }
    }

    private func closeNow(saying error: ControlError?) {
        guard !isClosing else { return }
        isClosing = true
        endWaiting(false)
        for var message in waiting {
            while let line = message.next() { transport.send(line) }
        }
        waiting = []
        if let error, let line = try? ControlFrame.encode(.notification(.goodbye(error))) { transport.send(line) }
        transport.close()
    }

    private func received(_ event: TransportEvent) {
        switch event {
        case .received(let bytes):
            guard !isClosing else { return }
            let (lines, isTooLong) = reader.feed(bytes)
            for line in lines where !isClosing { deliver(line) }
            if isTooLong && !isClosing {
                handler?(.malformed(.tooLong))
                closeNow(saying: ControlFrameError.tooLong.controlError)
            }
        case .drained:
            sendWaiting()
            noteLoad()
            if waiting.isEmpty { endWaiting(true) }
        case .endOfInput:
            closeNow(saying: nil)
        case .closed(let error):
            isClosing = true
            waiting = []
            endWaiting(false)
            let last = handler
            handler = nil
            last?(.closed(error))
        }
    }

    private func deliver(_ line: [UInt8]) {
        do throws(ControlFrameError) {
            var message = try ControlFrame.decode(line)
            if case .notification(let piece) = message, piece.method == ControlPieces.method, pieces != nil {
                guard let whole = try pieces?.take(piece) else { return }
                message = try ControlFrame.decode(whole, maximum: ControlFrame.maximumLongBytes)
            }
            handler?(.message(message))
        } catch {
            handler?(.malformed(error))
        }
    }
}
