// SPDX-License-Identifier: Apache-2.0

public import XMPPXML

/// A message (RFC 6121 §5).
public struct Message: Stanza {
    /// What kind of conversation a message belongs to (RFC 6121 §5.2.2).
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// One-to-one chat.
        case chat
        /// A bounce.
        case error
        /// Room chat.
        case groupchat
        /// An alert that expects no reply.
        case headline
        /// A single message; the meaning of an absent or unknown type.
        case normal
    }

    /// The whole stanza.
    public private(set) var element: Element
    /// The sender.
    public var from: JID? { didSet { element["from"] = from?.description } }
    /// The addressee.
    public var to: JID? { didSet { element["to"] = to?.description } }

    /// Makes a message.
    ///
    /// - Parameters:
    ///   - to: The addressee; a bare JID unless one resource is meant.
    ///   - kind: The type; `chat` unless said otherwise.
    ///   - body: The text, without language.
    ///   - id: The identifier; the stream gives one to a message that has none when it is sent.
    public init(to: JID?, kind: Kind = .chat, body: String? = nil, id: String? = nil) {
        element = Element(stanza: "message", to: to, id: id, type: kind == .normal ? nil : kind.rawValue)
        self.to = to
        if let body { self.body = body }
    }

    /// Reads a message.
    public init(_ element: Element) throws(StanzaDecodingError) {
        var addresses = JIDCache(maximum: 0)
        try self.init(element, &addresses)
    }

    /// Reads it as ``init(_:)`` does, with addresses that may have been prepared before.
    package init(_ element: Element, _ addresses: inout JIDCache) throws(StanzaDecodingError) {
        guard element.isNamed("message", namespace: Namespace.client) else { throw .notAStanza(element.name) }
        from = try element.jid("from", &addresses)
        to = try element.jid("to", &addresses)
        self.element = element
    }

    /// The type; ``Kind/normal`` when absent or unknown (RFC 6121 §5.2.2).
    public var kind: Kind {
        get { element["type"].flatMap(Kind.init) ?? .normal }
        set { element["type"] = newValue == .normal ? nil : newValue.rawValue }
    }

    /// The text: the body without `xml:lang` of its own, else the first one. Child elements within it do not count.
    public var body: String? {
        get { text(of: "body") }
        set { setText(of: "body", newValue) }
    }

    /// The subject (RFC 6121 §5.2.4).
    public var subject: String? {
        get { text(of: "subject") }
        set { setText(of: "subject", newValue) }
    }

    /// The conversation thread's identifier (RFC 6121 §5.2.5).
    public var thread: String? {
        get { text(of: "thread") }
        set { setText(of: "thread", newValue) }
    }

    /// Bodies by language; the key is empty for a body without `xml:lang` (RFC 6121 §5.2.3).
    public var bodies: [String: String] {
        Dictionary(
            element.children("body", namespace: Namespace.client).map { ($0.language ?? "", $0.text) },
            uniquingKeysWith: { first, _ in first })
    }

    /// An answer: to the sender, of the same type and in the same thread. In a room it goes to the room.
    ///
    /// A message without a sender is answered to nobody: the own account. A stream that knows whether the sender is
    /// still there has a method of its own to answer.
    public func reply(_ body: String) -> Message {
        var answer = Message(
            to: kind == .groupchat ? from?.bare : from, kind: kind == .error ? .normal : kind, body: body)
        answer.thread = thread
        return answer
    }

    /// Changes the payload; name, `from`, `to` and `type` stay.
    public mutating func withElement(_ change: (inout Element) -> Void) {
        element.changePayload(change)
    }

    private func text(of localName: String) -> String? {
        var first: Element?
        for child in element.eachChild where child.isNamed(localName, namespace: Namespace.client) {
            guard child.language != nil else { return child.text }
            first = first ?? child
        }
        return first?.text
    }

    private mutating func setText(of localName: String, _ text: String?) {
        element.removeChildren { $0.isNamed(localName, namespace: Namespace.client) && $0.language == nil }
        if let text { element.append(Element(localName, namespace: Namespace.client, text: text)) }
    }
}
