// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
internal import XMPPXML

/// What somebody is doing in a conversation (XEP-0085).
public enum ChatState: String, Sendable, Hashable, CaseIterable {
    /// The namespace of states.
    public static let namespace = "http://jabber.org/protocol/chatstates"

    /// Paying attention.
    case active
    /// Writing.
    case composing
    /// Writing no more, with something unsent.
    case paused
    /// Not paying attention.
    case inactive
    /// Has left the conversation.
    case gone
}

extension Message {
    /// What the sender is doing; `nil` when that is not told. It stands alone, or beside a body.
    public var chatState: ChatState? {
        get {
            for case .element(let child) in element.nodes where child.namespace == ChatState.namespace {
                return ChatState(rawValue: child.localName)
            }
            return nil
        }
        set {
            withElement { $0.removeChildren { $0.namespace == ChatState.namespace } }
            if let newValue { append(Element(newValue.rawValue, namespace: ChatState.namespace)) }
        }
    }
}

extension XMPPStream {
    /// Tells what the user is doing in a conversation (XEP-0085 §5). Somebody who may not see the user's presence is
    /// told nothing.
    ///
    /// - Returns: Whether anything was sent.
    /// - Throws: ``XMPPError`` as ``send(_:)-(Message)``.
    @discardableResult
    public func sendChatState(_ state: ChatState, to jid: JID) async throws(XMPPError) -> Bool {
        guard mayKnowOfUser(jid) else { return false }
        // XEP-0085 §5.5: nobody in a room needs to know that somebody has left the conversation.
        let isRoom = jid.isBare && isBelieved(jid, by: .room)
        guard !isRoom || state != .gone else { return false }
        var message = Message(to: jid, kind: isRoom ? .groupchat : .chat)
        message.chatState = state
        message.hints = .noStore
        try await send(message)
        return true
    }
}
