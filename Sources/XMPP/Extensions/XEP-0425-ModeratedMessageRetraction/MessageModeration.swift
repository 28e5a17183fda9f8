// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
public import XMPPXML

/// That a moderator of a room has a message removed (XEP-0425). It counts from the room itself alone.
public struct MessageModeration: StanzaPayload, Hashable {
    /// The namespace of moderation.
    public static let namespace = "urn:xmpp:message-moderate:1"
    /// The name of the `<moderated/>` element.
    public static let elementName = ElementName("moderated", namespace: namespace)

    /// Who did it: an address in the room; `nil` when that is not told.
    public var by: JID?
    /// The moderator's id in the room (XEP-0421).
    public var occupantID: String?

    /// Makes a moderation.
    public init(by: JID? = nil, occupantID: String? = nil) {
        self.by = by
        self.occupantID = occupantID
    }

    /// Reads a `<moderated/>` element.
    public init?(_ element: Element) {
        guard element.name == Self.elementName else { return nil }
        self.init(
            by: element["by"].flatMap { try? JID($0) },
            occupantID: element.children.lazy.compactMap(OccupantID.init).first?.id)
    }

    /// The `<moderated/>` element.
    public var element: Element {
        var moderated = Element(Self.elementName, attributes: ["by": by?.description])
        if let occupantID { moderated.append(OccupantID(occupantID).element) }
        return moderated
    }
}

extension XMPPStream {
    /// Has a message removed from a room, as its moderator (XEP-0425 §3).
    ///
    /// - Parameters:
    ///   - stanzaID: The id that the room has given to the message (``XMPPCore/Message/stanzaID(by:)``).
    ///   - room: The room's address.
    ///   - reason: Why, for people.
    /// - Throws: ``XMPPError`` as ``request(_:timeout:)``.
    public func moderate(
        _ stanzaID: String, in room: JID, reason: String? = nil
    ) async throws(XMPPError) {
        var moderate = Element("moderate", namespace: MessageModeration.namespace, attributes: ["id": stanzaID])
        moderate.append(Element("retract", namespace: MessageRetraction.namespace))
        if let reason { moderate.append(Element("reason", namespace: MessageModeration.namespace, text: reason)) }
        try await request(IQ(.set, to: room.bare, payload: moderate))
    }
}
