// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
public import XMPPXML

/// An id that a server or a room has given to a message (XEP-0359). Anybody can write one: it counts from an entity
/// that is known to give them, and where that entity can vouch for it.
public struct StanzaID: StanzaPayload, Hashable {
    /// The namespace of ids.
    public static let namespace = "urn:xmpp:sid:0"
    /// The name of the `<stanza-id/>` element.
    public static let elementName = ElementName("stanza-id", namespace: namespace)

    /// The id.
    public var id: String
    /// Who gave it.
    public var by: JID

    /// Makes an id.
    public init(_ id: String, by: JID) {
        self.id = id
        self.by = by
    }

    /// Reads a `<stanza-id/>` element; `nil` when it has no id, or nobody who gave it.
    public init?(_ element: Element) {
        guard element.name == Self.elementName, let id = element["id"], !id.isEmpty,
            let by = element["by"].flatMap({ try? JID($0) })
        else { return nil }
        self.init(id, by: by)
    }

    /// The `<stanza-id/>` element.
    public var element: Element {
        Element(Self.elementName, attributes: ["by": by.description, "id": id])
    }
}

/// The id that the sender's client has given to a message, where a service may change the message's own (XEP-0359).
public struct OriginID: StanzaPayload, Hashable {
    /// The name of the `<origin-id/>` element.
    public static let elementName = ElementName("origin-id", namespace: StanzaID.namespace)

    /// The id.
    public var id: String

    /// Makes an id.
    public init(_ id: String) {
        self.id = id
    }

    /// Reads an `<origin-id/>` element; `nil` when it has no id.
    public init?(_ element: Element) {
        guard element.name == Self.elementName, let id = element["id"], !id.isEmpty else { return nil }
        self.id = id
    }

    /// The `<origin-id/>` element.
    public var element: Element { Element(Self.elementName, attributes: ["id": id]) }
}

extension Message {
    /// The id that the sender's client has given.
    public var originID: String? {
        get { payload(OriginID.self)?.id }
        set {
            removePayload(OriginID.self)
            if let newValue { setPayload(OriginID(newValue)) }
        }
    }

    /// The id that an entity has given; `nil` when there is none, or more than one, of which all but one are forged
    /// (XEP-0359 §6).
    ///
    /// Ask only for entities that announce `urn:xmpp:sid:0` and that the message has passed: the room it came from, the
    /// own account for what was not sent to a room.
    public func stanzaID(by jid: JID) -> String? {
        var found: String?
        for case .element(let child) in element.nodes where child.name == StanzaID.elementName {
            guard let id = StanzaID(child), id.by == jid else { continue }
            guard found == nil else { return nil }
            found = id.id
        }
        return found
    }
}
