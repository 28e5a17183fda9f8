// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
public import XMPPXML

/// That somebody asks the user into a room, directly (XEP-0249). Nobody enters a room because of it but the user.
public struct RoomInvitation: StanzaPayload, Hashable {
    /// The namespace of direct invitations.
    public static let namespace = "jabber:x:conference"
    /// The name of the `<x/>` element.
    public static let elementName = ElementName("x", namespace: namespace)

    /// The room.
    public var room: JID
    /// What opens its door, where it has a lock.
    public var password: String?
    /// Why, for people.
    public var reason: String?
    /// The conversation that goes on in the room; `nil` where none does.
    public var thread: String?
    /// Who asks: the sender; of an invitation that the room has passed on, whom the room names. Not part of the
    /// element.
    public var from: JID?

    /// Makes an invitation.
    public init(_ room: JID, password: String? = nil, reason: String? = nil, thread: String? = nil) {
        self.room = room.bare
        self.password = password
        self.reason = reason
        self.thread = thread
    }

    /// Reads an `<x/>` element; `nil` when it names no room.
    public init?(_ element: Element) {
        guard element.name == Self.elementName, let room = element["jid"].flatMap({ try? JID($0) }),
            room.localpart != nil
        else { return nil }
        self.init(
            room, password: element["password"], reason: element["reason"],
            thread: element["continue"] == "true" || element["continue"] == "1" ? element["thread"] : nil)
    }

    /// The `<x/>` element.
    public var element: Element {
        Element(
            Self.elementName,
            attributes: [
                "jid": room.description, "password": password, "reason": reason,
                "continue": thread == nil ? nil : "true", "thread": thread,
            ])
    }
}

extension XMPPStream {
    /// Asks somebody into a room (XEP-0249 §2).
    ///
    /// - Throws: ``XMPPError`` as ``send(_:)-(Message)``.
    public func invite(_ jid: JID, _ invitation: RoomInvitation) async throws(XMPPError) {
        var message = Message(to: jid, kind: .normal)
        message.setPayload(invitation)
        try await send(message)
    }
}

extension StanzaRoutes {
    /// Surfaces invitations, of strangers too: whether to follow one is the user's to say (XEP-0249 §5).
    mutating func addDirectInvitations() {
        addMessage(
            "x", namespace: RoomInvitation.namespace, from: .anyone, feature: RoomInvitation.namespace
        ) { (_, message, element) in
            // Rooms write the same element into messages that they pass on; those are no direct invitations.
            guard message.kind != .groupchat, var invitation = RoomInvitation(element) else { return .delivered }
            invitation.from = message.from
            return .event(.invitation(invitation))
        }
    }
}
