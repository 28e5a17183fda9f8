// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
public import XMPPXML

/// A program that has access to the account, as the server knows it (XEP-0494 §3.1).
public struct AccountClient: Sendable, Hashable {
    /// What kind of access it has used.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// It has logged in.
        case session
        /// It was given access, and has not logged in.
        case access
    }

    /// What it may do: an open vocabulary.
    public struct Permission: RawRepresentable, Sendable, Hashable {
        /// The word on the wire.
        public let rawValue: String

        /// Takes a word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Everything.
        public static let unrestricted = Permission(rawValue: "unrestricted")
        /// What is usual; the account itself may be beyond its reach.
        public static let normal = Permission(rawValue: "normal")
        /// Less than that.
        public static let restricted = Permission(rawValue: "restricted")
    }

    /// The server's name for it, which ``XMPPStream/revokeAccess(of:)`` takes.
    public var id: String
    /// What kind of access it has used.
    public var kind: Kind
    /// Whether it has a session, be it one that waits to be resumed.
    public var isConnected: Bool
    /// When it was given access.
    public var firstSeen: DateTime?
    /// When it last used that.
    public var lastSeen: DateTime?
    /// What it has proven itself with: `password`, `grant`, `fast`, or what a server has besides.
    public var authentication: [String]
    /// What it may do; `nil` where the server does not say.
    public var permission: Permission?
    /// The name of the program; it says so itself.
    public var software: String?
    /// Where there is more about the program.
    public var uri: String?
    /// The name of the machine.
    public var device: String?

    /// Makes a client.
    public init(
        _ id: String, kind: Kind = .session, isConnected: Bool = false, firstSeen: DateTime? = nil,
        lastSeen: DateTime? = nil, authentication: [String] = [], permission: Permission? = nil,
        software: String? = nil,
        uri: String? = nil, device: String? = nil
    ) {
        self.id = id
        self.kind = kind
        self.isConnected = isConnected
        self.firstSeen = firstSeen
        self.lastSeen = lastSeen
        self.authentication = authentication
        self.permission = permission
        self.software = software
        self.uri = uri
        self.device = device
    }

    /// Reads a `<client/>` element; `nil` when it has no name.
    init?(_ element: Element) {
        let namespace = AccountClients.namespace
        guard element.isNamed("client", namespace: namespace), let id = element["id"], !id.isEmpty else { return nil }
        func text(_ parent: Element?, _ name: String) -> String? {
            parent?.firstChild(name, namespace: namespace)?.text.trimmedOfXMLWhitespace
        }
        let agent = element.firstChild("user-agent", namespace: namespace)
        self.init(
            id, kind: element["type"].flatMap(Kind.init) ?? .access,
            isConnected: ["true", "1"].contains(element["connected"]),
            firstSeen: text(element, "first-seen").flatMap { DateTime($0) },
            lastSeen: text(element, "last-seen").flatMap { DateTime($0) },
            authentication: element.firstChild("auth", namespace: namespace)?.children.prefix(20).map(\.localName)
                ?? [],
            permission: element.firstChild("permission", namespace: namespace)?["status"].map(
                Permission.init(rawValue:)),
            software: text(agent, "software"), uri: text(agent, "uri"), device: text(agent, "device"))
    }

    /// The `<client/>` element.
    var element: Element {
        let namespace = AccountClients.namespace
        var client = Element(
            "client", namespace: namespace,
            attributes: ["connected": isConnected ? "true" : "false", "id": id, "type": kind.rawValue])
        for (name, moment) in [("first-seen", firstSeen), ("last-seen", lastSeen)] {
            if let moment { client.append(Element(name, namespace: namespace, text: moment.description)) }
        }
        client.append(
            Element("auth", namespace: namespace, children: authentication.map { Element($0, namespace: namespace) }))
        if let permission {
            client.append(
                Element("permission", namespace: namespace, attributes: ["status": permission.rawValue]))
        }
        var agent = Element("user-agent", namespace: namespace)
        for (name, text) in [("software", software), ("uri", uri), ("device", device)] {
            if let text { agent.append(Element(name, namespace: namespace, text: text)) }
        }
        client.append(agent)
        return client
    }
}

/// The programs that have access to an account (XEP-0494 §3.1).
public struct AccountClients: StanzaPayload, Hashable {
    /// The namespace of the management of clients.
    public static let namespace = "urn:xmpp:cam:0"
    /// The name of the `<clients/>` element.
    public static let elementName = ElementName("clients", namespace: namespace)
    /// How many are read; 1,000. Further ones are passed over.
    public static let maximumClients = 1_000

    /// The programs, in the server's order.
    public var clients: [AccountClient]

    /// Makes a list.
    public init(_ clients: [AccountClient]) {
        self.clients = clients
    }

    /// Reads a `<clients/>` element. A program without a name is left out.
    public init?(_ element: Element) {
        guard element.name == Self.elementName else { return nil }
        clients = element.children.lazy.compactMap { AccountClient($0) }.prefix(Self.maximumClients).map { $0 }
    }

    /// The `<clients/>` element.
    public var element: Element {
        var list = Element(Self.elementName)
        list.append(contentsOf: clients.map(\.element))
        return list
    }
}
