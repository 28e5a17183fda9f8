// SPDX-License-Identifier: Apache-2.0

public import XMPPXML

/// What message, presence and IQ have in common (RFC 6120 §8.1).
///
/// A stanza is a typed view of its element: children that this library knows nothing about stay where they are, and
/// come out again when the stanza is sent on.
public protocol Stanza: Sendable, Hashable {
    /// The whole stanza.
    var element: Element { get }
    /// The sender. In a received stanza without `from` the stream has filled in what RFC 6120 §8.1.2.1 says it means.
    var from: JID? { get set }
    /// The addressee; absent means the own account, or the server acting for it.
    var to: JID? { get set }
    /// Reads a stanza.
    ///
    /// - Throws: ``StanzaDecodingError`` when the element is of another kind or an address is not a JID.
    init(_ element: Element) throws(StanzaDecodingError)
    /// Changes the payload of the stanza. Its name, `from`, `to` and `type` have properties of their own and stay as
    /// they are, whatever is done to them here.
    mutating func withElement(_ change: (inout Element) -> Void)
}

extension Stanza {
    /// The identifier that the sender chose; it joins a request and its answer (RFC 6120 §8.1.3).
    public var id: String? {
        get { element["id"] }
        set { withElement { $0["id"] = newValue } }
    }

    /// The language of the stanza's human-readable text (`xml:lang`, RFC 6120 §8.1.5).
    public var language: String? {
        get { element.language }
        set { withElement { $0.language = newValue } }
    }

    /// The first child with this name.
    public func payload(_ localName: String, namespace: String) -> Element? {
        element.firstChild(localName, namespace: namespace)
    }

    /// Whether a child with this name is there.
    public func hasPayload(_ localName: String, namespace: String) -> Bool {
        payload(localName, namespace: namespace) != nil
    }

    /// Appends a child.
    public mutating func append(_ payload: Element) {
        withElement { $0.append(payload) }
    }

    /// Removes the children with this name.
    public mutating func removePayloads(_ localName: String, namespace: String) {
        withElement { $0.removeChildren { $0.isNamed(localName, namespace: namespace) } }
    }

    /// The error that this stanza carries, when it is of type `error` (RFC 6120 §8.3).
    ///
    /// A stanza of type `error` without a usable `<error/>` child yields `undefined-condition`.
    public var error: StanzaError? {
        guard element.hasAttribute("type", "error") else { return nil }
        return element.firstChild("error", namespace: Namespace.client).map { StanzaError($0) }
            ?? StanzaError(.undefinedCondition, kind: .cancel)
    }
}

/// Why an element is not a stanza.
public enum StanzaDecodingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The element has another name or namespace.
    case notAStanza(ElementName)
    /// An address is not a JID (RFC 7622).
    case invalidAddress(attribute: String, reason: JIDError)
    /// The `type` is missing or not one that this kind of stanza has (RFC 6120 §8.2.3).
    case invalidType(String?)

    /// The reason for people.
    public var description: String {
        switch self {
        case .notAStanza(let name): "\(name) is not the stanza that was expected"
        case .invalidAddress(let attribute, let reason): "the attribute “\(attribute)” is not an address: \(reason)"
        case .invalidType(let type?): "“\(type)” is not a type that this stanza can have"
        case .invalidType(nil): "the stanza has no type"
        }
    }
}

extension Element {
    /// The JID in an attribute; `nil` when the attribute is absent.
    package func jid(_ attribute: String) throws(StanzaDecodingError) -> JID? {
        var addresses = JIDCache(maximum: 0)
        return try jid(attribute, &addresses)
    }

    /// The JID in an attribute, prepared or remembered; `nil` when the attribute is absent.
    func jid(_ attribute: String, _ addresses: inout JIDCache) throws(StanzaDecodingError) -> JID? {
        var jid: Result<JID, JIDError>?
        withAttribute(attribute) { octets in
            jid = Result { () throws(JIDError) in try addresses.jid(octets: octets) }
        }
        switch jid {
        case nil: return nil
        case .success(let jid): return jid
        case .failure(let error): throw .invalidAddress(attribute: attribute, reason: error)
        }
    }

    /// Changes a stanza's payload: what the stanza is and whom it is for stays.
    mutating func changePayload(_ change: (inout Element) -> Void) {
        let (name, from, to, type) = (name, self["from"], self["to"], self["type"])
        change(&self)
        if self.name != name { self.name = name }
        if self["from"] != from { self["from"] = from }
        if self["to"] != to { self["to"] = to }
        if self["type"] != type { self["type"] = type }
    }

    /// Makes the empty element of a stanza.
    init(stanza localName: String, to: JID?, id: String?, type: String?) {
        self.init(localName, namespace: Namespace.client)
        self["to"] = to?.description
        self["id"] = id
        self["type"] = type
    }
}
