// SPDX-License-Identifier: Apache-2.0

package import XMPPCore

/// A request for a subscription that has no answer (RFC 6121 §3.1.3).
package struct KeptRequest: Sendable, Hashable {
    /// Who asks, by the bare address.
    package let jid: JID
    /// What it says; shortened by whoever makes it, since strangers choose how long it is.
    package let text: String?
    /// When it was made, as far as is known.
    package let at: DateTime

    /// Makes one.
    package init(jid: JID, text: String? = nil, at: DateTime) {
        self.jid = jid
        self.text = text
        self.at = at
    }
}

/// Who asks to see the presence of accounts and has no answer, also for the program that comes next: a session that is
/// resumed is not told again.
package final class KeptRequests: Sendable {
    /// How many requests are kept of an account; 1,000. Further ones are not.
    package static let maximumRequests = 1_000

    private let database: Database

    /// Makes a list.
    package init(_ database: Database) {
        self.database = database
    }

    /// The requests to an account, oldest first.
    ///
    /// - Throws: ``StorageError``.
    package func requests(of account: JID) async throws(StorageError) -> [KeptRequest] {
        try await database.read { connection throws(StorageError) in
            try connection.rows(
                "SELECT jid, text, at FROM subscription_request WHERE account = ? ORDER BY place LIMIT ?",
                .text(account.bare.description), .integer(Int64(Self.maximumRequests))
            ) { row throws(StorageError) in
                KeptRequest(
                    jid: try StoredStanza.jid(row.text(0), file: connection.file), text: row.text(1),
                    at: DateTime(millisecondsSinceEpoch: row.integer(2)))
            }
        }
    }

    /// Notes a request within a transaction; a later one of the same address takes the place of the one before.
    ///
    /// - Throws: ``StorageError``.
    package static func add(
        _ request: KeptRequest, of account: JID, on connection: SQLiteConnection
    ) throws(StorageError) {
        let (account, jid) = (SQLValue.text(account.bare.description), SQLValue.text(request.jid.description))
        let (text, at) = (SQLValue(request.text), SQLValue.integer(request.at.millisecondsSinceEpoch))
        try connection.execute(
            "UPDATE subscription_request SET text = ?, at = ? WHERE account = ? AND jid = ?", text, at, account, jid)
        try connection.execute(
            """
            INSERT OR IGNORE INTO subscription_request (account, jid, text, at) SELECT ?1, ?2, ?3, ?4
            WHERE (SELECT count(*) FROM subscription_request WHERE account = ?1) < ?5
            """, account, jid, text, at, .integer(Int64(maximumRequests)))
    }

    /// Forgets the request of an address: it was answered.
    ///
    /// - Throws: ``StorageError``.
    package func remove(_ jid: JID, of account: JID) async throws(StorageError) {
        _ = try await database.write { connection throws(StorageError) in
            try connection.execute(
                "DELETE FROM subscription_request WHERE account = ? AND jid = ?", .text(account.bare.description),
                .text(jid.bare.description))
        }
    }

    /// Forgets all requests to an account: the server tells anew of those that wait.
    ///
    /// - Throws: ``StorageError``.
    package func removeAll(of account: JID) async throws(StorageError) {
        _ = try await database.write { connection throws(StorageError) in
            try connection.execute(
                "DELETE FROM subscription_request WHERE account = ?", .text(account.bare.description))
        }
    }
}
