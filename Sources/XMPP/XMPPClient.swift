// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
public import XMPPCore
public import XMPPProtocol

/// A session that comes back: connects, fetches the roster, sends presence, and does so again when the connection is
/// lost.
///
/// ```swift
/// let client = XMPPClient(XMPPConfiguration(jid: try JID("juliet@example.org"), password: "secret"))
/// try await client.start()
/// try await client.send(Message(to: try JID("romeo@example.net"), body: "hello"))
/// await client.stop()
/// ```
///
/// Delegates and sequences added here live through every reconnect. A failure that trying again cannot mend (a refused
/// password, a certificate for somebody else, a `conflict` with another session) stops the client: ``state`` says why.
///
/// Where the server can do it (XEP-0198), a session outlives its connection: the client comes back within seconds, goes
/// on where it was, and nothing is lost or doubled on the way; delegates hear ``ChatDelegate/streamDidResume(_:)``.
/// Where the server has given the session up, messages that it had not acknowledged are sent again in a new one, and
/// what others have sent meanwhile is read from the archives of the account and of its rooms
/// (``XMPPConfiguration/catchesUp``).
///
/// ``stop()`` may be called from anywhere, a delegate or the `prepare` of a stream included.
///
/// A client that was started lives until ``stop()``, whether or not anybody refers to it.
public actor XMPPClient {
    /// What the client is doing.
    public enum State: Sendable, Hashable {
        /// Not started, or stopped by ``XMPPClient/stop()``.
        case stopped
        /// Connecting, for the first time or again.
        case connecting
        /// The session is established and presence has been sent.
        case online(JID)
        /// Waiting before the next attempt, because of this.
        case waiting(XMPPError)
        /// Stopped by a failure that trying again cannot mend.
        case failed(XMPPError)
    }

    /// What the client was told.
    public nonisolated let configuration: XMPPConfiguration
    /// The roster.
    public nonisolated let roster: RosterStore
    /// Who is online.
    public nonisolated let buddies = BuddyList()
    /// Where messages wait that were given to ``post(_:expires:)``, and what became of them is noted.
    public nonisolated let outbox: any Outbox

    /// What the client is doing.
    public internal(set) var state = State.stopped
    /// The presence that is sent at the start of each session; see ``setPresence(_:)``.
    public private(set) var presence: Presence
    /// The present stream; `nil` while there is none.
    public internal(set) var stream: XMPPStream?

    let hub = EventHub()
    /// The rooms of all sessions.
    let rooms = RoomDirectory()
    /// What all sessions know of the account's archive; `nil` where they do not catch up.
    nonisolated let archives: ArchiveLedger?
    var reconnect: ReconnectPolicy
    let store: any StreamStateStore
    /// What the stream before the present one left.
    var inheritance: StreamState?
    var hasAskedStore = false
    var hasSavedState = false
    /// The last of those who send what waits in an outbox.
    var outboxRun: Task<Result<Int, XMPPError>, Never>?
    /// What was on its way in outboxes when a connection was lost, and goes again without them.
    var repeated: [(outbox: any Outbox, key: OutboxKey)] = []
    /// Whether what is said of messages is noted in ``outbox``.
    var usesOutbox = false
    nonisolated let marks: OutboxMarks
    /// To whom the last stream has sent.
    var sentMessages: SentMessages?
    /// The presence that the server knows of.
    var knownPresence: Presence?
    var supervisor: Task<Void, Never>?
    /// The end that is under way: nothing may begin before it is done.
    var ending: Task<Void, Never>?
    var starters: [Int: CheckedContinuation<Result<JID, XMPPError>, Never>] = [:]
    var lastStarterID = 0
    var runners: [CheckedContinuation<Void, Never>] = []
    var pause: (any ScheduledTimer)?
    var pauseEnded: CheckedContinuation<Void, Never>?
    /// Tells when the network has changed, from the start to the end.
    var network: NetworkWatch?
    /// Whether the next pause is not to be waited for.
    var skipsPause = false
    let prepare: @Sendable (XMPPStream) async -> Void
    /// The call of ``prepare`` that is under way, and who waits for it.
    var preparation: (task: Task<Void, Never>, waiter: CheckedContinuation<Void, Never>)?
    var lastPreparationID = 0
    let executor = StreamExecutor(label: "swift-xmpp.client")

    /// Makes a client; nothing happens before ``start()``.
    ///
    /// - Parameters:
    ///   - configuration: Who to connect as, where to, and how.
    ///   - presence: The presence to send; simply available unless said otherwise.
    ///   - known: A roster kept from an earlier run.
    ///   - reconnect: When to try again after a connection was lost.
    ///   - store: Where an interrupted session is kept; in memory unless said otherwise.
    ///   - outbox: Where messages wait that are posted; in memory (``InMemoryOutbox``) unless said otherwise.
    ///   - place: Up to where an earlier run knew the account's archive (``archivePlace``): the first session begins
    ///     with what came since. Without it the first session brings what the server has kept for who was offline, and
    ///     later ones catch up.
    ///   - prepare: Called with each new stream before it connects: the place for
    ///     ``XMPPStream/answer(_:_:namespace:from:with:)``.
    public init(
        _ configuration: XMPPConfiguration, presence: Presence = Presence(), known: KnownRoster? = nil,
        reconnect: ReconnectPolicy = ReconnectPolicy(),
        store: any StreamStateStore = InMemoryStreamStateStore(), outbox: (any Outbox)? = nil,
        caughtUpTo place: ArchivePlace? = nil,
        prepare: @escaping @Sendable (XMPPStream) async -> Void = { _ in }
    ) {
        self.configuration = configuration
        self.presence = presence
        self.reconnect = reconnect
        self.store = store
        self.prepare = prepare
        self.outbox = outbox ?? InMemoryOutbox()
        marks = OutboxMarks(self.outbox, of: configuration.jid)
        archives = configuration.catchesUp ? ArchiveLedger(of: configuration.jid, from: place) : nil
        roster = RosterStore(known: known)
        hub.add(roster, roles: .chat)
        hub.add(buddies, roles: .chat)
        // One of the program's own may hold messages of an earlier run already.
        usesOutbox = outbox != nil
        if outbox != nil { hub.add(marks, roles: [.message, .room]) }
        sendWhenEntered()
    }

    /// Up to where the account's archive is known: what is behind it was not told to delegates and sequences yet. Keep
    /// it with the messages, for the client of the next run. `nil` where nothing is known, and without
    /// ``XMPPConfiguration/catchesUp``.
    public nonisolated var archivePlace: ArchivePlace? { archives?.last }

    /// What waits for a room goes when the user has come in.
    private nonisolated func sendWhenEntered() {
        marks.entered.withLock { entered in
            entered = { [weak self] in
                Task { [weak self] in await self?.sendPosted() }
            }
        }
    }

    /// Starts, and waits until the first session is online. Afterwards the client keeps it so until ``stop()``.
    ///
    /// Cancelling the task ends the waiting, not the client.
    ///
    /// - Returns: The full address of the session.
    /// - Throws: ``XMPPError`` when the first attempt fails: for good when the failure is permanent
    ///   (``XMPPError/isPermanent``); otherwise the client goes on trying, and this may be called again to wait.
    @discardableResult
    public func start() async throws(XMPPError) -> JID {
        while let ending { await ending.value }
        if case .online(let jid) = state { return jid }
        if supervisor == nil {
            state = .connecting
            watchNetwork()
            supervisor = Task { [weak self] in
                while let self, await self.runSession() {}
            }
        }
        lastStarterID += 1
        let id = lastStarterID
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                starters[id] = continuation
                if Task.isCancelled { stopWaiting(id) }
            }
        } onCancel: {
            Task { await self.stopWaiting(id) }
        }
        return try result.get()
    }

    /// Starts, and keeps the client online until the task is cancelled or ``stop()`` is called: what a bot or a service
    /// does all its life. A first attempt that fails is not the end where trying again may help.
    ///
    /// ```swift
    /// let life = Task { try await client.run() }
    /// // … when it is time to go:
    /// life.cancel()
    /// try await life.value
    /// ```
    ///
    /// Cancelling ends the session gracefully, and this returns when that is done.
    ///
    /// - Throws: ``XMPPError`` when something happens that trying again cannot mend (``XMPPError/isPermanent``).
    public func run() async throws(XMPPError) {
        await withTaskCancellationHandler {
            _ = try? await start()
            guard supervisor != nil, !Task.isCancelled else { return }
            await withCheckedContinuation { runners.append($0) }
        } onCancel: {
            Task { await self.stop() }
        }
        // Waits for what the handler began; a client that somebody else has stopped may have been started again.
        if Task.isCancelled { await stop() }
        if case .failed(let error) = state { throw error }
    }

    /// Ends the session gracefully and stays offline. Sequences end. A ``start()`` that comes meanwhile waits for the
    /// end.
    ///
    /// A session that is interrupted at that time cannot be ended: it stays in the store, and is resumed when the
    /// client is started again before the server gives it up.
    public func stop() async {
        let task = ending ?? Task { await end() }
        ending = task
        await task.value
    }

    private func end() async {
        let task = supervisor
        supervisor = nil
        state = .stopped
        endPause()
        abandonPreparation()
        task?.cancel()
        await stream?.disconnect()
        await task?.value
        stream = nil
        hasAskedStore = false
        inheritance = nil
        settle(.failure(XMPPError(.cancelled, "The client was stopped.")))
        ended()
        ending = nil
    }

    /// Tries again at once instead of waiting: for a network that came back. A client does so itself when the machine
    /// has got an address or a route, or was asleep, unless ``XMPPConfiguration/heedsNetworkChanges`` says otherwise.
    public func reconnectNow() {
        // It may be just about to wait.
        if pauseEnded == nil, case .waiting = state { skipsPause = true }
        endPause()
    }

    func watchNetwork() {
        guard configuration.heedsNetworkChanges, network == nil else { return }
        network = NetworkWatch { [weak self] _ in
            Task { [weak self] in await self?.networkChanged() }
        }
    }

    /// The machine has got an address or a route, or was asleep: what failed may succeed now, and what looks alive be
    /// dead.
    package func networkChanged() async {
        switch state {
        case .waiting: reconnectNow()
        case .online: await stream?.probe()
        case .stopped, .connecting, .failed: break
        }
    }

    /// Sends a presence, now and at the start of each later session. Without a connection it is sent when there is one.
    ///
    /// - Throws: ``XMPPError`` as ``XMPPStream/send(_:)-(Presence)``; the presence is kept all the same.
    public func setPresence(_ presence: Presence) async throws(XMPPError) {
        self.presence = presence
        guard case .online = state, let stream else { return }
        try await stream.send(presence)
        knownPresence = presence
    }
}
