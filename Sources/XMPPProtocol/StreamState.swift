// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
public import XMPPXML

/// What is left of a session whose connection was lost: enough to go on with it on another connection (XEP-0198 §5), or
/// to repeat what the server may not have got.
public struct StreamState: Sendable, Hashable {
    /// The full address of the session.
    public var jid: JID
    /// The name under which the server knows the session: opaque, and together with the password as good as the session
    /// itself. `nil` where it cannot be resumed; ``unacknowledged`` is repeated in the next one then.
    public var id: String?
    /// How many stanzas of the server were handled, modulo 2^32.
    public var handled: UInt32
    /// How many stanzas the server has acknowledged, modulo 2^32.
    public var acknowledged: UInt32
    /// The stanzas that were sent after those, oldest first.
    public var unacknowledged: [UnacknowledgedStanza]
    /// Messages of earlier sessions of which nobody knows whether the server has them; they are sent again, or found to
    /// have arrived, before they are forgotten.
    public var unsettled: [UnacknowledgedStanza] = []
    /// Where the server would like to be asked for the session, as `host:port`.
    public var location: String?
    /// For how long the server keeps the session after the connection was lost; `nil` where it did not say.
    public var maximumDuration: Duration?

    /// Makes a state.
    public init(
        jid: JID, id: String?, handled: UInt32 = 0, acknowledged: UInt32 = 0,
        unacknowledged: [UnacknowledgedStanza] = [], location: String? = nil, maximumDuration: Duration? = nil
    ) {
        self.jid = jid
        self.id = id
        self.handled = handled
        self.acknowledged = acknowledged
        self.unacknowledged = unacknowledged
        self.location = location
        self.maximumDuration = maximumDuration
    }

    /// How many stanzas were sent, modulo 2^32.
    var sent: UInt32 { acknowledged &+ UInt32(truncatingIfNeeded: unacknowledged.count) }

    /// How many bytes of a stanza every server takes (RFC 6120 §13.12).
    package static let guaranteedBytes = 10_000

    /// How many bytes the largest unacknowledged stanza has in a stream; `nil` where every server has to take them all.
    package var largestBytes: Int? {
        unacknowledged.lazy
            .compactMap { try? StreamFraming.document.serialize($0.element, illegalCharacters: .replace).count }
            .max().flatMap { $0 > Self.guaranteedBytes ? $0 : nil }
    }

    /// Whether there is nothing to resume and nothing to repeat.
    var isEmpty: Bool { id == nil && unacknowledged.isEmpty && unsettled.isEmpty }

    /// Takes out what the server has handled after all.
    ///
    /// - Returns: Whether that is possible: `false` when it claims more than was sent (XEP-0198 §4).
    mutating func acknowledge(_ h: UInt32) -> Bool {
        let count = h &- acknowledged
        guard count <= UInt32(truncatingIfNeeded: unacknowledged.count) else { return false }
        unacknowledged.removeFirst(Int(count))
        acknowledged = h
        return true
    }
}

extension StreamState: CustomStringConvertible, CustomDebugStringConvertible {
    /// Whose session it is and how much waits; never the name of the session.
    public var description: String {
        "\(id == nil ? "the remains" : "the session") of \(jid), \(unacknowledged.count) unacknowledged"
    }

    /// Whose session it is and how much waits; never the name of the session.
    public var debugDescription: String { description }
}

/// A stanza that was sent and that the server has not acknowledged.
public struct UnacknowledgedStanza: Sendable, Hashable {
    /// The stanza as it was sent.
    public var element: Element
    /// When it was sent first; `nil` where nobody looked at a clock.
    public var sentAt: DateTime?

    /// Makes one.
    public init(_ element: Element, sentAt: DateTime? = nil) {
        self.element = element
        self.sentAt = sentAt
    }

    /// The stanza as it is sent in another session: with the time at which it was sent first (XEP-0203 §4). A stamp
    /// that it has already is older.
    package func repeated(from jid: JID) -> Element {
        guard let sentAt, element.firstChild("delay", namespace: Namespace.delay) == nil else { return element }
        var copy = element
        copy.append(
            Element(
                "delay", namespace: Namespace.delay,
                attributes: ["from": jid.description, "stamp": sentAt.description]))
        return copy
    }
}

/// What became of a session that the server did not resume.
public struct FailedResumption: Sendable, Hashable {
    /// Why, where the server said so: usually `item-not-found`, for a session that has expired.
    public var condition: StanzaError.Condition?
    /// The messages that the server has not acknowledged. They are sent again in the new session, with the same ids and
    /// the time at which they were sent first (XEP-0203); see ``isCertain`` for whether the addressee may get them
    /// twice.
    public var repeated: [Message]
    /// Whether the server has said how far it had come, so that it is certain that it lacks the messages in
    /// ``repeated``. Otherwise it may have them, and unless an archive tells (XEP-0313) the addressee may get them
    /// twice.
    public var isCertain: Bool
    /// The other stanzas that the server has not acknowledged: presences and requests. They are not sent again.
    public var dropped: [Element]

    /// Makes one.
    public init(
        condition: StanzaError.Condition? = nil, repeated: [Message] = [], isCertain: Bool = false,
        dropped: [Element] = []
    ) {
        self.condition = condition
        self.repeated = repeated
        self.isCertain = isCertain
        self.dropped = dropped
    }
}
