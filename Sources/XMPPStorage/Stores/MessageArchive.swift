// SPDX-License-Identifier: Apache-2.0

public import XMPPCore

/// The messages that accounts have exchanged, with full-text search and marks for what is unread.
///
/// A message that an archive of the server has named (XEP-0359) is there once, and so is one that was sent from here
/// under an id of its own; what others call their messages decides nothing.
public final class MessageArchive: Sendable {
    /// How many messages one look-up returns at most; 1,000.
    public static let maximumResults = 1_000
    /// How many messages ``markRead(_:upTo:of:)`` returns at most; 1,000. All are marked.
    public static let maximumMarked = 1_000

    /// How many messages of an account are kept; 100,000. The oldest make room, those that were read before others.
    public static let maximumMessages = 100_000
    /// How many bytes the messages of an account may take; 256 MiB.
    public static let maximumBytes = 256 << 20
    /// How many messages are added between two looks at the limits.
    private static let stride = 256

    private let database: Database

    /// Makes an archive.
    public init(_ database: Database) {
        self.database = database
    }

    /// Adds messages; returns when they are on the disk.
    ///
    /// - Returns: How many of them are new.
    /// - Throws: ``StorageError``.
    @discardableResult
    public func add(_ messages: [ArchivedMessage], of account: JID) async throws(StorageError) -> Int {
        try await database.write { connection throws(StorageError) in
            try Self.add(messages, of: account, on: connection)
        }
    }

    /// Adds messages within a transaction.
    ///
    /// - Returns: How many of them are new.
    @discardableResult
    package static func add(
        _ messages: [ArchivedMessage], of account: JID, on connection: SQLiteConnection
    ) throws(StorageError) -> Int {
        var (count, bytes) = (0, 0)
        var isDue = false
        for entry in messages {
            // What an archive says of a message that was sent from here is one more fact about it, and no second
            // message.
            if entry.isOutgoing, let originID = entry.originID, let name = entry.archiveID {
                try connection.execute(
                    """
                    UPDATE OR IGNORE message SET archive = ?, archive_id = ?
                    WHERE account = ? AND peer = ? AND origin_id = ? AND is_outgoing AND archive_id IS NULL
                    """, .text(name.by.description), .text(name.id), .text(account.bare.description),
                    .text(entry.peer.description), .text(originID))
            }
            let stanza = try StoredStanza.bytes(entry.message, file: connection.file)
            let isNew = try connection.execute(
                """
                INSERT INTO message
                (account, peer, is_outgoing, kind, id, origin_id, archive, archive_id, at, is_unread, body, stanza)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
                """, .text(account.bare.description), .text(entry.peer.description), entry.isOutgoing ? 1 : 0,
                .text(entry.message.kind.rawValue), SQLValue(entry.message.id), SQLValue(entry.originID),
                SQLValue(entry.archiveID?.by.description), SQLValue(entry.archiveID?.id),
                .integer(entry.at.millisecondsSinceEpoch), entry.isUnread ? 1 : 0, SQLValue(entry.message.body),
                .bytes(stanza))
            guard isNew > 0 else { continue }
            count += 1
            bytes += stanza.count
            let place = connection.lastInsertedRow
            defer { isDue = isDue || place % Int64(stride) == 0 }
            guard let body = entry.message.body else { continue }
            // Not by a trigger: what a file that was tampered with makes happen by itself is not trusted.
            try connection.execute(
                "INSERT INTO message_text (rowid, body) VALUES (?, ?)", .integer(place), .text(body))
        }
        if count > 0 { try total(account, add: count, bytes, on: connection) }
        if isDue { try prune(account, messages: maximumMessages, bytes: maximumBytes, on: connection) }
        return count
    }

    /// Counts what was added or, below zero, removed.
    private static func total(
        _ account: JID, add count: Int, _ bytes: Int, on connection: SQLiteConnection
    ) throws(StorageError) {
        try connection.execute(
            """
            INSERT INTO message_total (account, count, bytes) VALUES (?1, ?2, ?3)
            ON CONFLICT (account) DO UPDATE SET count = count + ?2, bytes = bytes + ?3
            """, .text(account.bare.description), .integer(Int64(count)), .integer(Int64(bytes)))
    }

    /// The messages that make room first: those that were read before others, and among them the oldest.
    static let oldest =
        "SELECT place, body, length(stanza) FROM message WHERE account = ? ORDER BY is_unread, at, place LIMIT ?"

    /// Makes room where an account has too much, at least a hundredth at a time.
    static func prune(
        _ account: JID, messages: Int, bytes: Int, on connection: SQLiteConnection
    ) throws(StorageError) {
        let key = SQLValue.text(account.bare.description)
        let total = try connection.first("SELECT count, bytes FROM message_total WHERE account = ?", key) {
            (count: Int($0.integer(0)), bytes: Int($0.integer(1)))
        }
        guard let total, total.count > messages || total.bytes > bytes else { return }
        var count = max(0, total.count - messages + messages / 100)
        var excess = max(0, total.bytes - bytes + bytes / 100)
        // Page by page: what goes is not held in memory as a whole.
        while count > 0 || excess > 0 {
            let oldest = try connection.rows(Self.oldest, key, .integer(Int64(stride))) {
                (place: $0.integer(0), body: $0.text(1), bytes: Int($0.integer(2)))
            }
            guard !oldest.isEmpty else { return }
            var removed = (count: 0, bytes: 0)
            for message in oldest where count > 0 || excess > 0 {
                if let body = message.body {
                    try connection.execute(
                        "INSERT INTO message_text (message_text, rowid, body) VALUES ('delete', ?, ?)",
                        .integer(message.place), .text(body))
                }
                try connection.execute("DELETE FROM message WHERE place = ?", .integer(message.place))
                count -= 1
                excess -= message.bytes
                removed = (removed.count + 1, removed.bytes + message.bytes)
            }
            try Self.total(account, add: -removed.count, -removed.bytes, on: connection)
        }
    }

    /// Looks messages up.
    ///
    /// - Returns: The newest that fit, oldest first.
    /// - Throws: ``StorageError``.
    public func messages(_ query: ArchiveQuery, of account: JID) async throws(StorageError) -> [ArchivedMessage] {
        var conditions = ["account = ?"]
        var values: [SQLValue] = [.text(account.bare.description)]
        func add(_ condition: String, _ value: SQLValue) {
            conditions.append(condition)
            values.append(value)
        }
        if let peer = query.peer { add("peer = ?", .text(peer.bare.description)) }
        if let since = query.since { add("at >= ?", .integer(since.millisecondsSinceEpoch)) }
        if let before = query.before { add("at < ?", .integer(before.millisecondsSinceEpoch)) }
        if query.isUnreadOnly { conditions.append("is_unread") }
        if let text = query.text {
            let expression = Self.expression(text)
            guard !expression.isEmpty else { return [] }
            add("place IN (SELECT rowid FROM message_text WHERE message_text MATCH ?)", .text(expression))
        }
        values.append(.integer(Int64(min(max(query.limit, 0), Self.maximumResults))))
        let sql =
            "SELECT \(Self.columns) FROM message WHERE \(conditions.joined(separator: " AND ")) "
            + "ORDER BY at DESC, place DESC LIMIT ?"
        let arguments = values
        return try await database.read { connection throws(StorageError) in
            try connection.rows(sql, arguments) { row throws(StorageError) in
                try Self.message(row, file: connection.file)
            }.reversed()
        }
    }

    /// The words of a search as FTS5 takes them: each a string of its own, the last one the beginning of a word. So
    /// nothing of what a user types is taken for an operator. By Unicode scalars: a quotation mark with an accent on it
    /// is one to FTS5. It reads no further than a NUL.
    private static func expression(_ text: String) -> String {
        let words = text.unicodeScalars.split { $0.properties.isWhitespace || $0 == "\0" }.map { word in
            let parts = word.split(separator: "\"", omittingEmptySubsequences: false)
            return "\"" + parts.map { String($0) }.joined(separator: "\"\"") + "\""
        }
        return words.isEmpty ? "" : words.joined(separator: " ") + "*"
    }

    /// How many messages of whom are unread, by the bare address.
    ///
    /// - Throws: ``StorageError``.
    public func unread(of account: JID) async throws(StorageError) -> [(peer: JID, count: Int)] {
        try await database.read { connection throws(StorageError) in
            try connection.rows(
                """
                SELECT peer, count(*) FROM message WHERE account = ? AND is_unread GROUP BY peer ORDER BY max(place) DESC
                """, .text(account.bare.description)
            ) { row throws(StorageError) in
                (peer: try StoredStanza.jid(row.text(0), file: connection.file), count: Int(row.integer(1)))
            }
        }
    }

    /// Marks messages of a contact or room as read, up to one, or all of them.
    ///
    /// - Parameters:
    ///   - peer: Whose.
    ///   - id: The id of the last one that was read; `nil` for all.
    ///   - account: Whose archive.
    /// - Returns: The messages that were unread before, the newest ``maximumMarked`` of them, oldest first; `nil` when
    ///   there is no message with that id.
    /// - Throws: ``StorageError``.
    public func markRead(
        _ peer: JID, upTo id: String? = nil, of account: JID
    ) async throws(StorageError) -> [ArchivedMessage]? {
        let (key, contact) = (SQLValue.text(account.bare.description), SQLValue.text(peer.bare.description))
        return try await database.write { connection throws(StorageError) in
            var last = Int64.max
            if let id {
                let place =
                    try connection.first(
                        """
                        SELECT max(place) FROM message
                        WHERE account = ?1 AND peer = ?2 AND (id = ?3 OR archive_id = ?3) AND NOT is_outgoing
                        """, key, contact, .text(id)
                    ) { $0.optionalInteger(0) } ?? nil
                guard let place else { return nil }
                last = place
            }
            let found = try connection.rows(
                """
                SELECT \(Self.columns) FROM message WHERE account = ? AND peer = ? AND is_unread AND place <= ?
                ORDER BY place DESC LIMIT ?
                """, key, contact, .integer(last), .integer(Int64(Self.maximumMarked))
            ) { row throws(StorageError) in try Self.message(row, file: connection.file) }.reversed()
            try connection.execute(
                "UPDATE message SET is_unread = 0 WHERE account = ? AND peer = ? AND is_unread AND place <= ?", key,
                contact, .integer(last))
            return Array(found)
        }
    }

    /// The name that an archive of the server gave to the newest message that is here, and the message's time: what
    /// came after it is what is missing. `nil` where no message has a name of that archive's.
    ///
    /// - Throws: ``StorageError``.
    public func lastNamed(
        by archive: JID, of account: JID
    ) async throws(StorageError) -> (name: ArchivedMessage.Name, at: DateTime)? {
        let row = try await database.read { connection throws(StorageError) in
            try connection.first(
                """
                SELECT archive_id, at FROM message WHERE account = ? AND archive = ? AND archive_id IS NOT NULL
                ORDER BY at DESC, place DESC LIMIT 1
                """, .text(account.bare.description), .text(archive.description)
            ) { (id: $0.text(0), at: DateTime(millisecondsSinceEpoch: $0.integer(1))) }
        }
        guard let row, let id = row.id else { return nil }
        return (ArchivedMessage.Name(by: archive, id: id), row.at)
    }

    /// The message that was sent from here and that an archive calls so; `nil` where none is known.
    package static func outgoing(
        _ id: String, by archive: JID, of account: JID, on connection: SQLiteConnection
    ) throws(StorageError) -> ArchivedMessage? {
        try connection.first(
            "SELECT \(columns) FROM message WHERE account = ? AND archive = ? AND archive_id = ? AND is_outgoing",
            .text(account.bare.description), .text(archive.description), .text(id)
        ) { row throws(StorageError) in try message(row, file: connection.file) }
    }

    /// What an archive calls a message that was sent from here; `nil` where that is not known.
    package func name(
        ofOrigin id: String, to peer: JID, of account: JID
    ) async throws(StorageError) -> ArchivedMessage.Name? {
        try await database.read { connection throws(StorageError) in
            try connection.first(
                "SELECT \(Self.columns) FROM message WHERE account = ? AND peer = ? AND origin_id = ? AND is_outgoing",
                .text(account.bare.description), .text(peer.bare.description), .text(id)
            ) { row throws(StorageError) in try Self.message(row, file: connection.file) }?.archiveID
        }
    }

    private static let columns = "stanza, peer, is_outgoing, origin_id, archive, archive_id, at, is_unread"

    private static func message(_ row: SQLRow, file: String) throws(StorageError) -> ArchivedMessage {
        var archiveID: ArchivedMessage.Name?
        if let id = row.text(5) {
            archiveID = ArchivedMessage.Name(by: try StoredStanza.jid(row.text(4), file: file), id: id)
        }
        return ArchivedMessage(
            message: try StoredStanza.message(row.bytes(0), file: file),
            peer: try StoredStanza.jid(row.text(1), file: file), isOutgoing: row.integer(2) != 0,
            at: DateTime(millisecondsSinceEpoch: row.integer(6)), originID: row.text(3), archiveID: archiveID,
            isUnread: row.integer(7) != 0)
    }
}
