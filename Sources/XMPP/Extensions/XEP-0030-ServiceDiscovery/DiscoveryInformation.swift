// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
public import XMPPXML

/// What an entity is and can do (XEP-0030 §3).
public struct DiscoveryInformation: Sendable, Hashable {
    /// The namespace of requests and answers.
    public static let namespace = "http://jabber.org/protocol/disco#info"

    /// What an entity is.
    public struct Identity: Sendable, Hashable {
        /// The registered category, such as `client` or `server`.
        public var category: String
        /// The registered type within the category, such as `console` or `im`.
        public var type: String
        /// A name for people.
        public var name: String?
        /// The language of the name.
        public var language: String?

        /// Makes an identity.
        public init(category: String, type: String, name: String? = nil, language: String? = nil) {
            self.category = category
            self.type = type
            self.name = name
            self.language = language
        }
    }

    /// What the entity is.
    public var identities: [Identity]
    /// What it can do, as namespaces.
    public var features: [String]
    /// Further data, such as forms (XEP-0128).
    public var extensions: [Element]

    /// Makes information.
    public init(identities: [Identity], features: [String], extensions: [Element] = []) {
        self.identities = identities
        self.features = features
        self.extensions = extensions
    }

    /// Reads a `<query/>` element; `nil` when it is another one. Identities without category or type and features
    /// without name are left out.
    public init?(_ query: Element) {
        guard query.isNamed("query", namespace: Self.namespace) else { return nil }
        identities = []
        features = []
        extensions = []
        for child in query.children {
            switch (child.namespace, child.localName) {
            case (Self.namespace, "identity"):
                guard let category = child["category"], let type = child["type"] else { continue }
                identities.append(
                    Identity(category: category, type: type, name: child["name"], language: child.language))
            case (Self.namespace, "feature"):
                if let feature = child["var"] { features.append(feature) }
            default:
                extensions.append(child)
            }
        }
    }

    /// The `<query/>` element.
    public func element(node: String? = nil) -> Element {
        var query = Element("query", namespace: Self.namespace, attributes: ["node": node])
        for identity in identities {
            var child = Element(
                "identity", namespace: Self.namespace,
                attributes: ["category": identity.category, "type": identity.type, "name": identity.name])
            child.language = identity.language
            query.append(child)
        }
        for feature in features {
            query.append(Element("feature", namespace: Self.namespace, attributes: ["var": feature]))
        }
        for element in extensions { query.append(element) }
        return query
    }
}

/// One entity that belongs to another (XEP-0030 §4).
public struct DiscoveryItem: Sendable, Hashable {
    /// The namespace of requests and answers.
    public static let namespace = "http://jabber.org/protocol/disco#items"

    /// The entity's address.
    public var jid: JID
    /// The node at that address.
    public var node: String?
    /// A name for people.
    public var name: String?

    /// Makes an item.
    public init(jid: JID, node: String? = nil, name: String? = nil) {
        self.jid = jid
        self.node = node
        self.name = name
    }
}
