// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import SocketIO
internal import XMPP
internal import XMPPStorage

/// What arrives on an account's stream, on its way to the disk: what each message means to those who listen and to the
/// archive is noted while it is routed, and written in the transaction that counts the message. So is each request for
/// a subscription.
///
/// It is told of messages and requests in the order in which they arrive, and of those that are to be written in the
/// same order; between two connections some may be left out, which come again on the next.
final class Intake: Sendable {
    /// What a message or a request means.
    struct Record: Sendable {
        /// For those who listen.
        var events: [JSONObject] = []
        /// For the archive.
        var messages: [ArchivedMessage] = []
        /// For the outbox.
        var marks: [Mark] = []
        /// For those who answer requests.
        var requests: [KeptRequest] = []

        var isEmpty: Bool { events.isEmpty && messages.isEmpty && marks.isEmpty && requests.isEmpty }
    }

    /// How far a message that was sent from here has come.
    struct Mark: Sendable {
        let state: DeliveryState
        let id: String
        let from: JID
        var error: StanzaError?
    }

    /// Which events are kept for those who listen later. The others tell how things stand, and are of no use when they
    /// stand otherwise.
    static let keptTypes: Set = [
        "message", "receipt", "marker", "reaction", "retraction", "invitation", "roster", "account", "gap",
    ]

    private struct State {
        /// What the events since the last message mean.
        var open = Record()
        /// The messages that are not written yet, oldest first.
        var arrivals: [(element: Element, record: Record)] = []
        /// How many of them are in the transaction that is under way.
        var taken = 0
        /// The cursor of the last event that it has written.
        var written: Int64?
        /// The cursor of the last event that is on the disk.
        var last: Int64 = 0
    }

    /// How many batches of events without a message may wait to be written; 10,000. Further ones are left out.
    static let maximumLoose = 10_000

    /// Events that came without a message, in order; for who writes them.
    let loose: AsyncStream<[JSONObject]>
    private let looseInput: AsyncStream<[JSONObject]>.Continuation
    private let account: JID
    private let state = Locked(State())

    /// - Parameter account: Whose stream it is.
    init(account: JID) {
        self.account = account.bare
        (loose, looseInput) = AsyncStream.makeStream(
            of: [JSONObject].self, bufferingPolicy: .bufferingOldest(Self.maximumLoose))
    }

    /// Takes events that came without a message; they are written in order, a moment later.
    func tell(_ events: [JSONObject]) {
        looseInput.yield(events)
    }

    /// No more of them come.
    func end() {
        looseInput.finish()
    }

    // MARK: What arrives, on the stream's executor

    /// Something happened.
    ///
    /// - Parameter events: What those who listen are told of it.
    /// - Returns: What comes with no message and has to be written apart.
    func note(_ event: XMPPEvent, _ events: [JSONObject]) -> [JSONObject] {
        let kept = events.filter { $0.string("type").map(Self.keptTypes.contains) ?? false }
        guard let record = record(event, kept) else { return kept }
        state.withLock { state in
            state.open.events += record.events
            state.open.messages += record.messages
            state.open.marks += record.marks
            state.open.requests += record.requests
        }
        return []
    }

    /// What an event means that comes with a message or a request; `nil` for others.
    private func record(_ event: XMPPEvent, _ events: [JSONObject]) -> Record? {
        var record = Record(events: events)
        switch event {
        case .message(let message):
            let chat = ChatMessage(message, account: account)
            record.messages = [ArchivedMessage(chat, keeper: account, isUnread: true)].compactMap { $0 }
        case .carbon(let carbon):
            let chat = ChatMessage(carbon, account: account)
            record.messages = [ArchivedMessage(chat, keeper: account, isUnread: true)].compactMap { $0 }
        case .room(let room, .message(let line)):
            let chat = ChatMessage(line.message, account: account)
            let entry = ArchivedMessage(
                chat, keeper: room.jid, isOutgoing: line.isOwn, isUnread: !line.isHistory)
            // What a room tells of its past at each entrance is known by the name that the room has given it, or not at
            // all.
            record.messages = [entry].compactMap { $0 }.filter { !line.isHistory || $0.archiveID != nil }
            // What the room has sent back has arrived there (XEP-0045 §7.4).
            if line.isOwn, let id = line.message.originID ?? line.message.id {
                record.marks = [Mark(state: .server, id: id, from: room.jid)]
            }
        case .messageBounced(let message, let error):
            guard let id = message.id, let from = message.from else { return record }
            record.marks = [Mark(state: .failed, id: id, from: from, error: error)]
        case .receipt(let id, let from):
            record.marks = [Mark(state: .device, id: id, from: from)]
        case .displayed(let id, let from):
            record.marks = [Mark(state: .read, id: id, from: from)]
        case .oversized(let stanza):
            // Others than messages are not among those that are written.
            guard stanza.kind == .message else { return nil }
        case .subscriptionRequest(let request):
            record.requests = [KeptRequest(request)].compactMap { $0 }
        case .invitation, .room(_, .subject):
            break
        case .connected, .serverKeyChanged, .authenticated, .presence, .buddyCameOnline, .buddyChanged,
            .buddyWentOffline, .roster, .room, .blockList, .interrupted, .resumed, .notResumed,
            .disconnected:
            return nil
        }
        return record
    }

    /// The events since the last call belong to this message, which will be written.
    func kept(_ element: Element) {
        state.withLock { state in
            state.arrivals.append((element, state.open))
            state.open = Record()
        }
    }

    /// A connection begins: what was not written comes again.
    func connectionBegan() {
        state.withLock { state in
            state.open = Record()
            state.arrivals = []
            state.taken = 0
        }
    }

    // MARK: What is written, on the database's queue

    /// A transaction begins; one that failed before has not happened.
    func rewind() {
        state.withLock { state in
            state.taken = 0
            state.written = nil
        }
    }

    /// Writes what some messages mean, within a transaction.
    func write(
        _ elements: [Element], of account: JID, to journal: EventJournal, on connection: SQLiteConnection
    ) throws(StorageError) {
        let records = state.withLock { state in elements.compactMap { Self.take($0, &state) } }
        for record in records {
            guard let last = try write(record, of: account, to: journal, on: connection) else { continue }
            state.withLock { $0.written = last }
        }
    }

    /// Writes what one message means.
    ///
    /// - Returns: The cursor of the last event that was written.
    func write(
        _ record: Record, of account: JID, to journal: EventJournal, on connection: SQLiteConnection
    ) throws(StorageError) -> Int64? {
        for mark in record.marks {
            try DurableOutbox.note(
                mark.state, of: mark.id, account: account, because: mark.error.map(Self.reason), on: connection
            ) { to in
                OutboxKey(id: mark.id, recipient: to).isAnswered(by: mark.from, asError: mark.error != nil)
            }
            if mark.state == .read { try noteSeen(mark, of: account, on: connection) }
        }
        for request in record.requests { try KeptRequests.add(request, of: account, on: connection) }
        let new = try MessageArchive.add(record.messages, of: account, on: connection)
        // What is known by its name in the archive was told before.
        if new == 0, record.messages.contains(where: { $0.archiveID != nil }) { return nil }
        guard !record.events.isEmpty else { return nil }
        return try journal.append(record.events.map(Self.bytes), on: connection)
    }

    /// In a room a message is marked by the name that the room has given it (XEP-0333 §4.2), and not by who has sent
    /// it.
    private func noteSeen(_ mark: Mark, of account: JID, on connection: SQLiteConnection) throws(StorageError) {
        guard mark.from.isFull,
            let own = try MessageArchive.outgoing(mark.id, by: mark.from.bare, of: account, on: connection),
            own.message.from != mark.from, let id = own.originID
        else { return }
        try DurableOutbox.note(.read, of: id, account: account, on: connection) { $0 == mark.from.bare }
    }

    /// The transaction is on the disk.
    func commit() {
        state.withLock { state in
            state.arrivals.removeFirst(state.taken)
            state.taken = 0
            if let written = state.written { state.last = max(state.last, written) }
            state.written = nil
        }
    }

    /// Other events are on the disk.
    func wrote(upTo cursor: Int64) {
        state.withLock { $0.last = max($0.last, cursor) }
    }

    /// A database was opened, in which this event is the last.
    func began(after cursor: Int64) {
        state.withLock { $0.last = cursor }
    }

    /// The cursor of the last event that is on the disk.
    var lastCursor: Int64 { state.withLock { $0.last } }

    /// How many messages are on their way.
    var count: Int { state.withLock { $0.arrivals.count } }

    private static func take(_ element: Element, _ state: inout State) -> Record? {
        guard let place = state.arrivals[state.taken...].firstIndex(where: { $0.element == element }) else {
            return nil
        }
        state.taken = place + 1
        return state.arrivals[place].record
    }

    /// An event as it is kept.
    static func bytes(_ event: JSONObject) -> [UInt8] {
        Array(JSONValue.object(event).text.utf8)
    }

    // MARK: Reasons

    /// A bounce as it is kept with the message.
    private static func reason(_ error: StanzaError) -> String {
        JSONValue.object(
            ControlError(.refused, "\(error)", stanza: ControlError.stanza(error)).json
        ).text
    }
}
