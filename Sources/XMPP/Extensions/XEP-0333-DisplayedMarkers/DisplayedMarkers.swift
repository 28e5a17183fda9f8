// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
internal import XMPPXML

/// Displayed Markers (XEP-0333).
public enum DisplayedMarkers {
    /// The namespace of markers.
    public static let namespace = "urn:xmpp:chat-markers:0"
}

extension Message {
    /// Whether the sender wants to know that the message has been displayed.
    public var isMarkable: Bool {
        get { hasPayload("markable", namespace: DisplayedMarkers.namespace) }
        set {
            removePayloads("markable", namespace: DisplayedMarkers.namespace)
            if newValue { append(Element("markable", namespace: DisplayedMarkers.namespace)) }
        }
    }

    /// The id of the message up to which everything has been displayed; `nil` when it is no marker. In rooms it is the
    /// id that the room has given.
    public var displayedID: String? {
        get { payload("displayed", namespace: DisplayedMarkers.namespace)?["id"] }
        set {
            removePayloads("displayed", namespace: DisplayedMarkers.namespace)
            guard let newValue else { return }
            append(Element("displayed", namespace: DisplayedMarkers.namespace, attributes: ["id": newValue]))
        }
    }
}

extension XMPPStream {
    /// Tells who has sent messages that they have been displayed, up to this one (XEP-0333 §4.2). Somebody who may not
    /// see the user's presence is told nothing, as it would show that the user is there.
    ///
    /// - Parameters:
    ///   - message: The last message displayed. One that asks for no marker gets none, except in rooms.
    /// - Returns: Whether anything was sent.
    /// - Throws: ``XMPPError`` as ``send(_:)-(Message)``.
    @discardableResult
    public func sendDisplayed(_ message: Message) async throws(XMPPError) -> Bool {
        guard let from = message.from, message.displayedID == nil, message.kind != .error, mayKnowOfUser(from),
            from.bare != account.bare
        else { return false }
        let isInRoom = message.kind == .groupchat
        guard isInRoom || message.isMarkable, let id = isInRoom ? message.stanzaID(by: from.bare) : message.id else {
            return false
        }
        // To the client that asks: where it is gone, the server hands it to the others as it would anyway (RFC 6121
        // §8.5.3.2).
        var marker = Message(to: isInRoom ? from.bare : from, kind: isInRoom ? .groupchat : .chat)
        marker.displayedID = id
        marker.thread = message.thread
        marker.hints = .store
        try await send(marker)
        return true
    }
}

extension StanzaRoutes {
    /// Takes markers for messages that were sent to who marks them (XEP-0333 §5): nobody else can have seen them.
    mutating func addDisplayedMarkers() {
        addMessage(
            "displayed", namespace: DisplayedMarkers.namespace, from: .anyone, feature: nil
        ) { (stream, message, marker) in
            guard let id = marker["id"], let from = message.from, message.body == nil else { return .delivered }
            let counts =
                message.kind == .groupchat
                ? stream.isBelieved(from, by: .room) : stream.sentMessages.wasSent(id: id, to: from)
            return counts ? .event(.displayed(messageID: id, from: from)) : .dropped
        }
    }
}
