// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
internal import XMPPXML

/// One account's roster as its server keeps it (RFC 6121 §2), with the requests that wait for an answer.
struct LoopbackRoster {
    /// Changes remembered for clients that know an older version.
    private static let maximumChanges = 256

    private(set) var items: [JID: RosterItem] = [:]
    /// Subscription requests that this account has not answered yet, by sender (RFC 6121 §3.1.3).
    var requests: [JID: Element] = [:]
    /// Counts up with every change: the roster's version.
    private(set) var version = 0
    private var changes: [(version: Int, jid: JID)] = []

    /// The item of a contact; an empty one when there is none.
    func item(_ jid: JID) -> RosterItem {
        items[jid.bare] ?? RosterItem(jid: jid)
    }

    /// Contacts that see this account's presence.
    var subscribers: [JID] {
        items.values.filter(\.subscription.includesFrom).map(\.jid).sorted()
    }

    /// Contacts whose presence this account sees.
    var publishers: [JID] {
        items.values.filter(\.subscription.includesTo).map(\.jid).sorted()
    }

    /// Stores an item, or removes it with `nil`.
    mutating func set(_ item: RosterItem?, for jid: JID) {
        items[jid.bare] = item
        version += 1
        changes.append((version, jid.bare))
        if changes.count > Self.maximumChanges { changes.removeFirst() }
    }

    /// Contacts changed since `known`, in order; `nil` when so much is not remembered.
    func changes(since known: Int) -> [JID]? {
        guard known <= version, version - known <= changes.count else { return nil }
        var seen: Set<JID> = []
        return changes.suffix(version - known).reversed().filter { seen.insert($0.jid).inserted }.reversed().map(\.jid)
    }

    /// The `<query/>` with the whole roster.
    func query(withVersion: Bool) -> Element {
        var query = Element("query", namespace: Namespace.roster)
        if withVersion { query["ver"] = String(version) }
        query.append(contentsOf: items.values.sorted { $0.jid < $1.jid }.map(Self.element))
        return query
    }

    /// The `<query/>` of a push about one contact (RFC 6121 §2.1.6).
    func push(_ jid: JID, withVersion: Bool) -> Element {
        var query = Element("query", namespace: Namespace.roster)
        if withVersion { query["ver"] = String(version) }
        if let item = items[jid.bare] {
            query.append(Self.element(item))
        } else {
            query.append(
                Element(
                    "item", namespace: Namespace.roster,
                    attributes: ["jid": jid.bare.description, "subscription": "remove"]))
        }
        return query
    }

    private static func element(_ item: RosterItem) -> Element {
        Element(
            "item", namespace: Namespace.roster,
            attributes: [
                "jid": item.jid.description, "name": item.name, "subscription": item.subscription.rawValue,
                "ask": item.isAsking ? "subscribe" : nil, "approved": item.isApproved ? "true" : nil,
            ],
            children: item.groups.map { Element("group", namespace: Namespace.roster, text: $0) })
    }
}

extension RosterItem.Subscription {
    /// The subscription with or without a direction.
    func with(to: Bool? = nil, from: Bool? = nil) -> Self {
        switch (to ?? includesTo, from ?? includesFrom) {
        case (true, true): .both
        case (true, false): .to
        case (false, true): .from
        case (false, false): .none
        }
    }
}
