// SPDX-License-Identifier: Apache-2.0

public import XMPPCore

/// A message as a conversation sees it: who said what, whether it takes the place of something said before, what others
/// think of it. Everything that clients put around a text is here by name.
///
/// ```swift
/// for try await message in client.messages {
///     let chat = ChatMessage(message, account: account)
///     if let reactions = chat.reactions { show(reactions.emoji, at: reactions.id) }
///     else if let text = chat.text { show(text, from: chat.sender) }
/// }
/// ```
///
/// Whether a correction or a retraction may be followed depends on the message that it concerns: ask ``revises(_:)``,
/// or let a ``ChatTranscript`` do so.
public struct ChatMessage: Sendable, Hashable {
    /// How a message came.
    public enum Source: String, Sendable, Hashable, CaseIterable {
        /// Sent to this client while it was there.
        case live
        /// Kept by the server while nobody was there.
        case offline
        /// A copy of what another client of the account has sent or received (XEP-0280).
        case carbon
        /// From an archive.
        case archive
    }

    /// The namespaces of what is told here, for ``XMPPConfiguration/messageFeatures``.
    public static let features = [
        ChatState.namespace, DisplayedMarkers.namespace, MessageCorrection.elementName.namespace,
        MessageRetraction.namespace, MessageReactions.namespace, MessageReply.namespace, StyledText.namespace,
        OutOfBandData.namespace, StanzaID.namespace, Mention.namespace,
    ]

    /// The stanza; of a copy the one inside.
    public let message: Message
    /// How it came.
    public let source: Source
    /// Whether the account has sent it.
    public let isOutgoing: Bool
    /// The account, without a resource.
    public let account: JID

    /// Takes a message that came to this client, or that it has sent.
    public init(_ message: Message, account: JID, source: Source? = nil) {
        self.message = message
        self.account = account.bare
        isOutgoing = message.kind != .groupchat && (message.from ?? account).bare == account.bare
        self.source = source ?? (Self.wasKept(message, by: account) ? .offline : .live)
    }

    /// Takes a copy of what another client has sent or received.
    public init(_ carbon: MessageCarbon, account: JID) {
        message = carbon.message
        self.account = account.bare
        isOutgoing = carbon.direction == .sent
        source = .carbon
    }

    /// Whether the own server kept the message while nobody was there (XEP-0203 §4, XEP-0160).
    private static func wasKept(_ message: Message, by account: JID) -> Bool {
        guard message.kind != .groupchat, let delay = message.delay else { return false }
        guard let keeper = delay.from else { return true }
        return keeper == account.domain || keeper.bare == account.bare
    }

    // MARK: Who and where

    /// Who sent it: in rooms an address in the room, otherwise a client.
    public var sender: JID { message.from ?? account }

    /// The conversation: the other side's address, in rooms the room's. Private messages within a room are a
    /// conversation with the occupant.
    public var conversation: JID {
        let other = (isOutgoing ? message.to : message.from) ?? account
        return message.hasPayload("x", namespace: MultiUserChat.user) && message.kind != .groupchat ? other : other.bare
    }

    /// The id by which others refer to it: in rooms the one that the room gave, otherwise that of the sender's client.
    public var referenceID: String? {
        message.kind == .groupchat ? message.stanzaID(by: sender.bare) : message.originID ?? message.id
    }

    // MARK: What

    /// What there is to read: the body, without what stands in for reactions, replies and retractions in clients that
    /// do not know them (XEP-0428); `nil` when nothing is left.
    public var text: String? { message.text(withoutFallbackFor: Self.standIns) }

    private static let standIns: Set<String> = [
        MessageReactions.namespace, MessageReply.namespace, MessageRetraction.namespace,
    ]

    /// What the sender does, where the text begins with `/me ` (XEP-0245).
    public var action: String? { text.flatMap { Message.action(in: $0) } }

    /// The text with its styling made out; `nil` where there is none, or the sender wants none (XEP-0393).
    public var styledText: StyledText? { message.isUnstyled ? nil : text.map { StyledText($0) } }

    /// The thread (RFC 6121 §5.2.5).
    public var thread: String? { message.thread }

    /// Whether it takes the place of an earlier message of the same sender (XEP-0308).
    public var isCorrection: Bool { correctedID != nil }

    /// The id of the earlier message, as its sender gave it. One that names itself is no correction.
    public var correctedID: String? {
        guard let id = message.correctedID, id != message.id else { return nil }
        return id
    }

    /// Which earlier message is to be removed (XEP-0424). A moderator's counts from the room itself alone (XEP-0425).
    public var retraction: MessageRetraction? {
        guard let retraction = message.retraction else { return nil }
        let isFromRoom = message.kind == .groupchat && sender.isBare
        return (retraction.moderation != nil) == isFromRoom ? retraction : nil
    }

    /// Whether nothing is left of it: an archive's stand-in for a message that was retracted (XEP-0424 §4).
    public var isRetracted: Bool { message.payload(RetractedMessage.self) != nil }

    /// The sender's reactions to an earlier message; they take the place of those before (XEP-0444).
    public var reactions: MessageReactions? { message.reactions }

    /// To which earlier message it is an answer (XEP-0461).
    public var replyTo: MessageReply? { message.replyTo }

    /// What the sender is doing (XEP-0085).
    public var chatState: ChatState? { message.chatState }

    /// Whom it is addressed to in particular (XEP-0513, XEP-0372).
    public var mentions: [Mention] { message.mentions }

    /// The resources elsewhere that belong to it (XEP-0066).
    public var attachments: [OutOfBandData] { message.attachments }

    /// What the sender asked servers to do with it (XEP-0334).
    public var hints: MessageHints { message.hints }

    /// When it was sent, as whoever kept it says (XEP-0203); `nil` of one that came at once.
    public var delay: DelayedDelivery? { message.delay }

    // MARK: Rules

    /// Whether this correction or retraction may be applied to an earlier message: it is the one that is meant, of the
    /// same conversation, and its sender the same.
    ///
    /// The same is: in a conversation of two, the same account (XEP-0308 §5); in a room, the same occupant by its id
    /// (XEP-0421), or where the room gives none, the same nickname; who has taken a nickname over in between is for the
    /// caller to know. A moderator may remove anybody's (XEP-0425).
    public func revises(_ original: ChatMessage) -> Bool {
        guard conversation == original.conversation, message.kind == original.message.kind else { return false }
        if let retraction {
            guard original.isCalled(retraction.id, byRetraction: true) else { return false }
            return retraction.moderation != nil || isBySameSender(as: original)
        }
        guard let correctedID, original.message.retraction == nil, original.isCalled(correctedID, byRetraction: false)
        else { return false }
        return isBySameSender(as: original)
    }

    /// Whether the message goes by an id: the one that its client gave; a retraction in a room means the one that the
    /// room gave, where it gives any.
    func isCalled(_ id: String, byRetraction: Bool) -> Bool {
        if byRetraction, message.kind == .groupchat, let roomID = referenceID { return roomID == id }
        return message.id == id || message.originID == id
    }

    private func isBySameSender(as original: ChatMessage) -> Bool {
        guard isOutgoing == original.isOutgoing else { return false }
        guard message.kind == .groupchat || conversation.isFull else { return sender.bare == original.sender.bare }
        switch (message.occupantID, original.message.occupantID) {
        case (let id?, let known?): return id == known
        case (nil, nil): return sender == original.sender
        case (nil, _?), (_?, nil): return false
        }
    }
}
