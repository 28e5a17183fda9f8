// SPDX-License-Identifier: Apache-2.0

public import XMPPXML

/// A request or its answer (RFC 6120 §8.2.3).
public struct IQ: Stanza {
    /// The four types of IQ.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Asks for something.
        case get
        /// Changes something.
        case set
        /// The answer that it worked.
        case result
        /// The answer that it did not.
        case error

        /// Whether an answer is owed.
        public var isRequest: Bool { self == .get || self == .set }
    }

    /// The whole stanza.
    public private(set) var element: Element
    /// The sender.
    public var from: JID? { didSet { element["from"] = from?.description } }
    /// The addressee.
    public var to: JID? { didSet { element["to"] = to?.description } }
    /// The type.
    public let kind: Kind

    /// Makes an IQ.
    ///
    /// - Parameters:
    ///   - kind: The type.
    ///   - to: The addressee; `nil` means the own account.
    ///   - id: The identifier; requests get an unguessable one from the stream.
    ///   - payload: The child; a request has exactly one.
    public init(_ kind: Kind, to: JID? = nil, id: String? = nil, payload: Element? = nil) {
        element = Element(stanza: "iq", to: to, id: id, type: kind.rawValue)
        self.kind = kind
        self.to = to
        if let payload { element.append(payload) }
    }

    /// Reads an IQ.
    ///
    /// - Throws: ``StanzaDecodingError/invalidType(_:)`` when the type is missing or unknown.
    public init(_ element: Element) throws(StanzaDecodingError) {
        var addresses = JIDCache(maximum: 0)
        try self.init(element, &addresses)
    }

    /// Reads it as ``init(_:)`` does, with addresses that may have been prepared before.
    package init(_ element: Element, _ addresses: inout JIDCache) throws(StanzaDecodingError) {
        guard element.isNamed("iq", namespace: Namespace.client) else { throw .notAStanza(element.name) }
        guard let kind = element["type"].flatMap(Kind.init) else { throw .invalidType(element["type"]) }
        self.kind = kind
        from = try element.jid("from", &addresses)
        to = try element.jid("to", &addresses)
        self.element = element
    }

    /// The first child that is not an `<error/>`.
    public var payload: Element? {
        for child in element.eachChild where !child.isNamed("error", namespace: Namespace.client) {
            return child
        }
        return nil
    }

    /// The answer that this request succeeded.
    ///
    /// - Parameter payload: What was asked for; `nil` for an empty result.
    public func result(_ payload: Element? = nil) -> IQ {
        IQ(.result, to: from, id: id, payload: payload)
    }

    /// The answer that this request failed.
    public func failure(_ error: StanzaError) -> IQ {
        var answer = IQ(.error, to: from, id: id)
        answer.append(error.element)
        return answer
    }

    /// Changes the payload; name, `from`, `to` and `type` stay.
    public mutating func withElement(_ change: (inout Element) -> Void) {
        element.changePayload(change)
    }
}
