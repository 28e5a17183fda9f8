// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
package import SocketIO

/// One of two ends of a connection in memory: what one end sends, the other receives, cut as the test wants it.
///
/// Unchecked: all mutable state is confined to the executor's queue, and every method checks that; `peer` is set once,
/// before the ends are handed out.
package final class ScriptedTransport: ByteTransport, @unchecked Sendable {
    package let executor: StreamExecutor
    /// Bytes that the other end receives at a time; `nil` delivers what was sent in one piece.
    package var sliceBytes: Int?

    private var peer: ScriptedTransport?
    private var handler: (@Sendable (TransportEvent) -> Void)?
    /// Events that wait for a handler, or for reading to go on.
    private var waiting: [TransportEvent] = []
    private var isPaused = false
    private var isClosed = false
    private var hasInputEnded = false

    private init(_ executor: StreamExecutor) {
        self.executor = executor
    }

    /// Makes a connection; each end belongs to its executor.
    package static func pair(
        on first: StreamExecutor, and second: StreamExecutor
    ) -> (ScriptedTransport, ScriptedTransport) {
        let ends = (ScriptedTransport(first), ScriptedTransport(second))
        ends.0.peer = ends.1
        ends.1.peer = ends.0
        return ends
    }

    /// Nothing waits: the other end takes everything.
    package var pendingBytes: Int { 0 }

    /// Memory is as close as loopback.
    package var peerIsLoopback: Bool { true }

    package func start(_ handler: @escaping @Sendable (TransportEvent) -> Void) {
        checkQueue()
        self.handler = handler
        scheduleDelivery()
    }

    package func replaceHandler(_ handler: @escaping @Sendable (TransportEvent) -> Void) {
        checkQueue()
        self.handler = handler
    }

    package func send(_ bytes: [UInt8]) {
        checkQueue()
        guard !isClosed, let peer, !bytes.isEmpty else { return }
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = rest.prefix(max(1, sliceBytes ?? rest.count))
            rest = rest.dropFirst(piece.count)
            peer.arrive(.received(Array(piece)))
        }
    }

    package func pauseReading() {
        checkQueue()
        isPaused = true
    }

    package func resumeReading() {
        checkQueue()
        isPaused = false
        scheduleDelivery()
    }

    package func close() {
        checkQueue()
        end(tellingPeer: .endOfInput, nil)
    }

    package func abort() {
        close()
    }

    /// Closes, and lets the other end see a reset.
    package func reset() {
        checkQueue()
        end(tellingPeer: .closed(TransportError(.connectionLost, "connection reset by peer")), nil)
    }

    private func checkQueue() {
        dispatchPrecondition(condition: .onQueue(executor.queue))
    }

    private func end(tellingPeer event: TransportEvent, _ error: TransportError?) {
        guard !isClosed else { return }
        isClosed = true
        waiting = [.closed(error)]
        isPaused = false
        peer?.arrive(event)
        // The two ends hold each other: this is where they let go.
        peer = nil
        scheduleDelivery()
    }

    /// Takes an event from the other end, whose queue this is called on.
    private func arrive(_ event: TransportEvent) {
        executor.queue.async { [self] in
            guard !isClosed, !hasInputEnded else { return }
            switch event {
            case .endOfInput: hasInputEnded = true
            case .closed:
                isClosed = true
                peer = nil
            case .received, .drained: break
            }
            waiting.append(event)
            deliver()
        }
    }

    private func scheduleDelivery() {
        executor.queue.async { self.deliver() }
    }

    private func deliver() {
        while let handler, let event = waiting.first {
            if isPaused, case .received = event { return }
            waiting.removeFirst()
            if case .closed = event { self.handler = nil }
            handler(event)
        }
    }
}
