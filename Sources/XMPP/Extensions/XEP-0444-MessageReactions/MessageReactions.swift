// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
public import XMPPXML

/// All reactions of one sender to a message; they take the place of those before (XEP-0444).
public struct MessageReactions: StanzaPayload, Hashable {
    /// The namespace of reactions.
    public static let namespace = "urn:xmpp:reactions:0"
    /// The name of the `<reactions/>` element.
    public static let elementName = ElementName("reactions", namespace: namespace)
    /// How many different reactions are read; 64. More are passed over.
    public static let maximumReactions = 64
    /// How long a reaction may be; 64 bytes of UTF-8. A longer one is no emoji, and is passed over.
    public static let maximumBytes = 64

    /// The id of the message: as its sender gave it, in rooms as the room gave it.
    public var id: String
    /// The reactions, each once; none takes all back.
    public private(set) var emoji: [String]

    /// Makes reactions; doubles and what is too long are left out.
    public init(to id: String, _ emoji: [String]) {
        self.id = id
        self.emoji = []
        var seen: Set<String> = []
        for text in emoji {
            let text = text.trimmedOfXMLWhitespace
            guard !text.isEmpty, text.utf8.count <= Self.maximumBytes, self.emoji.count < Self.maximumReactions,
                seen.insert(text).inserted
            else { continue }
            self.emoji.append(text)
        }
    }

    /// Reads a `<reactions/>` element; `nil` when it names no message.
    public init?(_ element: Element) {
        guard element.name == Self.elementName, let id = element["id"], !id.isEmpty else { return nil }
        self.init(to: id, element.children("reaction", namespace: Self.namespace).map(\.text))
    }

    /// The `<reactions/>` element.
    public var element: Element {
        Element(
            Self.elementName.localName, namespace: Self.namespace, attributes: ["id": id],
            children: emoji.map { Element("reaction", namespace: Self.namespace, text: $0) })
    }
}

extension Message {
    /// The sender's reactions to an earlier message; `nil` when it has none, nor takes any back.
    public var reactions: MessageReactions? { payload(MessageReactions.self) }

    /// Reactions to an earlier message, in place of all before; none takes them back.
    ///
    /// - Parameters:
    ///   - emoji: The reactions.
    ///   - id: The id of the message: as its sender gave it, in rooms as the room gave it.
    ///   - jid: The other side of the conversation.
    ///   - kind: The type of the conversation's messages.
    public static func reactions(_ emoji: [String], to id: String, in jid: JID, kind: Kind = .chat) -> Message {
        var message = Message(to: jid, kind: kind)
        message.setPayload(MessageReactions(to: id, emoji))
        message.hints = .store
        return message
    }
}
