// SPDX-License-Identifier: Apache-2.0

package import XMPPCore
package import XMPPXML

/// Stream Management (XEP-0198): what the server has handled, what we have, and what is to be repeated when the
/// connection is lost in between.
package struct StreamManagement: Sendable, Equatable {
    /// How many stanzas may be unacknowledged at once before senders have to wait; 1,000.
    package static let maximumUnacknowledged: UInt32 = 1_000
    /// How many bytes of stanzas may be unacknowledged at once before senders have to wait; 8 MiB.
    package static let maximumUnacknowledgedBytes = 8 * 1_048_576
    /// How many stanzas may be unacknowledged in all before the stream is ended; 10,000. Senders wait long before: what
    /// is more are answers to a server that asks and asks, and acknowledges none of them.
    package static let maximumOwed: UInt32 = 10_000
    /// How many bytes of stanzas may be unacknowledged in all before the stream is ended; 16 MiB.
    package static let maximumOwedBytes = 16 * 1_048_576

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
    /// Whether nothing more is handled; see ``leaveTheRest()``.
    package private(set) var isLeavingTheRest = false
    /// Stanzas received and not handled yet.
    private var unhandled: UInt32 = 0
    /// Whether an answer was given that left received stanzas out.
    private var owesAnswer = false
    private var requestedAt: UInt32?
    /// The unacknowledged stanzas, oldest first.
    private var queue: [Entry] = []
    /// How many bytes the unacknowledged stanzas had on the wire.
    package private(set) var unacknowledgedBytes = 0
    /// The name under which the server knows the session; opaque, of any length. `nil` where it cannot be resumed, or
    /// not yet.
    package private(set) var sessionID: String?
    private var location: String?
    private var maximumDuration: Duration?

    /// A stanza that the server has not acknowledged.
    private struct Entry: Sendable, Equatable {
        let stanza: UnacknowledgedStanza
        let bytes: Int
    }

    /// Makes it switched off.
    package init() {}

    /// Takes a session up where it was interrupted, the server having handled `h` stanzas.
    ///
    /// - Returns: `nil` when the server claims more than was sent.
    package init?(resuming state: StreamState, handledByServer h: UInt32) {
        phase = .on
        sessionID = state.id
        location = state.location
        maximumDuration = state.maximumDuration
        handled = state.handled
        acknowledged = state.acknowledged
        sent = state.sent
        queue = state.unacknowledged.map { Entry(stanza: $0, bytes: Self.bytes($0.element)) }
        unacknowledgedBytes = queue.reduce(0) { $0 + $1.bytes }
        guard acknowledge(h) else { return nil }
    }

    /// Makes it switched on with counters as they would be after a long time.
    package init(sent: UInt32, acknowledged: UInt32, handled: UInt32) {
        phase = .on
        self.sent = sent
        self.acknowledged = acknowledged
        self.handled = handled
    }

    /// Whether the server has agreed. Until then stanzas count, and nothing is asked for (XEP-0198 §3).
    package var isOn: Bool { phase == .on }

    /// Whether the server has neither agreed nor refused yet.
    package var isUndecided: Bool { phase == .enabling }

    /// Whether more is unacknowledged than any server needs that acknowledges at all.
    package var owesTooMuch: Bool {
        unacknowledged > Self.maximumOwed || unacknowledgedBytes > Self.maximumOwedBytes
    }

    /// Whether stanzas that are sent count, though the server may not have agreed yet.
    package var isCounting: Bool { phase != .off }

    /// Stanzas sent and not acknowledged.
    package var unacknowledged: UInt32 { sent &- acknowledged }

    /// Whether an answer to `<r/>` is outstanding.
    package var isAwaitingAcknowledgement: Bool { requestedAt != nil }

    /// Asks the server to switch it on. The outbound count starts here (XEP-0198 §4: at sending, not at `<enabled/>`).
    ///
    /// - Parameter isResumable: Whether the server is to keep the session when the connection is lost.
    package mutating func enable(isResumable: Bool = true) -> Element {
        self = StreamManagement()
        phase = .enabling
        return Self.enableRequest(isResumable: isResumable)
    }

    /// `<enable/>`, to be sent by itself or together with the binding (XEP-0198 §9.1).
    package static func enableRequest(isResumable: Bool) -> Element {
        Element("enable", namespace: Namespace.streamManagement, attributes: ["resume": isResumable ? "true" : nil])
    }

    /// Asks the server to resume a session (XEP-0198 §5).
    ///
    /// - Returns: `nil` when it is one that cannot be resumed.
    package static func resume(_ state: StreamState) -> Element? {
        state.id.map {
            Element(
                "resume", namespace: Namespace.streamManagement,
                attributes: ["h": String(state.handled), "previd": $0])
        }
    }

    /// Bytes that a stanza is taken to need where nobody has counted.
    package static let assumedBytes = 256

    /// How many bytes a stanza of an earlier connection had on the wire.
    private static func bytes(_ element: Element) -> Int {
        (try? StreamFraming.document.serialize(element, illegalCharacters: .replace))?.count ?? assumedBytes
    }

    /// Notes that a first-level element was written. Only stanzas count (XEP-0198 §4).
    ///
    /// - Parameters:
    ///   - element: What was written.
    ///   - bytes: How many bytes it had.
    ///   - time: When that was; `nil` where nobody looked at a clock.
    package mutating func sent(_ element: Element, bytes: Int = Self.assumedBytes, at time: DateTime? = nil) {
        guard phase != .off, Self.isStanza(element) else { return }
        sent &+= 1
        queue.append(Entry(stanza: UnacknowledgedStanza(element, sentAt: time), bytes: bytes))
        unacknowledgedBytes += bytes
    }

    /// Notes that a stanza was received; it is not handled yet.
    package mutating func receivedStanza() {
        guard phase == .on else { return }
        unhandled &+= 1
    }

    /// Notes that received stanzas have been handled, whatever became of them.
    ///
    /// - Returns: An `<a/>` where the last answer was given too early to count them.
    @discardableResult
    package mutating func handledStanzas(_ count: UInt32) -> Element? {
        guard phase == .on, !isLeavingTheRest else { return nil }
        handled &+= count
        unhandled -= min(count, unhandled)
        guard owesAnswer, unhandled == 0 else { return nil }
        owesAnswer = false
        return answer
    }

    /// Notes that one received stanza has been handled, whatever became of it.
    package mutating func handledStanza() {
        handledStanzas(1)
    }

    /// The unacknowledged stanzas, oldest first.
    package var pending: [UnacknowledgedStanza] { queue.map(\.stanza) }

    /// Takes the messages out of what is to be sent again on the connection on which a session goes on, those to rooms
    /// excepted. They have not been sent there yet, and count when they are. Nothing is taken where none has a text:
    /// archives have no others (XEP-0313 §5.1.1).
    package mutating func takeMessages() -> [UnacknowledgedStanza] {
        func isDoubtful(_ entry: Entry) -> Bool {
            let element = entry.stanza.element
            return element.localName == "message" && element["type"] != Message.Kind.groupchat.rawValue
        }
        let taken = queue.filter(isDoubtful)
        guard taken.contains(where: { $0.stanza.element.firstChild("body", namespace: Namespace.client) != nil }) else {
            return []
        }
        queue.removeAll(where: isDoubtful)
        sent = acknowledged &+ UInt32(truncatingIfNeeded: queue.count)
        unacknowledgedBytes -= taken.reduce(0) { $0 + $1.bytes }
        return taken.map(\.stanza)
    }

    /// What is needed to go on with the session, or to repeat what may be lost; `nil` where there is neither.
    package func state(of jid: JID) -> StreamState? {
        guard phase != .off, sessionID != nil || !queue.isEmpty else { return nil }
        return StreamState(
            jid: jid, id: sessionID, handled: handled, acknowledged: acknowledged, unacknowledged: pending,
            location: location, maximumDuration: maximumDuration)
    }

    /// From now on nothing more is handled: the server keeps what it sends, and knows by the last count that it has to
    /// (XEP-0198 §4). For the rest of the stream, as a later stanza cannot be acknowledged without those before it.
    package mutating func leaveTheRest() {
        isLeavingTheRest = true
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
            if ["true", "1"].contains(element["resume"]), let id = element["id"], !id.isEmpty {
                sessionID = id
                location = element["location"]
                maximumDuration = element["max"].flatMap(UInt32.init).map { .seconds(Int64($0)) }
            }
            return .enabled
        case ("failed", .enabling):
            self = StreamManagement()
            return .refused
        case ("r", .on):
            owesAnswer = unhandled > 0
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
        guard let h = Self.count(element) else { return .ignored }
        let sent = sent
        return acknowledge(h) ? .acknowledged(h) : .violation(Self.tooHigh(h: h, sent: sent))
    }

    /// Takes the acknowledged stanzas out of the queue. Everything is modulo 2^32, so "too high" is: further from the
    /// last acknowledgement than what was sent.
    private mutating func acknowledge(_ h: UInt32) -> Bool {
        guard h &- acknowledged <= unacknowledged else { return false }
        let leaving = min(queue.count, Int(h &- acknowledged))
        for entry in queue.prefix(leaving) { unacknowledgedBytes -= entry.bytes }
        queue.removeFirst(leaving)
        acknowledged = h
        return true
    }

    /// The count in an element of Stream Management; `nil` when it is none (XEP-0198 §12: an `unsignedInt`).
    package static func count(_ element: Element) -> UInt32? {
        guard let text = element["h"], text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return UInt32(text)
    }

    /// The error for a server that claims to have handled more than was sent (XEP-0198 §4).
    package static func tooHigh(h: UInt32, sent: UInt32) -> StreamError {
        StreamError(
            .undefinedCondition, text: "you acknowledged \(h) stanzas, but \(sent) were sent",
            applicationCondition: Element(
                "handled-count-too-high", namespace: Namespace.streamManagement,
                attributes: ["h": String(h), "send-count": String(sent)]))
    }

    /// Whether an element is one that counts: message, presence or IQ of the content namespace.
    package static func isStanza(_ element: Element) -> Bool {
        element.isNamed("message", namespace: Namespace.client)
            || element.isNamed("presence", namespace: Namespace.client)
            || element.isNamed("iq", namespace: Namespace.client)
    }

    /// Whether an element of which only this is known is one that counts.
    package static func isStanza(_ element: PassedOverElement) -> Bool {
        element.name.namespace == Namespace.client && ["message", "presence", "iq"].contains(element.name.localName)
    }
}
