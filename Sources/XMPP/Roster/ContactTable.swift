// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore

/// The contacts of a roster by their addresses. A result has the bounds of a stanza; what roster pushes add to it has
/// those here.
struct ContactTable: Sendable {
    /// How many contacts a roster push may add up to; 20,000, as many elements as a stanza may have.
    static let maximumContacts = 20_000
    /// How many bytes the addresses, names and groups of all contacts may have where a push makes them longer; 16 MiB.
    static let maximumBytes = 16 * 1_048_576

    private var items: [BareJIDKey: RosterItem] = [:]
    private var bytes = 0

    /// Makes a table of a whole roster. Of several items with one address the last one counts.
    init(_ whole: [RosterItem] = []) {
        items = Dictionary(whole.map { (BareJIDKey($0.jid), $0) }, uniquingKeysWith: { _, last in last })
        bytes = items.values.reduce(0) { $0 + $1.storedBytes }
    }

    /// One contact; `nil` where it is none.
    subscript(_ jid: JID) -> RosterItem? { items[BareJIDKey(jid)] }

    /// All contacts, in no order.
    var all: [RosterItem] { Array(items.values) }

    /// Takes over a contact that is new, or has changed.
    ///
    /// - Returns: Whether there is room for it. Where there is none it is no contact any more: what was known of it is
    ///   not so.
    mutating func update(_ item: RosterItem) -> Bool {
        let key = BareJIDKey(item.jid)
        let old = items.removeValue(forKey: key)
        let (before, now) = (old?.storedBytes ?? 0, item.storedBytes)
        bytes -= before
        guard old != nil || items.count < Self.maximumContacts, now <= before || bytes + now <= Self.maximumBytes else {
            return false
        }
        items[key] = item
        bytes += now
        return true
    }

    /// Forgets a contact.
    mutating func remove(_ jid: JID) {
        if let old = items.removeValue(forKey: BareJIDKey(jid)) { bytes -= old.storedBytes }
    }
}

extension RosterItem {
    /// How many bytes its address, name and groups have.
    var storedBytes: Int {
        groups.reduce(jid.description.utf8.count + (name?.utf8.count ?? 0)) { $0 + $1.utf8.count }
    }
}
