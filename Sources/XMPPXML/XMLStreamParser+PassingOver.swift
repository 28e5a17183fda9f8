// SPDX-License-Identifier: Apache-2.0

/// A first-level element that is passed over.
struct PassedElement {
    /// What is known of it.
    var known: PassedOverElement
    /// Reads its start tag, where the limit was passed within that.
    var reader: StartTagReader?
}

/// Elements that have passed a limit (``XMLLimits/maximumPassedOverBytes``): each is framed to its end, byte by byte as
/// any other, so that what comes behind it is found; libxml2 never sees the rest, and forgets what it has seen.
extension XMLStreamParser {
    /// The current element has passed a limit: what it is, is noted, and no more of it is kept.
    func beginPassingOver(
        _ bytes: UnsafeBufferPointer<UInt8>, _ start: inout Int, _ outcome: inout Outcome
    ) {
        // What came before the limit may hold an error: that one counts, wherever the bytes were cut.
        handOver(bytes, &start, &outcome)
        guard failure == nil else { return }
        if let head = sax.head {
            passed = PassedElement(known: PassedOverElement(head: head))
            renew()
        } else {
            dropStalePending()
            var reader = StartTagReader(root: header)
            for byte in pending { reader.take(byte) }
            for byte in bytes[max(start, framer.unitStart)..<framer.position] { reader.take(byte) }
            passed = PassedElement(known: PassedOverElement(ElementName("", namespace: "")), reader: reader)
        }
        pending = []
        start = framer.position
        framer.isPassingOver = true
    }

    /// Takes what was framed of an element that is passed over. Returns whether that has ended, and brought its event.
    func hasEndedPassing(
        _ bytes: UnsafeBufferPointer<UInt8>, _ start: inout Int, _ stop: StreamFramer.Stop, _ outcome: inout Outcome
    ) -> Bool {
        for byte in bytes[start..<framer.position] {
            guard passed?.reader?.isDone == false else { break }
            passed?.reader?.take(byte)
        }
        start = framer.position
        switch stop {
        case .end:
            return false
        case .limit(let error), .error(let error):
            failure = error
            return false
        case .unit:
            guard let passed else { return false }
            var known = passed.reader?.element ?? passed.known
            known.bytes = framer.position - framer.unitStart
            outcome.events.append(.passedOver(known))
            self.passed = nil
            framer.isPassingOver = false
            return true
        }
    }
}
