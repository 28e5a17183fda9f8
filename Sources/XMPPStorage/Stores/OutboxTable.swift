// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
internal import XMPPProtocol

/// The outbox of one account in the tables.
struct OutboxTable {
    private static let columns = "stanza, state, is_uncertain, queued_at, changed_at, expires_at, reason"

    private let connection: SQLiteConnection
    private let account: SQLValue
    private let now: Int64

    init(_ connection: SQLiteConnection, _ account: JID, now: DateTime = .now) {
        self.connection = connection
        self.account = .text(account.bare.description)
        self.now = now.millisecondsSinceEpoch
    }

    // MARK: What the stream does with messages

    /// A message is about to be sent, in a session that counts it.
    func sent(_ id: String, to recipient: String) throws(StorageError) {
        try connection.execute(
            """
            UPDATE outbox SET state = 'sent', is_uncertain = 0, changed_at = ?
            WHERE account = ? AND id = ? AND recipient = ? AND (state = 'queued' OR is_uncertain)
            """, .integer(now), account, .text(id), .text(recipient))
    }

    /// The server has a message. Whether a room has one is for the room to say.
    func acknowledged(_ id: String, to recipient: String) throws(StorageError) {
        try connection.execute(
            """
            UPDATE outbox SET state = 'server', is_uncertain = 0, changed_at = ?
            WHERE account = ? AND id = ? AND recipient = ? AND state IN ('queued', 'sent') AND NOT is_room
            """, .integer(now), account, .text(id), .text(recipient))
    }

    /// A message has arrived where it is handed on: at the server, or in the room.
    func atServer(_ id: String, to recipient: String) throws(StorageError) {
        try connection.execute(
            """
            UPDATE outbox SET state = 'server', is_uncertain = 0, changed_at = ?
            WHERE account = ? AND id = ? AND recipient = ? AND state IN ('queued', 'sent')
            """, .integer(now), account, .text(id), .text(recipient))
    }

    /// The session is gone: of the messages that it had not had acknowledged nobody knows what became.
    func doubt() throws(StorageError) {
        try connection.execute(
            """
            UPDATE outbox SET is_uncertain = 1, changed_at = ?1 WHERE account = ?2 AND state = 'sent' AND EXISTS (
                SELECT 1 FROM unacknowledged AS waiting
                WHERE waiting.account = ?2 AND waiting.id = outbox.id AND waiting.recipient = outbox.recipient)
            """, .integer(now), account)
    }

    // MARK: What the application does with them

    /// - Returns: The new entry; `nil` where the message was there before.
    func add(
        _ message: Message, _ id: String, _ recipient: String, expires: DateTime?
    ) throws(StorageError) -> OutboxEntry? {
        let bytes = try StoredStanza.bytes(message.element, file: connection.file)
        let count = try connection.execute(
            """
            INSERT INTO outbox (account, id, recipient, state, stanza, queued_at, changed_at, expires_at, is_room)
            VALUES (?1, ?2, ?3, 'queued', ?4, ?5, ?5, ?6, ?7) ON CONFLICT DO NOTHING
            """, account, .text(id), .text(recipient), .bytes(bytes), .integer(now),
            SQLValue(expires?.millisecondsSinceEpoch), message.kind == .groupchat ? 1 : 0)
        guard count > 0 else { return nil }
        return OutboxEntry(message: message, queuedAt: DateTime(millisecondsSinceEpoch: now), expires: expires)
    }

    /// To whom messages with an id were to go.
    func recipients(of id: String) throws(StorageError) -> [String] {
        try connection.rows(
            "SELECT recipient FROM outbox WHERE account = ? AND id = ?", account, .text(id)
        ) { $0.text(0) ?? "" }
    }

    /// How many messages wait, and how many are uncertain.
    var counts: (waiting: Int, uncertain: Int) {
        get throws(StorageError) {
            try connection.first(
                """
                SELECT (SELECT count(*) FROM outbox WHERE account = ?1 AND state = 'queued'
                    AND (expires_at IS NULL OR expires_at > ?2)),
                    (SELECT count(*) FROM outbox WHERE account = ?1 AND is_uncertain)
                """, account, .integer(now)
            ) { (Int($0.integer(0)), Int($0.integer(1))) } ?? (0, 0)
        }
    }

    /// Whether so many messages wait. Counting takes long, and is done only where there may be that many.
    func isFull(_ maximum: Int) throws(StorageError) -> Bool {
        let span = try connection.first(
            """
            SELECT (SELECT max(place) FROM outbox)
                - (SELECT place FROM outbox WHERE account = ? AND state = 'queued' ORDER BY place LIMIT 1)
            """, account
        ) { $0.integer(0) }
        guard let span, span >= maximum - 1 else { return false }
        let count = try connection.first(
            "SELECT count(*) FROM outbox WHERE account = ? AND state = 'queued'", account
        ) { $0.integer(0) }
        return (count ?? 0) >= maximum
    }

    func waiting(limit: Int, passingOver addressees: [String]) throws(StorageError) -> [OutboxEntry] {
        let marks = addressees.map { _ in "?" }.joined(separator: ", ")
        return try connection.rows(
            """
            SELECT \(Self.columns) FROM outbox WHERE account = ? AND state = 'queued' AND recipient NOT IN (\(marks))
            ORDER BY place LIMIT ?
            """, [account] + addressees.map(SQLValue.text) + [.integer(Int64(limit))], read: read)
    }

    var unreflected: [OutboxEntry] {
        get throws(StorageError) {
            try connection.rows(
                "SELECT \(Self.columns) FROM outbox WHERE account = ? AND state = 'sent' AND is_room ORDER BY place",
                account, read: read)
        }
    }

    /// How many messages to an address wait, or are on their way.
    func open(to recipient: String) throws(StorageError) -> Int {
        try connection.first(
            """
            SELECT count(*) FROM outbox
            WHERE account = ? AND recipient = ? AND (state = 'queued' OR state = 'sent' AND NOT is_uncertain)
            """, account, .text(recipient)
        ) { Int($0.integer(0)) } ?? 0
    }

    /// A room takes nothing of what waits for it or is on its way there.
    func fail(inRoom recipient: String, because reason: String) throws(StorageError) {
        try connection.execute(
            """
            UPDATE outbox SET state = 'failed', is_uncertain = 0, reason = ?, changed_at = ?
            WHERE account = ? AND recipient = ? AND is_room AND state IN ('queued', 'sent') AND NOT is_uncertain
            """, .text(reason), .integer(now), account, .text(recipient))
    }

    /// Nobody can say whether a message has arrived.
    func doubt(_ id: String, _ recipient: String) throws(StorageError) {
        try connection.execute(
            """
            UPDATE outbox SET is_uncertain = 1, changed_at = ?
            WHERE account = ? AND id = ? AND recipient = ? AND state = 'sent' AND NOT is_uncertain
            """, .integer(now), account, .text(id), .text(recipient))
    }

    var uncertain: [OutboxEntry] {
        get throws(StorageError) {
            try connection.rows(
                "SELECT \(Self.columns) FROM outbox WHERE account = ? AND is_uncertain ORDER BY place", account,
                read: read)
        }
    }

    func entry(_ id: String, _ recipient: String) throws(StorageError) -> OutboxEntry? {
        try connection.first(
            "SELECT \(Self.columns) FROM outbox WHERE account = ? AND id = ? AND recipient = ?", account, .text(id),
            .text(recipient), read: read)
    }

    func entries(_ id: String) throws(StorageError) -> [OutboxEntry] {
        try connection.rows(
            "SELECT \(Self.columns) FROM outbox WHERE account = ? AND id = ? ORDER BY place", account, .text(id),
            read: read)
    }

    func latest(limit: Int) throws(StorageError) -> [OutboxKey] {
        try connection.rows(
            "SELECT id, recipient FROM outbox WHERE account = ? ORDER BY place DESC LIMIT ?", account,
            .integer(Int64(limit))
        ) { row throws(StorageError) in
            OutboxKey(id: row.text(0) ?? "", recipient: try StoredStanza.jid(row.text(1), file: connection.file))
        }
    }

    func set(
        _ state: DeliveryState, _ id: String, _ recipient: String, reason: String?
    ) throws(StorageError) {
        try connection.execute(
            """
            UPDATE outbox SET state = ?, is_uncertain = 0, reason = ?, changed_at = ?
            WHERE account = ? AND id = ? AND recipient = ?
            """, .text(state.rawValue), SQLValue(reason), .integer(now), account, .text(id), .text(recipient))
    }

    /// Messages whose time has run out are not sent any more.
    @discardableResult
    func expire() throws(StorageError) -> Int {
        try connection.execute(
            """
            UPDATE outbox SET state = 'expired', changed_at = ?1 WHERE account = ?2 AND state = 'queued'
            AND expires_at <= ?1
            """, .integer(now), account)
    }

    /// Forgets what became of messages long ago, of every account: who adds little would else keep all of it.
    static func pruneAll(_ connection: SQLiteConnection, keeping count: Int) throws(StorageError) {
        let accounts = try connection.rows("SELECT DISTINCT account FROM outbox") { row throws(StorageError) in
            try StoredStanza.jid(row.text(0), file: connection.file)
        }
        for account in accounts { try OutboxTable(connection, account).prune(keeping: count) }
    }

    /// Forgets what became of messages long ago.
    func prune(keeping count: Int) throws(StorageError) {
        try connection.execute(
            """
            DELETE FROM outbox WHERE account = ?1 AND state NOT IN ('queued', 'sent') AND place <= (
                SELECT place FROM outbox WHERE account = ?1 ORDER BY place DESC LIMIT 1 OFFSET ?2)
            """, account, .integer(Int64(count)))
    }

    private func read(_ row: SQLRow) throws(StorageError) -> OutboxEntry {
        OutboxEntry(
            message: try StoredStanza.message(row.bytes(0), file: connection.file),
            state: row.text(1).flatMap(DeliveryState.init) ?? .failed, isUncertain: row.integer(2) != 0,
            queuedAt: DateTime(millisecondsSinceEpoch: row.integer(3)),
            changedAt: DateTime(millisecondsSinceEpoch: row.integer(4)),
            expires: row.optionalInteger(5).map { DateTime(millisecondsSinceEpoch: $0) }, reason: row.text(6))
    }
}
