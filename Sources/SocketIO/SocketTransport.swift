// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Glibc

/// A connected stream socket, TCP or Unix, as a ``ByteTransport``.
///
/// Bytes that are sent in one turn of the queue leave in one write at its end. An event is never delivered from inside
/// a call of ``send(_:)``, ``close()`` or ``abort()``. A transport that its owner drops without closing is aborted.
///
/// Unchecked: all mutable state is confined to the executor's queue, and every method checks that; `deinit` runs when
/// nobody else can reach the state.
package final class SocketTransport: ByteTransport, @unchecked Sendable {
    /// Bytes read in one turn, after which timers and other work of the queue get theirs.
    package static let maximumBytesPerTurn = 65_536
    /// How long ``close()`` waits for the peer to take what is queued and to close its side. Default 5 seconds.
    package static let defaultCloseTimeout: Duration = .seconds(5)
    /// Reads that are acknowledged at once: those of a log-in.
    private static let maximumQuickReads = 32

    enum State {
        case idle
        case open
        case closing
        case closed
    }

    package let executor: StreamExecutor
    /// The peer's address; `nil` when the system does not tell.
    package let peerAddress: SocketAddress?

    package var peerIsLoopback: Bool { peerAddress?.isLoopback ?? false }

    let clock: any StreamClock
    let closeTimeout: Duration
    var state = State.idle
    var descriptor: Descriptor?
    var handler: (@Sendable (TransportEvent) -> Void)?
    var writes: WriteQueue

    var watch: DescriptorWatch?
    var isPaused = false
    /// Whether something was sent after what was received last.
    var hasSentSinceReading = false
    package internal(set) var roundTrips = 0
    var hasInputEnded = false
    var isContinuationScheduled = false
    /// How many more reads are acknowledged at once.
    var quickReadsLeft = 0

    /// Whether the system took less than there was to write.
    var isWriteBlocked = false
    var isFlushScheduled = false
    var hasSaidGoodbye = false
    var writeFailure: TransportError?

    var closeTimer: (any ScheduledTimer)?
    /// This object while it says goodbye, so that its owner need not wait for the end.
    var keepAlive: SocketTransport?
    /// How the transport ended, until a handler has been told.
    var untoldEnd: TransportEvent?

    /// Takes over a connected socket. May be called from anywhere.
    ///
    /// - Parameters:
    ///   - descriptor: A stream socket; it is made non-blocking.
    ///   - executor: Whose queue the transport is confined to.
    ///   - clock: Where time comes from.
    ///   - closeTimeout: How long ``close()`` may take.
    ///   - writes: The queue of bytes to write, with its marks.
    package init(
        _ descriptor: Descriptor, on executor: StreamExecutor, clock: any StreamClock = SystemClock(),
        closeTimeout: Duration = SocketTransport.defaultCloseTimeout, writes: WriteQueue = WriteQueue()
    ) throws(SystemError) {
        try descriptor.prepare()
        let peer = SocketAddress.ask(descriptor) { getpeername($0, $1, $2) }
        if let peer, !peer.isUnix {
            descriptor.disableDelay()
            quickReadsLeft = Self.maximumQuickReads
        }
        self.descriptor = descriptor
        self.executor = executor
        self.clock = clock
        self.closeTimeout = closeTimeout
        self.writes = writes
        peerAddress = peer
        watch = try DescriptorWatch(descriptor.number, for: [], on: executor) { [weak self] in self?.socketIsReady() }
    }

    deinit {
        watch?.cancel()
    }

    package var pendingBytes: Int {
        checkQueue()
        return writes.count
    }

    package func start(_ handler: @escaping @Sendable (TransportEvent) -> Void) {
        checkQueue()
        self.handler = handler
        switch state {
        case .idle: activate()
        case .closed: if untoldEnd != nil { executor.queue.async { self.tellEnd() } }
        case .open, .closing: break
        }
    }

    package func replaceHandler(_ handler: @escaping @Sendable (TransportEvent) -> Void) {
        checkQueue()
        self.handler = handler
    }

    package func send(_ bytes: [UInt8]) {
        checkQueue()
        guard state == .open || state == .idle, writeFailure == nil, !bytes.isEmpty else { return }
        hasSentSinceReading = true
        writes.append(bytes)
        scheduleFlush()
    }

    package func pauseReading() {
        checkQueue()
        isPaused = true
        updateWatch()
    }

    package func resumeReading() {
        checkQueue()
        guard isPaused else { return }
        isPaused = false
        updateWatch()
        scheduleContinuation()
    }

    package func close() {
        checkQueue()
        if state == .idle { activate() }
        guard state == .open else { return }
        state = .closing
        keepAlive = self
        closeTimer = clock.schedule(after: closeTimeout, on: executor) { [weak self] in self?.finish(nil) }
        updateWatch()
        scheduleContinuation()
        scheduleFlush()
    }

    package func abort() {
        checkQueue()
        finish(nil)
    }

    /// Traps when called off the executor's queue: the confinement that makes this class `Sendable`.
    func checkQueue() {
        dispatchPrecondition(condition: .onQueue(executor.queue))
    }

    /// Ends the transport and closes the descriptor.
    func finish(_ error: TransportError?) {
        guard state != .closed else { return }
        state = .closed
        closeTimer?.cancel()
        closeTimer = nil
        watch?.cancel()
        watch = nil
        descriptor = nil
        writes.removeAll()
        untoldEnd = .closed(error)
        executor.queue.async { self.tellEnd() }
        keepAlive = nil
    }

    /// Tells the owner of the end, once; waits for ``start(_:)`` when there is no owner yet.
    private func tellEnd() {
        guard let event = untoldEnd, let handler else { return }
        untoldEnd = nil
        self.handler = nil
        handler(event)
    }
}
