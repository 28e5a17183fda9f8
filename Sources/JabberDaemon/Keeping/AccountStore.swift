// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import SocketIO
internal import XMPP
internal import XMPPStorage

/// What a daemon that stays keeps of one account, in one database: the session, so that it can be resumed after the
/// process was killed; what waits to be sent; what was said; and what happened, for those who listen.
///
/// It is told of every step of the session, and keeps what arrives in the transaction that counts it.
final class AccountStore: Sendable {
    /// What waits to be sent, and what became of what was.
    let outbox: DurableOutbox
    /// The rooms that the account is in.
    let rooms: KeptRooms
    /// Who asks for a subscription and has no answer.
    let requests: KeptRequests
    /// What was said.
    let archive: MessageArchive
    /// What happened.
    let journal: EventJournal
    /// What arrives, on its way to the disk.
    let intake: Intake
    /// Something was written: an event, or how far a message has come.
    let news = Signal()
    /// Where the file is that was found damaged; `nil` when none was.
    var setAside: String? { database.setAside }

    /// What the disk does to it.
    let trouble = StoreTrouble()

    private let database: Database
    private let streams: DurableStreamStateStore
    private let account: JID
    private let lock: Locked<Descriptor?>
    private let writer: Task<Void, Never>

    private init(_ database: Database, of account: JID, lock: Descriptor, last: Int64, intake: Intake) {
        self.database = database
        self.account = account.bare
        self.lock = Locked(lock)
        self.intake = intake
        outbox = DurableOutbox(database)
        rooms = KeptRooms(database)
        requests = KeptRequests(database)
        archive = MessageArchive(database)
        let journal = EventJournal(database)
        self.journal = journal
        intake.began(after: last)
        streams = DurableStreamStateStore(
            database,
            arrived: { connection, account, messages throws(StorageError) in
                try intake.write(messages, of: account, to: journal, on: connection)
            })
        let (news, trouble) = (news, trouble)
        writer = Task {
            for await batch in intake.loose {
                // What cannot be written is told to those who listen now, and to nobody later.
                let kept = await trouble.watch { () throws(StorageError) in
                    try await journal.append(batch.map(Intake.bytes))
                }
                guard let last = try? kept.get() else { continue }
                intake.wrote(upTo: last)
                news.raise()
            }
        }
    }

    /// Opens the database of an account, which only one process can do at a time.
    ///
    /// - Parameters:
    ///   - name: The account's name in the settings, which is one that a file can have.
    ///   - account: Its address.
    ///   - paths: Where state is kept.
    ///   - intake: What is on its way into it.
    /// - Throws: `ControlError` that says what to do; ``ControlError/retry`` tells whether the same may succeed later.
    static func open(
        _ name: String, of account: JID, paths: RuntimePaths, intake: Intake
    ) async throws(ControlError) -> AccountStore {
        guard let files = AccountFiles(of: name, paths: paths) else {
            throw ControlError(.configuration, "\"\(name)\" cannot be the name of a file", account: account.description)
        }
        let path = files.database
        // Before the lock: it says what is wrong with the folder.
        try PrivateFile.makeFolder(PrivateFile.folder(of: path))
        guard let lock = StateLock.take(files.databaseLock) else {
            throw ControlError(
                .temporary, "another daemon uses \(path); end that one first", account: account.description)
        }
        do throws(StorageError) {
            let database = try await Database(at: path)
            // Gives a new journal its first cursor: whoever asks before the first event is told of what comes, not of a
            // gap.
            let last = try await EventJournal(database).append([])
            return AccountStore(database, of: account, lock: lock, last: last, intake: intake)
        } catch {
            throw ControlError(error, account: account.description)
        }
    }

    /// Puts a message into the outbox and into the archive, that to a room into the outbox alone: it was said when the
    /// room has sent it back. Returns when it is on the disk.
    ///
    /// - Returns: How it is kept: as before where its id and addressee are known.
    /// - Throws: `ControlError`; nothing was kept then.
    func post(_ message: Message, expires: DateTime? = nil) async throws(ControlError) -> OutboxEntry {
        let account = account
        do {
            let entry = try await outbox.add(message, of: account, expires: expires) {
                connection throws(StorageError) in
                guard message.kind != .groupchat, let entry = ArchivedMessage(posted: message, by: account) else {
                    return
                }
                try MessageArchive.add([entry], of: account, on: connection)
            }
            trouble.note(nil)
            return entry
        } catch let error as StorageError {
            trouble.note(error)
            throw ControlError(error, account: account.description)
        } catch {
            throw ControlError(.temporary, "\(error)", account: account.description)
        }
    }

    /// Takes in messages that did not come over the stream; returns when they are on the disk.
    ///
    /// - Returns: How many of them nobody was told of before.
    func take(_ records: [Intake.Record]) async throws(StorageError) -> Int {
        guard !records.isEmpty else { return 0 }
        let (intake, journal, account, database) = (intake, journal, account, database)
        let written = try await database.write { connection throws(StorageError) in
            var written: [Int64] = []
            for record in records {
                if let cursor = try intake.write(record, of: account, to: journal, on: connection) {
                    written.append(cursor)
                }
            }
            return written
        }
        intake.wrote(upTo: written.max() ?? 0)
        news.raise()
        return written.count
    }

    /// Writes what waits and closes the database; another process may have it from then on.
    func close() async {
        intake.end()
        await writer.value
        await database.close()
        lock.withLock { $0 = nil }
        news.raise()
    }
}

extension AccountStore: StreamStateStore {
    var keepsProgress: Bool { true }

    func state(of account: JID) async throws -> StreamState? {
        try await streams.state(of: account)
    }

    func save(_ state: StreamState?, of account: JID) async throws {
        try await streams.save(state, of: account)
        news.raise()
    }

    func keep(_ steps: [StreamProgress], of account: JID) async throws {
        intake.rewind()
        do {
            try await streams.keep(steps, of: account)
        } catch {
            trouble.note(error as? StorageError)
            throw error
        }
        trouble.note(nil)
        intake.commit()
        news.raise()
    }
}

extension ArchivedMessage {
    /// A message that is posted here; `nil` for one with nothing to read, such as a retraction with its words for
    /// others.
    init?(posted message: Message, by account: JID, at moment: DateTime = .now) {
        var message = message
        message.from = account.bare
        guard let to = message.to, ChatMessage(message, account: account).text != nil else { return nil }
        self.init(
            message: message, peer: to, isOutgoing: true, at: moment, originID: message.originID ?? message.id)
    }

    /// A message that came, or was sent from elsewhere; `nil` for one with nothing to read.
    ///
    /// - Parameters:
    ///   - keeper: Whose archive's names for messages are believed: the own account's, or the room's (XEP-0359 §6).
    init?(_ chat: ChatMessage, keeper: JID, isOutgoing: Bool? = nil, isUnread: Bool, at moment: DateTime? = nil) {
        guard chat.text != nil, chat.message.kind != .error else { return nil }
        let isOutgoing = isOutgoing ?? chat.isOutgoing
        self.init(
            message: chat.message, peer: chat.conversation, isOutgoing: isOutgoing,
            // Not in the future, whoever says so: what is missing is looked for behind the newest (XEP-0203 §4).
            at: moment.map { min($0, .now) } ?? chat.message.sentAt(),
            originID: chat.message.originID ?? (isOutgoing ? chat.message.id : nil),
            archiveID: chat.message.stanzaID(by: keeper).map { Name(by: keeper, id: $0) },
            isUnread: isUnread && !isOutgoing)
    }
}

extension ControlError {
    /// Why something could not be kept.
    init(_ error: StorageError, account: String? = nil) {
        let code: ControlErrorCode =
            switch error.code {
            case .permissions: .permissions
            case .newer, .foreign: .configuration
            case .full, .inputOutput, .readOnly, .damaged, .busy: .inputOutput
            case .closed: .cancelled
            case .unstorable: .badData
            case .constraint, .other: .internalError
            }
        self.init(code, error.message, account: account)
        retry = error.isTemporary
    }
}
