// SPDX-License-Identifier: Apache-2.0

public import XMPPCore

/// The rosters of accounts as the server sent them last, so that only what has changed since is sent (RFC 6121 §2.6).
public final class RosterCache: Sendable {
    /// A roster and its version.
    public struct Roster: Sendable, Hashable {
        /// What the server calls this state of the roster.
        public var version: String
        /// The contacts, in no order.
        public var items: [RosterItem]

        /// Makes one.
        public init(version: String, items: [RosterItem]) {
            self.version = version
            self.items = items
        }
    }

    private let database: Database

    /// Makes a cache.
    public init(_ database: Database) {
        self.database = database
    }

    /// The roster of an account; `nil` where none is kept.
    ///
    /// - Throws: ``StorageError``.
    public func roster(of account: JID) async throws(StorageError) -> Roster? {
        let key = SQLValue.text(account.bare.description)
        return try await database.read { connection throws(StorageError) in
            let version = try connection.first("SELECT version FROM roster WHERE account = ?", key) {
                $0.text(0) ?? ""
            }
            guard let version else { return nil }
            let items = try connection.rows(
                "SELECT jid, name, subscription, is_asking, is_approved, groups FROM roster_item WHERE account = ?", key
            ) { row throws(StorageError) in try Self.item(row, file: connection.file) }
            return Roster(version: version, items: items)
        }
    }

    /// Replaces the roster of an account; `nil` removes it.
    ///
    /// - Throws: ``StorageError``.
    public func save(_ roster: Roster?, of account: JID) async throws(StorageError) {
        let key = SQLValue.text(account.bare.description)
        try await database.write { connection throws(StorageError) in
            try connection.execute("DELETE FROM roster WHERE account = ?", key)
            guard let roster else { return }
            try connection.execute(
                "INSERT INTO roster (account, version) VALUES (?, ?)", key, .text(roster.version))
            for item in roster.items { try Self.put(item, key, connection) }
        }
    }

    /// Notes a change (a roster push, RFC 6121 §2.1.6). Without a version, or without a roster that it changes, what is
    /// kept is of no use any more and is removed.
    ///
    /// - Throws: ``StorageError``.
    public func note(_ change: RosterChange, version: String?, of account: JID) async throws(StorageError) {
        let key = SQLValue.text(account.bare.description)
        try await database.write { connection throws(StorageError) in
            guard let version,
                try connection.execute("UPDATE roster SET version = ? WHERE account = ?", .text(version), key) == 1
            else {
                try connection.execute("DELETE FROM roster WHERE account = ?", key)
                return
            }
            switch change {
            case .updated(let item): try Self.put(item, key, connection)
            case .removed(let jid):
                try connection.execute(
                    "DELETE FROM roster_item WHERE account = ? AND jid = ?", key, .text(jid.bare.description))
            }
        }
    }

    private static func put(_ item: RosterItem, _ key: SQLValue, _ connection: SQLiteConnection) throws(StorageError) {
        // A group may hold any character of XML: a unit separator is none of them.
        try connection.execute(
            """
            INSERT OR REPLACE INTO roster_item (account, jid, name, subscription, is_asking, is_approved, groups)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """, key, .text(item.jid.description), SQLValue(item.name), .text(item.subscription.rawValue),
            item.isAsking ? 1 : 0, item.isApproved ? 1 : 0, .text(item.groups.joined(separator: separator)))
    }

    private static let separator = "\u{1F}"

    private static func item(_ row: SQLRow, file: String) throws(StorageError) -> RosterItem {
        RosterItem(
            jid: try StoredStanza.jid(row.text(0), file: file), name: row.text(1),
            subscription: row.text(2).flatMap(RosterItem.Subscription.init) ?? .none, isAsking: row.integer(3) != 0,
            isApproved: row.integer(4) != 0,
            groups: (row.text(5) ?? "").split(separator: separator).map(String.init))
    }
}
