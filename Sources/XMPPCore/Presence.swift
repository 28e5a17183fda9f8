// SPDX-License-Identifier: Apache-2.0

public import XMPPXML

/// A presence stanza (RFC 6121 §4 and §3).
public struct Presence: Stanza {
    /// What a presence stanza says or asks (RFC 6121 §4.7.1).
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The sender is there; written as no `type` at all.
        case available
        /// The sender is no longer there.
        case unavailable
        /// The sender wants to see the addressee's presence.
        case subscribe
        /// The sender lets the addressee see its presence.
        case subscribed
        /// The sender no longer wants to see the addressee's presence.
        case unsubscribe
        /// The addressee no longer sees the sender's presence, or its request is refused.
        case unsubscribed
        /// A server asks for presence; clients never send it.
        case probe
        /// A bounce.
        case error
    }

    /// The finer state of an available resource (RFC 6121 §4.7.2.1).
    public enum Show: String, Sendable, Hashable, CaseIterable {
        /// Temporarily away.
        case away
        /// Interested in chatting.
        case chat
        /// Do not disturb.
        case dnd
        /// Away for longer.
        case xa
    }

    /// The whole stanza.
    public private(set) var element: Element
    /// The sender.
    public var from: JID? { didSet { element["from"] = from?.description } }
    /// The addressee; absent means everybody who may see it.
    public var to: JID? { didSet { element["to"] = to?.description } }

    /// Makes a presence stanza.
    ///
    /// - Parameters:
    ///   - kind: What it says; `available` unless said otherwise.
    ///   - show: The finer state; `nil` means simply available.
    ///   - status: A text for people.
    ///   - priority: −128 to 127; below zero the resource gets no messages for the bare JID.
    ///   - to: The addressee.
    public init(
        _ kind: Kind = .available, show: Show? = nil, status: String? = nil, priority: Int8 = 0, to: JID? = nil
    ) {
        element = Element(stanza: "presence", to: to, id: nil, type: kind == .available ? nil : kind.rawValue)
        self.to = to
        if let show { self.show = show }
        if let status { self.status = status }
        if priority != 0 { self.priority = priority }
    }

    /// Reads a presence stanza.
    ///
    /// - Throws: ``StanzaDecodingError/invalidType(_:)`` for a type that RFC 6121 §4.7.1 does not define: an unknown
    ///   one cannot be taken for "available".
    public init(_ element: Element) throws(StanzaDecodingError) {
        var addresses = JIDCache(maximum: 0)
        try self.init(element, &addresses)
    }

    /// Reads it as ``init(_:)`` does, with addresses that may have been prepared before.
    package init(_ element: Element, _ addresses: inout JIDCache) throws(StanzaDecodingError) {
        guard element.isNamed("presence", namespace: Namespace.client) else { throw .notAStanza(element.name) }
        if let type = element["type"], Kind(rawValue: type) == nil || type == Kind.available.rawValue {
            throw .invalidType(type)
        }
        from = try element.jid("from", &addresses)
        to = try element.jid("to", &addresses)
        self.element = element
    }

    /// What the stanza says; an absent type means available.
    public var kind: Kind {
        get { element["type"].flatMap(Kind.init) ?? .available }
        set { element["type"] = newValue == .available ? nil : newValue.rawValue }
    }

    /// The finer state; `nil` when absent or unknown: simply available.
    public var show: Show? {
        get { childText("show").flatMap { Show(rawValue: $0.trimmedOfXMLWhitespace) } }
        set { setChildText("show", newValue?.rawValue) }
    }

    /// A text for people.
    public var status: String? {
        get { childText("status") }
        set { setChildText("status", newValue) }
    }

    /// The priority; 0 when absent, out of range or not a number (RFC 6121 §4.7.2.3).
    public var priority: Int8 {
        get { childText("priority").flatMap { Int8($0.trimmedOfXMLWhitespace) } ?? 0 }
        set { setChildText("priority", newValue == 0 ? nil : String(newValue)) }
    }

    /// Changes the payload; name, `from`, `to` and `type` stay.
    public mutating func withElement(_ change: (inout Element) -> Void) {
        element.changePayload(change)
    }

    private func childText(_ localName: String) -> String? {
        element.firstChild(localName, namespace: Namespace.client)?.text
    }

    private mutating func setChildText(_ localName: String, _ text: String?) {
        element.removeChildren { $0.isNamed(localName, namespace: Namespace.client) }
        if let text { element.append(Element(localName, namespace: Namespace.client, text: text)) }
    }
}

extension String {
    /// This text without the white space of XML 1.0 (space, tab, line feed, carriage return) at both ends.
    package var trimmedOfXMLWhitespace: String {
        func isWhitespace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }
        guard let first = utf8.first, let last = utf8.last, isWhitespace(first) || isWhitespace(last) else {
            return self
        }
        let start = utf8.firstIndex { !isWhitespace($0) } ?? utf8.endIndex
        let end = utf8.lastIndex { !isWhitespace($0) }.map { utf8.index(after: $0) } ?? utf8.endIndex
        return start < end ? String(self[start..<end]) : ""
    }
}
