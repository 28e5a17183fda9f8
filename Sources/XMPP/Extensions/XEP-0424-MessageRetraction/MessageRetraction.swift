// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
public import XMPPXML

/// That an earlier message is to be removed (XEP-0424), by its author or by a moderator of the room (XEP-0425).
public struct MessageRetraction: StanzaPayload, Hashable {
    /// The namespace of retractions.
    public static let namespace = "urn:xmpp:message-retract:1"
    /// The name of the `<retract/>` element.
    public static let elementName = ElementName("retract", namespace: namespace)

    /// The id of the message: as its sender gave it, in rooms as the room gave it.
    public var id: String
    /// Which moderator did it; `nil` when it was the author.
    public var moderation: MessageModeration?
    /// Why, for people.
    public var reason: String?

    /// Makes a retraction.
    public init(_ id: String, moderation: MessageModeration? = nil, reason: String? = nil) {
        self.id = id
        self.moderation = moderation
        self.reason = reason
    }

    /// Reads a `<retract/>` element; `nil` when it names no message.
    public init?(_ element: Element) {
        guard element.name == Self.elementName, let id = element["id"], !id.isEmpty else { return nil }
        self.init(id)
        moderation = element.children.lazy.compactMap(MessageModeration.init).first
        reason = element.firstChild("reason", namespace: Self.namespace)?.text
    }

    /// The `<retract/>` element.
    public var element: Element {
        var retract = Element(Self.elementName, attributes: ["id": id])
        if let moderation { retract.append(moderation.element) }
        if let reason { retract.append(Element("reason", namespace: Self.namespace, text: reason)) }
        return retract
    }
}

/// What an archive has in place of a message that was retracted (XEP-0424 §4).
public struct RetractedMessage: StanzaPayload, Hashable {
    /// The name of the `<retracted/>` element.
    public static let elementName = ElementName("retracted", namespace: MessageRetraction.namespace)

    /// The id of the message that retracted it.
    public var id: String?
    /// When that was.
    public var stamp: DateTime?

    /// Makes a tombstone.
    public init(id: String? = nil, stamp: DateTime? = nil) {
        self.id = id
        self.stamp = stamp
    }

    /// Reads a `<retracted/>` element.
    public init?(_ element: Element) {
        guard element.name == Self.elementName else { return nil }
        self.init(id: element["id"], stamp: element["stamp"].flatMap(DateTime.init))
    }

    /// The `<retracted/>` element.
    public var element: Element {
        Element(Self.elementName, attributes: ["stamp": stamp?.description, "id": id])
    }
}

extension Message {
    /// What clients that know nothing of retractions show.
    static let retractionFallback = "/me retracted a previous message, but it's unsupported by your client."

    /// Which earlier message is to be removed; `nil` when it is no retraction.
    public var retraction: MessageRetraction? { payload(MessageRetraction.self) }

    /// A request to remove an earlier message (XEP-0424 §3). It cannot be enforced.
    ///
    /// - Parameters:
    ///   - id: The id of the message: as its sender gave it, in rooms as the room gave it.
    ///   - jid: To whom it was sent.
    ///   - kind: The type that it had.
    public static func retraction(of id: String, to jid: JID, kind: Kind = .chat) -> Message {
        var message = Message(to: jid, kind: kind, body: retractionFallback)
        message.setPayload(MessageRetraction(id))
        message.append(FallbackIndication(for: MessageRetraction.namespace).element)
        message.hints = .store
        return message
    }
}
