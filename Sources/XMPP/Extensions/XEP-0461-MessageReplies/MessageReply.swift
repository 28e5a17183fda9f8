// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
public import XMPPXML

/// To which earlier message one is an answer (XEP-0461).
public struct MessageReply: StanzaPayload, Hashable {
    /// The namespace of replies.
    public static let namespace = "urn:xmpp:reply:0"
    /// The name of the `<reply/>` element.
    public static let elementName = ElementName("reply", namespace: namespace)

    /// The id of the earlier message: as its sender gave it, in rooms as the room gave it.
    public var id: String
    /// Who wrote that message.
    public var to: JID?

    /// Makes a reply.
    public init(_ id: String, to: JID? = nil) {
        self.id = id
        self.to = to
    }

    /// Reads a `<reply/>` element; `nil` when it names no message.
    public init?(_ element: Element) {
        guard element.name == Self.elementName, let id = element["id"], !id.isEmpty else { return nil }
        self.init(id, to: element["to"].flatMap { try? JID($0) })
    }

    /// The `<reply/>` element.
    public var element: Element {
        Element(Self.elementName, attributes: ["to": to?.description, "id": id])
    }
}

extension Message {
    /// To which earlier message this one is an answer; `nil` when it does not say.
    public var replyTo: MessageReply? {
        get { payload(MessageReply.self) }
        set {
            removePayload(MessageReply.self)
            if let newValue { setPayload(newValue) }
        }
    }

    /// An answer to this very message, with its text as a quotation for clients that know nothing of replies.
    ///
    /// - Parameter body: The answer.
    /// - Returns: As ``reply(_:)``; without the reference where this message has no id to refer to, as in rooms without
    ///   ids of their own (XEP-0461 §4.1).
    public func quotingReply(_ body: String) -> Message {
        var answer = reply(body)
        let id = kind == .groupchat ? from.flatMap { stanzaID(by: $0.bare) } : originID ?? self.id
        guard let id else { return answer }
        answer.replyTo = MessageReply(id, to: from)
        guard let text = text(withoutFallbackFor: [MessageReply.namespace]), !text.isEmpty else { return answer }
        let quotation = Self.quotation(of: text)
        answer.body = quotation + body
        answer.append(
            FallbackIndication(
                for: MessageReply.namespace, body: [.part(0..<quotation.unicodeScalars.count)]
            ).element)
        return answer
    }

    /// A text with `> ` before each of its lines. Whatever another client may show as the end of a line is one here:
    /// what comes behind it would look like the user's own words. A carriage return and its line feed, one `Character`,
    /// are one end.
    private static func quotation(of text: String) -> String {
        var quotation = "> "
        var last: Unicode.Scalar?
        for scalar in text.unicodeScalars {
            if !Character(scalar).isNewline {
                quotation.unicodeScalars.append(scalar)
            } else if scalar != "\n" || last != "\r" {
                quotation += "\n> "
            }
            last = scalar
        }
        return quotation + "\n"
    }
}
