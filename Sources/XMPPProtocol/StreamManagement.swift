// SPDX-License-Identifier: Apache-2.0

package import XMPPCore
package import XMPPXML

/// Acknowledgements of Stream Management (XEP-0198 §4): what the server has handled, and what we have.
package struct StreamManagement: Sendable, Equatable {
    /// How many stanzas may be unacknowledged at once before senders have to wait; 1,000.
    package static let maximumUnacknowledged: UInt32 = 1_000

    private enum Phase: Sendable, Equatable {
        case off
        case enabling
        case on
    }

    private var phase = Phase.off
    /// Stanzas sent since `<enable/>` was sent, modulo 2^32.
    package private(set) var sent: UInt32 = 0
    /// Of those, the ones that the server has acknowledged, modulo 2^32.
    package private(set) var acknowledged: UInt32 = 0
    /// Stanzas handled since `<enabled/>` was received, modulo 2^32.
    package private(set) var handled: UInt32 = 0
    private var leavesTheRest = false
    private var requestedAt: UInt32?

    /// Makes it switched off.
    package init() {}

    /// Makes it switched on with counters as they would be after a long time.
    package init(sent: UInt32, acknowledged: UInt32, handled: UInt32) {
        phase = .on
        self.sent = sent
        self.acknowledged = acknowledged
        self.handled = handled
    }

    /// Whether the server has agreed. Until then stanzas count, and nothing is asked for (XEP-0198 §3).
    package var isOn: Bool { phase == .on }

    /// Stanzas sent and not acknowledged.
    package var unacknowledged: UInt32 { sent &- acknowledged }

    /// Whether an answer to `<r/>` is outstanding.
    package var isAwaitingAcknowledgement: Bool { requestedAt != nil }

    /// Asks the server to switch it on. The outbound count starts here (XEP-0198 §4: at sending, not at `<enabled/>`).
    package mutating func enable() -> Element {
        self = StreamManagement()
        phase = .enabling
        return Element("enable", namespace: Namespace.streamManagement)
    }

    /// Notes that a first-level element was written. Only stanzas count (XEP-0198 §4).
    package mutating func sent(_ element: Element) {
        guard phase != .off, Self.isStanza(element) else { return }
        sent &+= 1
    }

    /// Notes that a received stanza has been handled, whatever became of it.
    package mutating func handledStanza() {
        guard phase == .on, !leavesTheRest else { return }
        handled &+= 1
    }

    /// From now on nothing more is handled: the server keeps what it sends, and knows by the last count that it has to
    /// (XEP-0198 §4). For the rest of the stream, as a later stanza cannot be acknowledged without those before it.
    package mutating func leaveTheRest() {
        leavesTheRest = true
    }

    /// What a received element of Stream Management means.
    package enum Outcome: Sendable, Equatable {
        /// The server agreed.
        case enabled
        /// The server refused; the session goes on without.
        case refused
        /// This is to be sent back.
        case answer(Element)
        /// The server has handled everything up to this many stanzas since the start, modulo 2^32.
        case acknowledged(UInt32)
        /// Nothing follows from it.
        case ignored
        /// The server counted wrong: the stream ends with this error (XEP-0198 §4).
        case violation(StreamError)
    }

    /// Takes a first-level element in the namespace of Stream Management.
    package mutating func received(_ element: Element) -> Outcome {
        switch (element.localName, phase) {
        case ("enabled", .enabling):
            phase = .on
            return .enabled
        case ("failed", .enabling):
            self = StreamManagement()
            return .refused
        case ("r", .on):
            return .answer(answer)
        case ("a", .on):
            return received(acknowledgement: element)
        default:
            return .ignored
        }
    }

    /// The `<a/>` that says what has been handled.
    package var answer: Element {
        Element("a", namespace: Namespace.streamManagement, attributes: ["h": String(handled)])
    }

    /// An `<r/>` if one is due: something is unacknowledged and no request is outstanding. One request at a time joins
    /// the acknowledgements of a burst.
    package mutating func request() -> Element? {
        guard phase == .on, unacknowledged > 0, requestedAt == nil else { return nil }
        requestedAt = sent
        return Element("r", namespace: Namespace.streamManagement)
    }

    /// An `<r/>` that asks for a sign of life even if nothing is unacknowledged.
    package mutating func probe() -> Element? {
        guard phase == .on, requestedAt == nil else { return nil }
        requestedAt = sent
        return Element("r", namespace: Namespace.streamManagement)
    }

    private mutating func received(acknowledgement element: Element) -> Outcome {
        requestedAt = nil
        // An unusable number says nothing: the queue stays as it is.
        guard let text = element["h"], let h = UInt32(text), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return .ignored
        }
        // Everything is modulo 2^32, so "too high" is: further from the last acknowledgement than what was sent.
        guard h &- acknowledged <= unacknowledged else { return .violation(Self.tooHigh(h: h, sent: sent)) }
        acknowledged = h
        return .acknowledged(h)
    }

    private static func tooHigh(h: UInt32, sent: UInt32) -> StreamError {
        StreamError(
            .undefinedCondition, text: "you acknowledged \(h) stanzas, but \(sent) were sent",
            applicationCondition: Element(
                "handled-count-too-high", namespace: Namespace.streamManagement,
                attributes: ["h": String(h), "send-count": String(sent)]))
    }

    /// Whether an element is one that counts: message, presence or IQ of the content namespace.
    package static func isStanza(_ element: Element) -> Bool {
        guard element.namespace == Namespace.client else { return false }
        switch element.localName {
        case "message", "presence", "iq": return true
        default: return false
        }
    }
}
