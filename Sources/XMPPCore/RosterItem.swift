// SPDX-License-Identifier: Apache-2.0

public import XMPPXML

/// One contact of the roster (RFC 6121 §2.1.2).
public struct RosterItem: Hashable, Sendable {
    /// Who sees whose presence (RFC 6121 §2.1.2.5).
    public enum Subscription: String, Sendable, Hashable, CaseIterable {
        /// Nobody sees anybody.
        case none
        /// The user sees the contact.
        case to
        /// The contact sees the user.
        case from
        /// Both see each other.
        case both

        /// Whether the user sees the contact's presence.
        public var includesTo: Bool { self == .to || self == .both }
        /// Whether the contact sees the user's presence.
        public var includesFrom: Bool { self == .from || self == .both }
    }

    /// The contact's address; bare.
    public var jid: JID
    /// The name the user gave the contact.
    public var name: String?
    /// Who sees whose presence.
    public var subscription: Subscription
    /// Whether the user has asked to see the contact and has no answer yet (`ask='subscribe'`).
    public var isAsking: Bool
    /// Whether a future request of the contact is approved already (RFC 6121 §3.4).
    public var isApproved: Bool
    /// The groups, sorted, each once.
    public var groups: [String]

    /// Makes an item.
    public init(
        jid: JID, name: String? = nil, subscription: Subscription = .none, isAsking: Bool = false,
        isApproved: Bool = false, groups: [String] = []
    ) {
        self.jid = jid.bare
        self.name = name
        self.subscription = subscription
        self.isAsking = isAsking
        self.isApproved = isApproved
        self.groups = Set(groups).sorted()
    }

    /// The name, or the address when the contact has none.
    public var displayName: String {
        if let name, !name.isEmpty { name } else { jid.description }
    }
}

/// What a roster says about one contact: an item, or that it is gone.
public enum RosterChange: Hashable, Sendable {
    /// The contact is new or changed.
    case updated(RosterItem)
    /// The contact is no longer in the roster.
    case removed(JID)

    /// Reads an `<item/>` element.
    ///
    /// An unknown subscription state is taken for `none` (RFC 6121 §2.1.2.5).
    ///
    /// - Throws: ``StanzaDecodingError`` when there is no JID, or it is none.
    public init(_ element: Element) throws(StanzaDecodingError) {
        guard element.isNamed("item", namespace: Namespace.roster), let jid = try element.jid("jid") else {
            throw .notAStanza(element.name)
        }
        guard element["subscription"] != "remove" else {
            self = .removed(jid.bare)
            return
        }
        self = .updated(
            RosterItem(
                jid: jid, name: element["name"],
                subscription: element["subscription"].flatMap(RosterItem.Subscription.init) ?? .none,
                isAsking: element["ask"] == "subscribe",
                isApproved: element["approved"] == "true" || element["approved"] == "1",
                groups: element.children("group", namespace: Namespace.roster).map(\.text).filter { !$0.isEmpty }))
    }
}
