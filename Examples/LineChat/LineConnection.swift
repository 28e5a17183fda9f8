// SPDX-License-Identifier: Apache-2.0

import ExampleSockets

/// Lines in both directions over a pair of streams. It is the pair's delegate, and keeps what does not fit at once.
@MainActor
final class LineConnection: StreamPairDelegate {
    /// What happens.
    enum Event: Hashable {
        /// Lines may be sent.
        case opened
        /// A line came.
        case line(LineBuffer.Line)
        /// The connection is over; why, for people.
        case ended(String)
    }

    /// Bytes that may wait for a peer that does not read; 1 MiB.
    static let maximumWaitingBytes = 1_048_576

    let pair: StreamPair
    /// Hears everything, in order; ``Event/ended(_:)`` is the last.
    var handler: (Event) -> Void = { _ in }
    /// How often the send buffer was full and had space again.
    private(set) var pauses = 0
    private var incoming = LineBuffer()
    private var waiting: [UInt8] = []

    init(_ pair: StreamPair = StreamPair()) {
        self.pair = pair
        pair.delegate = self
    }

    /// Sends a line. What does not fit into the send buffer waits here.
    ///
    /// - Returns: Whether it was taken; not when too much waits already.
    @discardableResult
    func send(_ line: String) -> Bool {
        let bytes = Array((line.filter { !$0.isNewline } + "\n").utf8)
        guard waiting.count + bytes.count <= Self.maximumWaitingBytes else { return false }
        let mustWait = !waiting.isEmpty
        waiting += bytes
        // While older bytes wait, newer ones must not overtake them.
        if !mustWait { flush() }
        return true
    }

    private func flush() {
        waiting.removeFirst(pair.write(waiting))
    }

    func streams(_ pair: StreamPair, handle event: StreamEvent) {
        switch event {
        case .opened:
            handler(.opened)
        case .bytesAvailable:
            for line in incoming.feed(pair.read()) { handler(.line(line)) }
        case .spaceAvailable:
            pauses += 1
            flush()
        case .failed(let error):
            handler(.ended(error.description))
        case .ended:
            handler(.ended(incoming.hasHalfLine ? "the peer ended in the middle of a line" : "the peer has gone"))
        }
    }
}
