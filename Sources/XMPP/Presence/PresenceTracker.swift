// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore

/// Who is online, resource by resource. Only contacts whose presence the user may see are kept, so that strangers
/// cannot fill the memory.
struct PresenceTracker: Sendable {
    /// What a presence stanza changed.
    enum Transition: Sendable, Equatable {
        case cameOnline(Buddy)
        case changed(Buddy)
        case wentOffline(Buddy)
    }

    /// How many resources are kept for one contact; 64. A further one replaces the one that is unchanged for longest.
    static let maximumResources = 64
    /// How many contacts are kept while the roster is not known; 1,000.
    static let maximumUnknownContacts = 1_000

    /// The own bare address.
    var account: JID
    private var contacts: ContactTable?
    /// The resources of each contact, best first: a buddy that is told of shares the array.
    private var online: [BareJIDKey: [Buddy.Resource]] = [:]

    /// Makes a tracker.
    ///
    /// - Parameter account: The own address; its other resources are no buddies.
    init(account: JID) {
        self.account = account.bare
    }

    /// The contact's roster item, where the roster is known.
    func contact(_ jid: JID) -> RosterItem? { contacts?[jid] }

    /// The roster, where it is known, in no order.
    var items: [RosterItem]? { contacts?.all }

    /// The buddies online, in no order.
    var buddies: [Buddy] { online.keys.map { buddy($0.bare) } }

    /// The last available presence of a resource that is online.
    func presence(of jid: JID) -> Presence? { online[BareJIDKey(jid)]?.first { $0.jid == jid }?.presence }

    /// The buddy as far as it is known.
    func buddy(_ jid: JID) -> Buddy {
        Buddy(jid: jid, item: contact(jid), ordered: online[BareJIDKey(jid)] ?? [])
    }

    /// The roster arrived or changed. Whoever may no longer be seen goes offline; the others may have another name.
    mutating func received(_ update: RosterUpdate, cached: [RosterItem] = []) -> [Transition] {
        switch update {
        case .received(let items, _):
            contacts = ContactTable(items)
        case .unchanged:
            contacts = ContactTable(cached)
        case .changed(.updated(let item), _):
            _ = contacts?.update(item)
        case .changed(.removed(let jid), _):
            contacts?.remove(jid)
        }
        return affected(by: update).map { isVisible($0) ? .changed(buddy($0)) : drop($0) }
    }

    private func affected(by update: RosterUpdate) -> [JID] {
        switch update {
        case .received, .unchanged: online.keys.map(\.bare)
        case .changed(.updated(let item), _): online[BareJIDKey(item.jid)] == nil ? [] : [item.jid]
        case .changed(.removed(let jid), _): online[BareJIDKey(jid)] == nil ? [] : [jid]
        }
    }

    /// A presence stanza of type `available`, `unavailable` or `error` arrived; its sender is filled in.
    mutating func received(_ presence: Presence, now: DateTime) -> Transition? {
        guard let from = presence.from, !from.hasSameBare(as: account) else { return nil }
        switch presence.kind {
        case .available: return available(presence, from: from, now: now)
        case .unavailable, .error: return unavailable(from)
        case .subscribe, .subscribed, .unsubscribe, .unsubscribed, .probe: return nil
        }
    }

    /// The stream ended: nothing is known about anybody any more (RFC 6121 §4.5).
    mutating func streamEnded() -> [Transition] {
        online.keys.map { drop($0.bare) }
    }

    private mutating func available(_ presence: Presence, from: JID, now: DateTime) -> Transition? {
        let bare = from.bare
        let key = BareJIDKey(bare)
        let wasOnline = online[key] != nil
        guard isVisible(bare), wasOnline || contacts != nil || online.count < Self.maximumUnknownContacts else {
            return nil
        }
        let since = presence.sentAt(arrival: now)
        online[key, default: []].admit(
            Buddy.Resource(jid: from, presence: presence.kept, since: since), maximum: Self.maximumResources)
        return wasOnline ? .changed(buddy(bare)) : .cameOnline(buddy(bare))
    }

    /// One resource is gone; without a resource in the address, all of them are (RFC 6121 §4.5.2, §4.3.2).
    private mutating func unavailable(_ from: JID) -> Transition? {
        let bare = from.bare
        let key = BareJIDKey(bare)
        guard let resources = online[key] else { return nil }
        guard from.isFull else { return drop(bare) }
        guard let index = resources.firstIndex(where: { $0.jid == from }) else { return nil }
        if resources.count > 1 {
            online[key]?.remove(at: index)
            return .changed(buddy(bare))
        }
        return drop(bare)
    }

    private mutating func drop(_ jid: JID) -> Transition {
        online[BareJIDKey(jid)] = nil
        return .wentOffline(buddy(jid))
    }

    private func isVisible(_ jid: JID) -> Bool {
        guard let contacts else { return true }
        return contacts[jid]?.subscription.includesTo ?? false
    }
}
