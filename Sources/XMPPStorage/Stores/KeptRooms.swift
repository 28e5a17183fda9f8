// SPDX-License-Identifier: Apache-2.0

public import XMPPCore

/// A room that an account is in, also when the program that is in it does not run.
public struct KeptRoom: Sendable, Hashable {
    /// The room's address.
    public var jid: JID
    /// The name to have there.
    public var nickname: String
    /// What opens its door, where it has a lock.
    public var password: String?
    /// Whether the account is there only for what waits to be said, and leaves afterwards.
    public var isVisit: Bool

    /// Makes one.
    public init(jid: JID, nickname: String, password: String? = nil, isVisit: Bool = false) {
        self.jid = jid
        self.nickname = nickname
        self.password = password
        self.isVisit = isVisit
    }
}

/// The rooms that accounts are in.
public final class KeptRooms: Sendable {
    /// How many rooms of an account are returned at most; 1,000, as many as a session can be in.
    public static let maximumRooms = 1_000

    private let database: Database

    /// Makes a list.
    public init(_ database: Database) {
        self.database = database
    }

    /// The rooms of an account, by address.
    ///
    /// - Throws: ``StorageError``.
    public func rooms(of account: JID) async throws(StorageError) -> [KeptRoom] {
        try await database.read { connection throws(StorageError) in
            try connection.rows(
                "SELECT jid, nickname, password, is_visit FROM room WHERE account = ? ORDER BY jid LIMIT ?",
                .text(account.bare.description), .integer(Int64(Self.maximumRooms))
            ) { row throws(StorageError) in
                KeptRoom(
                    jid: try StoredStanza.jid(row.text(0), file: connection.file), nickname: row.text(1) ?? "",
                    password: row.text(2), isVisit: row.integer(3) != 0)
            }
        }
    }

    /// Notes a room; one that is there is replaced, but a visit does not replace a stay.
    ///
    /// - Throws: ``StorageError``.
    public func save(_ room: KeptRoom, of account: JID) async throws(StorageError) {
        _ = try await database.write { connection throws(StorageError) in
            try connection.execute(
                """
                INSERT INTO room (account, jid, nickname, password, is_visit) VALUES (?1, ?2, ?3, ?4, ?5)
                ON CONFLICT (account, jid) DO UPDATE SET nickname = ?3, password = ?4, is_visit = ?5
                WHERE is_visit OR NOT ?5
                """, .text(account.bare.description), .text(room.jid.bare.description), .text(room.nickname),
                SQLValue(room.password), room.isVisit ? 1 : 0)
        }
    }

    /// Notes another nickname in a room that is there.
    ///
    /// - Throws: ``StorageError``.
    public func rename(_ nickname: String, in room: JID, of account: JID) async throws(StorageError) {
        _ = try await database.write { connection throws(StorageError) in
            try connection.execute(
                "UPDATE room SET nickname = ? WHERE account = ? AND jid = ?", .text(nickname),
                .text(account.bare.description), .text(room.bare.description))
        }
    }

    /// Forgets a room.
    ///
    /// - Throws: ``StorageError``.
    public func remove(_ room: JID, of account: JID) async throws(StorageError) {
        _ = try await database.write { connection throws(StorageError) in
            try connection.execute(
                "DELETE FROM room WHERE account = ? AND jid = ?", .text(account.bare.description),
                .text(room.bare.description))
        }
    }
}
