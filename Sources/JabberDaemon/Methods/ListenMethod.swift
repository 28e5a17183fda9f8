// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import SocketIO
internal import XMPP
internal import XMPPStorage

/// `listen`: events as they come, until the caller cancels or there were enough.
enum ListenMethod {
    /// What can be listened for.
    static let kinds = [
        "message", "presence", "receipt", "marker", "state", "reaction", "retraction", "invitation", "room",
        "roster", "account",
    ]

    /// The kinds that come with messages.
    static let messageKinds: Set = [
        "message", "receipt", "marker", "state", "reaction", "retraction", "invitation",
    ]

    static func run(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        var kinds = Set(try call.parameters.strings("kind"))
        if kinds.isEmpty { kinds = ["message"] }
        if let unknown = kinds.subtracting(Self.kinds).min() {
            throw call.parameters.wrong(
                "kind", "cannot be \"\(unknown)\"; it is one of \(Self.kinds.joined(separator: ", "))")
        }
        let room = try call.parameters.jid("room")
        let nickname = try call.parameters.string("nick")
        if let room, room.localpart == nil || room.isFull {
            throw ControlError(.badJID, "\"\(room)\" is not the address of a room: that is room@service")
        }
        let filter = EventFilter(kinds: kinds, from: try call.parameters.jid("from"), room: room)
        let count = try call.parameters.whole("count", in: 1...1_000_000_000)
        let start = try EventStart(call.parameters)
        let session = try await call.session
        let isHeld = await session.holding != nil
        guard start.isOfNow || isHeld else {
            throw ControlError(
                .daemonNotRunning, "only a daemon that stays keeps events; start it with: jabberctl daemon start")
        }
        let listener = Listener(
            session, filter, from: start, most: count, as: nickname, emit: call.emit, room: call.room,
            hasRoom: call.hasRoom)
        try await listener.run()
        return session.heading
    }
}

/// Hands events to one caller.
final class Listener: Sendable {
    private struct State {
        var rest: Int?
        var waiter: CheckedContinuation<Void, Never>?
        var failure: ControlError?
        var isOver = false
    }

    private let session: AccountSession
    private let filter: EventFilter
    private let start: EventStart
    private let nickname: String?
    private let visit = Locked<Task<Result<RoomVisit?, ControlError>, Never>?>(nil)
    private let emit: @Sendable (JSONObject) -> Void
    private let room: @Sendable () async -> Bool
    private let hasRoom: @Sendable () -> Bool
    private let backlog = Locked(StateBacklog())
    private let state: Locked<State>

    /// - Parameters:
    ///   - session: Whose events.
    ///   - filter: Which of them.
    ///   - start: Where to begin, in a session that is held open.
    ///   - most: How many are enough; `nil` for no such number.
    ///   - emit: Called with each.
    ///   - room: Waits until the caller has taken most of them; `false` when it has gone.
    ///   - hasRoom: Whether it takes them as fast as they come.
    init(
        _ session: AccountSession, _ filter: EventFilter, from start: EventStart, most: Int?,
        as nickname: String? = nil,
        emit: @escaping @Sendable (JSONObject) -> Void, room: @escaping @Sendable () async -> Bool = { true },
        hasRoom: @escaping @Sendable () -> Bool = { true }
    ) {
        self.hasRoom = hasRoom
        self.room = room
        self.session = session
        self.filter = filter
        self.start = start
        self.nickname = nickname
        self.emit = emit
        state = Locked(State(rest: most))
    }

    /// Hands over events until there were enough, the caller has gone, or there can be no more.
    ///
    /// - Throws: `ControlError` when the last is what ended it.
    func run() async throws(ControlError) {
        if await session.holding != nil {
            // What is written down comes from there; what only tells how things stand comes as it happens.
            let now = session.intake.lastCursor
            let subscription = session.feed.subscribe { [self] event in
                for document in EventDocument.documents(event, session)
                where !Intake.keptTypes.contains(document.string("type") ?? "") {
                    tell(document)
                }
            }
            let reader = Task { await follow(now) }
            // It goes on whatever becomes of the connection, which its events tell.
            await wait { [self] in
                guard await entersRoom() else { return }
                await session.waitForClose()
                finish(ControlError(.notConnected, "the daemon has \(session.name) no more", account: session.name))
            }
            session.feed.cancel(subscription)
            reader.cancel()
            // How far it has come is written down before whoever listened is told that it is over.
            await reader.value
        } else {
            // At once, on the stream's executor: what comes after enough is left to the server.
            let subscription = session.feed.subscribe { [self] event in
                for document in EventDocument.documents(event, session) {
                    if StateBacklog.isState(document) {
                        tell(document)
                    } else if offer(document) {
                        session.feed.leaveTheRest()
                    }
                }
            }
            await wait { [self] in
                if await entersRoom() { await keepOnline() }
            }
            session.feed.cancel(subscription)
        }
        if case .success(let visit)? = await visit.withLock({ $0 })?.value { await visit?.end() }
        if let error = state.withLock({ $0.failure }) { throw error }
    }

    /// After how many bytes of events the caller is waited for: 256 KiB.
    private static let portionBytes = 256 << 10

    /// How many events are read at once.
    private static let pageSize = 200

    /// Hands over what is written down from where it is to begin, and then what comes.
    private func follow(_ now: Int64) async {
        do {
            let store = try await session.openStore()
            var cursor = try await start.cursor(in: store.journal, now: now)
            while !Task.isCancelled {
                let seen = store.news.count
                let page = try await store.journal.events(after: cursor, limit: Self.pageSize)
                if page.hasGap { offer(EventDocument.gap(after: cursor, upTo: page.start, session)) }
                cursor = page.start
                var bytes = 0
                for event in page.events where !isOver {
                    // What the caller has not taken is not dealt with: it is not noted, and told again.
                    if bytes > Self.portionBytes {
                        guard await room() else { return }
                        bytes = 0
                    }
                    bytes += event.bytes.count
                    cursor = event.cursor
                    guard var document = try? JSONReader.read(event.bytes).objectValue else { continue }
                    document["cursor"] = .string(String(event.cursor))
                    offer(document)
                }
                guard await room() else { return }
                try await start.dealtWith(cursor, in: store.journal)
                if page.events.isEmpty { await store.news.next(after: seen) }
            }
        } catch let error as StorageError {
            // A session that is closed says so itself.
            if error.code != .closed { finish(ControlError(error, account: session.name)) }
        } catch {
            finish(error as? ControlError)
        }
    }

    private var isOver: Bool { state.withLock { $0.isOver } }

    /// Enters the room that is listened to; only now that its events are heard.
    ///
    /// - Returns: Whether to go on.
    private func entersRoom() async -> Bool {
        guard !Task.isCancelled else { return false }
        // A task of its own: there may be enough events before the door has closed behind the account, and who is in
        // leaves.
        let entering = Task { [self] () -> Result<RoomVisit?, ControlError> in
            guard let room = filter.room else { return .success(nil) }
            do throws(ControlError) {
                return .success(try await RoomVisit(room, as: nickname, session))
            } catch {
                return .failure(error)
            }
        }
        visit.withLock { $0 = entering }
        if case .failure(let error) = await entering.value {
            finish(error)
            return false
        }
        return true
    }

    private func keepOnline() async {
        // Who only looks at presence must not have messages sent here: they would be lost (RFC 6121 §4.7.2.3).
        let priority = filter.kinds.isDisjoint(with: ListenMethod.messageKinds) ? -1 : session.priority
        do throws(ControlError) {
            try await session.keepOnline(priority: priority) { change in
                self.offer(EventDocument.account(change, self.session))
            }
            finish()
        } catch {
            finish(error)
        }
    }

    /// Waits until there were enough events, or the caller has gone.
    private func wait(while work: @escaping @Sendable () async -> Void) async {
        await withTaskCancellationHandler {
            let keeper = Task { await work() }
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    guard state.rest.map({ $0 > 0 }) ?? true, !Task.isCancelled else { return true }
                    state.waiter = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
            keeper.cancel()
        } onCancel: {
            finish()
        }
    }

    /// Emits an event that passes the filter, as long as there were not enough.
    ///
    /// - Returns: Whether it was the last one wanted.
    @discardableResult
    private func offer(_ event: JSONObject) -> Bool {
        // That something is missing concerns everybody, and is no event to count.
        if event.string("type") == "gap" {
            emit(event)
            return false
        }
        guard filter.passes(event) else { return false }
        let rest = state.withLock { state -> Int? in
            let rest = state.rest
            if let rest, rest > 0 { state.rest = rest - 1 }
            return rest
        }
        guard rest != 0 else { return false }
        emit(event)
        guard rest == 1 else { return false }
        finish()
        return true
    }

    /// Offers an event that is not kept: at once, or as soon as the caller takes it; meanwhile a later one takes its
    /// place.
    func tell(_ event: JSONObject) {
        guard filter.passes(event) else { return }
        let (isNow, begins) = backlog.withLock { backlog -> (Bool, Bool) in
            if !backlog.isBeingTold, hasRoom() { return (true, false) }
            backlog.put(event)
            defer { backlog.isBeingTold = true }
            return (false, !backlog.isBeingTold)
        }
        if isNow { offer(event) }
        if begins { Task { await tellBacklog() } }
    }

    /// Whether events wait for the caller that are not kept.
    var isBehind: Bool { backlog.withLock { $0.isBeingTold } }

    private func tellBacklog() async {
        while await room() {
            let (events, isIncomplete) = backlog.withLock { $0.takeAll() }
            if events.isEmpty, !isIncomplete { return }
            for event in events { offer(event) }
            if isIncomplete { offer(EventDocument.gap(session)) }
        }
    }

    /// Ends it, with an error or without.
    func finish(_ failure: ControlError? = nil) {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            // What ended it first counts: the work that is called off then ends too, and may call that a failure.
            guard !state.isOver else { return nil }
            state.isOver = true
            state.failure = failure
            state.rest = 0
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }
}

/// Which events a caller wants.
struct EventFilter: Sendable {
    let kinds: Set<String>
    let from: JID?
    var room: JID?

    /// Whether an event is wanted: of a kind asked for, and of the address asked for. A bare address means all its
    /// resources. What happens to the account itself comes from nobody, and always passes.
    func passes(_ event: JSONObject) -> Bool {
        guard let type = event.string("type"), kinds.contains(type) else { return false }
        if let room, type != "account", event.string("room") != room.description { return false }
        guard let from, type != "account" else { return true }
        let sender = event.string("from") ?? event["contact"]?["jid"]?.stringValue
        guard let jid = sender.flatMap({ try? JID($0) }) else { return false }
        return jid == from || jid.bare == from || (jid.isBare && jid == from.bare)
    }
}
