// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
public import XMPPProtocol
package import XMPPXML

/// Keeps the sessions of accounts in a ``Database``, step by step: a process that is killed at any moment can go on
/// with them.
///
/// Steps that come while others are being written share their transaction. A message among the unacknowledged stanzas
/// that is also in the ``DurableOutbox`` of the same database is noted there as sent in the very same transaction, and
/// as being at the server when the server has acknowledged it.
public final class DurableStreamStateStore: StreamStateStore {
    /// What else is to be kept of the stanzas that arrive, in the transaction that counts them.
    package typealias Keeping = @Sendable (SQLiteConnection, JID, [Element]) throws(StorageError) -> Void

    private let database: Database
    private let arrived: Keeping
    private let committed: @Sendable () -> Void

    /// Makes a store.
    public convenience init(_ database: Database) {
        self.init(database, arrived: { (_, _, _) throws(StorageError) in })
    }

    /// Makes a store that keeps more of what arrives.
    ///
    /// - Parameters:
    ///   - database: Where to.
    ///   - arrived: Called within the transaction, with the account and with the stanzas that arrived.
    ///   - committed: Called after each transaction, on no queue in particular.
    package init(
        _ database: Database, arrived: @escaping Keeping, committed: @escaping @Sendable () -> Void = {}
    ) {
        self.database = database
        self.arrived = arrived
        self.committed = committed
    }

    /// Is true.
    public var keepsProgress: Bool { true }

    /// What is kept of an account's session.
    public func state(of account: JID) async throws -> StreamState? {
        try await database.read { connection throws(StorageError) in
            try StreamTable(connection, account).state
        }
    }

    /// Replaces what is kept of an account's session; `nil` removes it.
    ///
    /// Messages whose fate was open and that are not among the new state's stay uncertain in the outbox.
    public func save(_ state: StreamState?, of account: JID) async throws {
        try await database.write { connection throws(StorageError) in
            let table = StreamTable(connection, account)
            if let state { try table.replace(state) } else { try table.remove() }
        }
    }

    /// Keeps some steps, all or none of them.
    public func keep(_ steps: [StreamProgress], of account: JID) async throws {
        let arrived = arrived
        try await database.write { connection throws(StorageError) in
            let table = StreamTable(connection, account)
            for step in steps {
                switch step {
                case .began(let state):
                    try table.replace(state)
                case .named(let id, let location, let maximumDuration):
                    try table.name(id, location, maximumDuration)
                case .sent(let stanzas):
                    try table.append(stanzas)
                case .acknowledged(let h):
                    try table.acknowledge(h)
                case .settled(let stanzas):
                    try table.settle(stanzas)
                case .handedBack(let stanzas):
                    try table.handBack(stanzas)
                case .refused(let stanzas, let reason):
                    try table.refuse(stanzas, because: reason)
                case .received(let stanzas, let handled):
                    try arrived(connection, account.bare, stanzas)
                    if let handled { try table.count(handled) }
                }
            }
        }
        committed()
    }
}

/// The session of one account in the tables.
struct StreamTable {
    private let connection: SQLiteConnection
    private let account: SQLValue
    private let outbox: OutboxTable

    init(_ connection: SQLiteConnection, _ account: JID) {
        self.connection = connection
        self.account = .text(account.bare.description)
        outbox = OutboxTable(connection, account)
    }

    private var file: String { connection.file }

    var state: StreamState? {
        get throws(StorageError) {
            let found = try connection.first(
                "SELECT jid, id, handled, acknowledged, location, lifetime FROM stream WHERE account = ?", account
            ) { row throws(StorageError) in
                StreamState(
                    jid: try StoredStanza.jid(row.text(0), file: file), id: row.text(1),
                    handled: UInt32(truncatingIfNeeded: row.integer(2)),
                    acknowledged: UInt32(truncatingIfNeeded: row.integer(3)), location: row.text(4),
                    maximumDuration: row.optionalInteger(5).map { .seconds($0) })
            }
            guard var state = found else { return nil }
            state.unacknowledged = try connection.rows(
                "SELECT stanza, sent_at FROM unacknowledged WHERE account = ? ORDER BY number", account, read: stanza)
            state.unsettled = try connection.rows(
                "SELECT stanza, sent_at FROM unsettled WHERE account = ? ORDER BY number", account, read: stanza)
            return state
        }
    }

    private func stanza(_ row: SQLRow) throws(StorageError) -> UnacknowledgedStanza {
        UnacknowledgedStanza(
            try StoredStanza.element(row.bytes(0), file: file),
            sentAt: row.optionalInteger(1).map { DateTime(millisecondsSinceEpoch: $0) })
    }

    /// Puts a session in the place of the one before.
    func replace(_ state: StreamState) throws(StorageError) {
        try remove()
        try connection.execute(
            "INSERT INTO stream (account, jid, id, handled, acknowledged, location, lifetime) VALUES (?, ?, ?, ?, ?, ?, ?)",
            account, .text(state.jid.description), SQLValue(state.id), .integer(Int64(state.handled)),
            .integer(Int64(state.acknowledged)), SQLValue(state.location),
            SQLValue(state.maximumDuration?.components.seconds))
        try append(state.unacknowledged)
        for (number, stanza) in state.unsettled.enumerated() {
            try insert(
                stanza, Int64(number),
                "INSERT INTO unsettled (account, number, stanza, sent_at, id, recipient) VALUES (?, ?, ?, ?, ?, ?)")
        }
    }

    /// These messages are at the server after all.
    func settle(_ stanzas: [UnacknowledgedStanza]) throws(StorageError) {
        for element in stanzas.map(\.element) {
            guard let id = element["id"], let recipient = element["to"] else { continue }
            try forgetUnsettled(id, recipient)
            try outbox.atServer(id, to: recipient)
        }
    }

    /// The outbox finds out what became of these messages.
    func handBack(_ stanzas: [UnacknowledgedStanza]) throws(StorageError) {
        for element in stanzas.map(\.element) {
            guard let id = element["id"], let recipient = element["to"] else { continue }
            try forgetUnsettled(id, recipient)
        }
    }

    /// These messages cannot be sent again.
    func refuse(_ stanzas: [UnacknowledgedStanza], because reason: String) throws(StorageError) {
        for element in stanzas.map(\.element) {
            guard let id = element["id"], let recipient = element["to"] else { continue }
            try forgetUnsettled(id, recipient)
            try outbox.set(.failed, id, recipient, reason: reason)
        }
    }

    private func forgetUnsettled(_ id: String, _ recipient: String) throws(StorageError) {
        try connection.execute(
            "DELETE FROM unsettled WHERE account = ? AND id = ? AND recipient = ?", account, .text(id),
            .text(recipient))
    }

    private func insert(_ stanza: UnacknowledgedStanza, _ number: Int64, _ sql: String) throws(StorageError) {
        let element = stanza.element
        let isMessage = element.localName == "message"
        try connection.execute(
            sql, account, .integer(number), .bytes(try StoredStanza.bytes(element, file: file)),
            SQLValue(stanza.sentAt?.millisecondsSinceEpoch), SQLValue(isMessage ? element["id"] : nil),
            SQLValue(isMessage ? element["to"] : nil))
    }

    /// Removes the session. What it had sent is known to nobody any more.
    func remove() throws(StorageError) {
        try outbox.doubt()
        try connection.execute("DELETE FROM stream WHERE account = ?", account)
    }

    func name(_ id: String, _ location: String?, _ lifetime: Duration?) throws(StorageError) {
        try connection.execute(
            "UPDATE stream SET id = ?, location = ?, lifetime = ? WHERE account = ?", .text(id), SQLValue(location),
            SQLValue(lifetime?.components.seconds), account)
    }

    func count(_ handled: UInt32) throws(StorageError) {
        try connection.execute(
            "UPDATE stream SET handled = ? WHERE account = ?", .integer(Int64(handled)), account)
    }

    func append(_ stanzas: [UnacknowledgedStanza]) throws(StorageError) {
        guard !stanzas.isEmpty else { return }
        var number =
            try connection.first("SELECT max(number) FROM unacknowledged WHERE account = ?", account) { $0.integer(0) }
            ?? 0
        for stanza in stanzas {
            number += 1
            try insert(
                stanza, number,
                "INSERT INTO unacknowledged (account, number, stanza, sent_at, id, recipient) VALUES (?, ?, ?, ?, ?, ?)"
            )
            let element = stanza.element
            if element.localName == "message", let id = element["id"], let recipient = element["to"] {
                try forgetUnsettled(id, recipient)
                try outbox.sent(id, to: recipient)
            }
        }
    }

    /// Takes out what the server has handled. Everything is modulo 2^32; a count that is no greater says nothing new.
    func acknowledge(_ h: UInt32) throws(StorageError) {
        let known = try connection.first("SELECT acknowledged FROM stream WHERE account = ?", account) {
            UInt32(truncatingIfNeeded: $0.integer(0))
        }
        guard let known else { return }
        let count = Int32(bitPattern: h &- known)
        guard count > 0 else { return }
        let handled = try connection.rows(
            "SELECT number, id, recipient FROM unacknowledged WHERE account = ? ORDER BY number LIMIT ?", account,
            .integer(Int64(count))
        ) { (number: $0.integer(0), id: $0.text(1), recipient: $0.text(2)) }
        for stanza in handled {
            if let id = stanza.id, let recipient = stanza.recipient { try outbox.acknowledged(id, to: recipient) }
        }
        if let last = handled.last {
            try connection.execute(
                "DELETE FROM unacknowledged WHERE account = ? AND number <= ?", account, .integer(last.number))
        }
        try connection.execute(
            "UPDATE stream SET acknowledged = ? WHERE account = ?", .integer(Int64(h)), account)
    }
}
