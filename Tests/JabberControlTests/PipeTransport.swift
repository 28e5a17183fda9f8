// SPDX-License-Identifier: Apache-2.0

import Dispatch
import SocketIO

/// One end of a pair of transports in memory: what one end sends the other receives, cut into pieces of a chosen size.
///
/// `@unchecked Sendable`: mutable state is touched on the executor's queue only, which both ends share.
final class PipeTransport: ByteTransport, @unchecked Sendable {
    let executor: StreamExecutor
    private let pieceSize: Int
    private weak var peer: PipeTransport?
    private var handler: (@Sendable (TransportEvent) -> Void)?
    private var early: [TransportEvent] = []
    private var isClosed = false
    /// While true, what is sent stays in ``pendingBytes``: a peer that does not read.
    var isStalled = false
    let peerIsLoopback = true
    private(set) var pendingBytes = 0
    private(set) var wasAborted = false

    private init(executor: StreamExecutor, pieceSize: Int) {
        self.executor = executor
        self.pieceSize = pieceSize
    }

    /// Two ends; keep both alive.
    static func pair(pieceSize: Int = .max) -> (PipeTransport, PipeTransport) {
        let executor = StreamExecutor(label: "pipe")
        let one = PipeTransport(executor: executor, pieceSize: pieceSize)
        let other = PipeTransport(executor: executor, pieceSize: pieceSize)
        one.peer = other
        other.peer = one
        return (one, other)
    }

    func start(_ handler: @escaping @Sendable (TransportEvent) -> Void) {
        dispatchPrecondition(condition: .onQueue(executor.queue))
        self.handler = handler
        for event in early { handler(event) }
        early = []
    }

    func replaceHandler(_ handler: @escaping @Sendable (TransportEvent) -> Void) {
        self.handler = handler
    }

    func send(_ bytes: [UInt8]) {
        dispatchPrecondition(condition: .onQueue(executor.queue))
        guard !isClosed else { return }
        if isStalled {
            pendingBytes += bytes.count
            return
        }
        let target = peer
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = Array(rest.prefix(pieceSize))
            rest = rest.dropFirst(piece.count)
            executor.queue.async { target?.deliver(.received(piece)) }
        }
    }

    func pauseReading() {}
    func resumeReading() {}

    func close() {
        guard !isClosed else { return }
        isClosed = true
        let target = peer
        executor.queue.async {
            target?.deliver(.endOfInput)
            self.deliver(.closed(nil))
        }
    }

    func abort() {
        wasAborted = true
        close()
    }

    private func deliver(_ event: TransportEvent) {
        if let handler { handler(event) } else { early.append(event) }
    }
}
