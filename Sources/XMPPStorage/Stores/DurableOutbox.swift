// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
public import XMPPProtocol

/// An outbox in a ``Database``: what was added is sent even if the process is killed before it could be.
public final class DurableOutbox: Outbox {
    /// How many messages may wait to be sent for an account; 100,000.
    public static let maximumWaiting = 100_000
    /// Of how many messages, the newest, it is remembered what became of them; 10,000. Their ids are known for that
    /// long.
    public static let maximumRemembered = 10_000
    /// How many messages are added between two looks at what may be forgotten.
    private static let stride = 256

    private let database: Database

    /// Makes an outbox.
    public init(_ database: Database) {
        self.database = database
    }

    /// Adds a message; returns when it is on the disk.
    ///
    /// - Throws: ``OutboxError`` or ``StorageError``.
    public func add(_ message: Message, of account: JID, expires: DateTime?) async throws -> OutboxEntry {
        try await add(message, of: account, expires: expires) { _ throws(StorageError) in }
    }

    /// Adds a message, and does something else in the same transaction where it is new.
    ///
    /// - Throws: ``OutboxError`` or ``StorageError``; then neither has happened.
    package func add(
        _ message: Message, of account: JID, expires: DateTime?,
        alongside: @escaping @Sendable (SQLiteConnection) throws(StorageError) -> Void
    ) async throws -> OutboxEntry {
        guard let id = message.id, let recipient = message.to?.description else { throw OutboxError.anonymous }
        let outcome = try await database.write { connection throws(StorageError) -> OutboxEntry? in
            let table = OutboxTable(connection, account)
            if try table.isFull(Self.maximumWaiting) { return try table.entry(id, recipient) }
            guard let entry = try table.add(message, id, recipient, expires: expires) else {
                return try table.entry(id, recipient)
            }
            let place = connection.lastInsertedRow
            try alongside(connection)
            if place % Int64(Self.stride) == 0 {
                try OutboxTable.pruneAll(connection, keeping: Self.maximumRemembered)
            }
            return entry
        }
        guard let outcome else { throw OutboxError.full(Self.maximumWaiting) }
        return outcome
    }

    /// The messages that wait to be sent, oldest first.
    public func waiting(
        of account: JID, passingOver addressees: Set<JID>, limit: Int
    ) async throws -> [OutboxEntry] {
        let passedOver = addressees.map(\.description)
        return try await database.write { connection throws(StorageError) in
            let table = OutboxTable(connection, account)
            try table.expire()
            return try table.waiting(limit: limit, passingOver: passedOver)
        }
    }

    /// The messages to rooms that were sent and that no room has sent back yet, oldest first.
    public func unreflected(of account: JID) async throws -> [OutboxEntry] {
        try await database.read { connection throws(StorageError) in
            try OutboxTable(connection, account).unreflected
        }
    }

    /// How many messages to an address wait, or are on their way there.
    package func open(to recipient: JID, of account: JID) async throws(StorageError) -> Int {
        try await database.read { connection throws(StorageError) in
            try OutboxTable(connection, account).open(to: recipient.description)
        }
    }

    /// Notes that a room takes nothing of what waits for it or is on its way there.
    package func fail(inRoom room: JID, of account: JID, because reason: String) async throws(StorageError) {
        try await database.write { connection throws(StorageError) in
            try OutboxTable(connection, account).fail(inRoom: room.description, because: reason)
        }
    }

    /// The messages of which nobody knows whether the server has them, oldest first.
    public func uncertain(of account: JID) async throws -> [OutboxEntry] {
        try await database.read { connection throws(StorageError) in
            try OutboxTable(connection, account).uncertain
        }
    }

    /// What is known of a message.
    public func entry(_ id: String, to recipient: JID, of account: JID) async throws -> OutboxEntry? {
        try await database.read { connection throws(StorageError) in
            try OutboxTable(connection, account).entry(id, recipient.description)
        }
    }

    /// What is known of all messages with an id.
    public func entries(_ id: String, of account: JID) async throws -> [OutboxEntry] {
        try await database.read { connection throws(StorageError) in
            try OutboxTable(connection, account).entries(id)
        }
    }

    /// Which messages were added last, the newest first.
    public func latest(of account: JID, limit: Int) async throws -> [OutboxKey] {
        try await database.read { connection throws(StorageError) in
            try OutboxTable(connection, account).latest(limit: limit)
        }
    }

    /// Gives an element after each transaction of the database; ends when that is closed.
    public func changes() -> AsyncStream<Void> { database.commits() }

    /// Notes how far a message has come.
    @discardableResult
    public func note(
        _ state: DeliveryState, of id: String, to recipient: JID, of account: JID, because reason: String?
    ) async throws -> OutboxEntry? {
        try await database.write { connection throws(StorageError) in
            let table = OutboxTable(connection, account)
            guard let entry = try table.entry(id, recipient.description) else { return nil }
            guard entry.state.leads(to: state) else { return entry }
            try table.set(state, id, recipient.description, reason: reason)
            return try table.entry(id, recipient.description)
        }
    }

    /// Notes within a transaction how far messages with an id have come, of those to the addressees that are meant.
    ///
    /// - Parameter isMeant: Whether news are about a message to this address.
    package static func note(
        _ state: DeliveryState, of id: String, account: JID, because reason: String? = nil,
        on connection: SQLiteConnection, where isMeant: (JID) -> Bool
    ) throws(StorageError) {
        let table = OutboxTable(connection, account)
        for recipient in try table.recipients(of: id) {
            guard isMeant(try StoredStanza.jid(recipient, file: connection.file)),
                let entry = try table.entry(id, recipient), entry.state.leads(to: state)
            else { continue }
            try table.set(state, id, recipient, reason: reason)
        }
    }

    /// How many messages wait to be sent for an account, and of how many nobody knows whether the server has them.
    package func counts(of account: JID) async throws(StorageError) -> (waiting: Int, uncertain: Int) {
        try await database.read { connection throws(StorageError) in
            try OutboxTable(connection, account).counts
        }
    }

    /// Resolves a doubt.
    public func resolve(_ id: String, to recipient: JID, of account: JID, isAtServer: Bool?) async throws {
        try await database.write { connection throws(StorageError) in
            let table = OutboxTable(connection, account)
            guard let entry = try table.entry(id, recipient.description), entry.isInDoubt else { return }
            guard let isAtServer else { return try table.doubt(id, recipient.description) }
            try table.set(isAtServer ? .server : .queued, id, recipient.description, reason: nil)
        }
    }
}
