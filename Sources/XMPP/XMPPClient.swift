// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
public import XMPPCore
internal import XMPPCrypto
public import XMPPProtocol

/// A session that comes back: connects, fetches the roster, sends presence, and does so again when the connection is lost.
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
/// Where the server can do it (XEP-0198), a session outlives its connection: the client comes back within seconds, goes on
/// where it was, and nothing is lost or doubled on the way; delegates hear ``ChatDelegate/streamDidResume(_:)``. Where the
/// server has given the session up, messages that it had not acknowledged are sent again in a new one.
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

    /// What the client is doing.
    public private(set) var state = State.stopped
    /// The presence that is sent at the start of each session; see ``setPresence(_:)``.
    public private(set) var presence: Presence
    /// The present stream; `nil` while there is none.
    public private(set) var stream: XMPPStream?

    private let hub = EventHub()
    private var reconnect: ReconnectPolicy
    private let store: any StreamStateStore
    /// What the stream before the present one left.
    private var inheritance: StreamState?
    private var hasAskedStore = false
    private var hasSavedState = false
    /// The presence that the server knows of.
    private var knownPresence: Presence?
    private var supervisor: Task<Void, Never>?
    /// The end that is under way: nothing may begin before it is done.
    private var ending: Task<Void, Never>?
    private var starters: [Int: CheckedContinuation<Result<JID, XMPPError>, Never>] = [:]
    private var lastStarterID = 0
    private var runners: [CheckedContinuation<Void, Never>] = []
    private var pause: (any ScheduledTimer)?
    private var pauseEnded: CheckedContinuation<Void, Never>?
    private let prepare: @Sendable (XMPPStream) async -> Void
    private let executor = StreamExecutor(label: "swift-xmpp.client")

    /// Makes a client; nothing happens before ``start()``.
    ///
    /// - Parameters:
    ///   - configuration: Who to connect as, where to, and how.
    ///   - presence: The presence to send; simply available unless said otherwise.
    ///   - known: A roster kept from an earlier run.
    ///   - reconnect: When to try again after a connection was lost.
    ///   - store: Where an interrupted session is kept; in memory unless said otherwise.
    ///   - prepare: Called with each new stream before it connects: the place for ``XMPPStream/answer(_:_:namespace:from:with:)``.
    public init(
        _ configuration: XMPPConfiguration, presence: Presence = Presence(), known: KnownRoster? = nil,
        reconnect: ReconnectPolicy = ReconnectPolicy(),
        store: any StreamStateStore = InMemoryStreamStateStore(),
        prepare: @escaping @Sendable (XMPPStream) async -> Void = { _ in }
    ) {
        self.configuration = configuration
        self.presence = presence
        self.reconnect = reconnect
        self.store = store
        self.prepare = prepare
        roster = RosterStore(known: known)
        hub.add(roster, roles: .chat)
        hub.add(buddies, roles: .chat)
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

    /// Starts, and keeps the client online until the task is cancelled or ``stop()`` is called: what a bot or a service does
    /// all its life. A first attempt that fails is not the end where trying again may help.
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

    /// Ends the session gracefully and stays offline. Sequences end. A ``start()`` that comes meanwhile waits for the end.
    ///
    /// A session that is interrupted at that time cannot be ended: it stays in the store, and is resumed when the client is
    /// started again before the server gives it up.
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

    /// Tries again at once instead of waiting: for a network that came back.
    public func reconnectNow() {
        endPause()
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

    /// Sends a message on the present session; see ``XMPPStream/send(_:)-(Message)``.
    @discardableResult
    public func send(_ message: Message) async throws(XMPPError) -> Message {
        guard let stream else { throw .notConnected }
        return try await stream.send(message)
    }

    /// Sends a presence on the present session only, such as one for a single contact; see ``setPresence(_:)``.
    public func send(_ presence: Presence) async throws(XMPPError) {
        guard let stream else { throw .notConnected }
        try await stream.send(presence)
    }

    /// Sends a request on the present session; see ``XMPPStream/request(_:timeout:)``.
    @discardableResult
    public func request(_ request: IQ, timeout: Duration = .seconds(30)) async throws(XMPPError) -> IQ {
        guard let stream else { throw .notConnected }
        return try await stream.request(request, timeout: timeout)
    }

    /// Waits until the server has handled what was sent on the present session; see ``XMPPStream/waitUntilHandled()``.
    public func waitUntilHandled() async throws(XMPPError) {
        guard let stream else { throw .notConnected }
        try await stream.waitUntilHandled()
    }

    /// Adds a delegate that hears of the connection and of who is online. It is held weakly.
    public nonisolated func add(chatDelegate delegate: any ChatDelegate) {
        hub.add(delegate, roles: .chat)
    }

    /// Adds a delegate that hears of messages. It is held weakly.
    public nonisolated func add(messageDelegate delegate: any MessageDelegate) {
        hub.add(delegate, roles: .message)
    }

    /// Removes a delegate from both roles: a call that is under way still ends, and is the last.
    public nonisolated func remove(delegate: any AnyObject & Sendable) {
        hub.remove(delegate)
    }

    /// Everything that happens from now on, on all sessions.
    public nonisolated var events: EventSequence<XMPPEvent> {
        events(limit: XMPPStream.defaultEventLimit)
    }

    /// Everything that happens from now on, on all sessions.
    ///
    /// - Parameter limit: How many events may wait before the sequence ends with ``XMPPError/Code/overflow``.
    public nonisolated func events(limit: Int) -> EventSequence<XMPPEvent> {
        EventSequence(hub.subscribe(limit: limit)) { $0.event }
    }

    /// The messages that arrive from now on, on all sessions; bounces are not among them.
    public nonisolated var messages: EventSequence<Message> {
        EventSequence(hub.subscribe(limit: XMPPStream.defaultEventLimit)) { delivery in
            if case .message(let message) = delivery.event { message } else { nil }
        }
    }

    /// The presence stanzas that arrive from now on, on all sessions.
    public nonisolated var presences: EventSequence<Presence> {
        EventSequence(hub.subscribe(limit: XMPPStream.defaultEventLimit)) { delivery in
            if case .presence(let presence) = delivery.event { presence } else { nil }
        }
    }
}

extension XMPPClient {
    /// One connection, from connecting to its end, and the wait after it.
    ///
    /// - Returns: Whether there is to be another one.
    private func runSession() async -> Bool {
        let stream = await nextStream()
        state = .connecting
        let began: Duration
        do {
            let isBack = await stream.isInterrupted
            let jid = isBack ? try await stream.reconnect() : try await stream.connect()
            try await comeOnline(stream)
            await stream.outliveConnection()
            guard supervisor != nil else { return false }
            state = .online(jid)
            began = configuration.clock.now
            reconnect.established()
            if hasSavedState { await save(nil) }
            settle(.success(jid))
        } catch {
            if await !stream.isInterrupted { await stream.disconnect() }
            // Those who wait hear that the client was stopped, not what that did to the stream.
            guard supervisor != nil else { return false }
            return await goOn(stream, after: error, lasted: nil)
        }
        let error = await stream.waitUntilDown()
        return await goOn(stream, after: error, lasted: configuration.clock.now - began)
    }

    /// The interrupted stream, or a new one that goes on where the last one, or the last run of the program, has stopped.
    private func nextStream() async -> XMPPStream {
        if let stream, await stream.isInterrupted { return stream }
        if !hasAskedStore, inheritance == nil, configuration.usesStreamManagement {
            hasSavedState = true
            inheritance = try? await store.state(of: configuration.jid.bare)
        }
        hasAskedStore = true
        let wanted = configuration.jid
        // What a server binds by XEP-0386 begins with the resource asked for, and goes on with something of its own.
        if let jid = inheritance?.jid, !jid.isBound(for: wanted) { inheritance = nil }
        let stream = XMPPStream(
            configuration, hub: hub, ownsHub: false, isResumable: true, resuming: inheritance)
        self.stream = stream
        await prepare(stream)
        return stream
    }

    /// Does what comes first in a session; in a resumed one most of it was done.
    private func comeOnline(_ stream: XMPPStream) async throws(XMPPError) {
        inheritance = nil
        let start = await stream.start
        if start == .inherited {
            // The server tells who is online when a resource becomes available, so it has to become that anew.
            try await stream.send(Presence(.unavailable))
        }
        if start != .resumed {
            let sent = presence
            try await stream.goOnline(sent, known: roster.known)
            knownPresence = sent
        }
        // It may have been set anew meanwhile.
        while presence != knownPresence {
            let sent = presence
            try await stream.send(sent)
            knownPresence = sent
        }
    }

    /// What comes after a connection, or after an attempt to make one: `lasted` is `nil` then.
    private func goOn(_ stream: XMPPStream, after error: XMPPError?, lasted: Duration?) async -> Bool {
        if supervisor != nil, let error {
            state = error.isPermanent ? .failed(error) : .waiting(error)
            if lasted == nil { settle(.failure(error)) }
            if error.isPermanent {
                supervisor = nil
                self.stream = nil
                ended()
                await save(await stream.resumableState)
                return false
            }
        }
        await stream.settle()
        let isInterrupted = await stream.isInterrupted
        if !isInterrupted {
            self.stream = nil
            inheritance = await stream.resumableState
        }
        await save(await stream.resumableState)
        guard supervisor != nil, let error else { return false }
        var generator = RandomBits(source: configuration.random)
        let random = Double.random(in: 0..<1, using: &generator)
        // RFC 6120 §3.3 spreads out those whom a server has sent away: it does not keep their sessions.
        if isInterrupted, let lasted, error.streamError == nil {
            await wait(reconnect.interrupted(after: lasted, random: random))
        } else {
            await wait(reconnect.failed(random: random))
        }
        return supervisor != nil
    }

    private func save(_ state: StreamState?) async {
        guard state != nil || hasSavedState else { return }
        hasSavedState = state != nil
        try? await store.save(state, of: configuration.jid.bare)
    }

    private func wait(_ delay: Duration) async {
        await withCheckedContinuation { continuation in
            pauseEnded = continuation
            pause = configuration.clock.schedule(after: delay, on: executor) { [weak self] in
                Task { await self?.endPause() }
            }
        }
    }

    private func endPause() {
        pause?.cancel()
        pause = nil
        let waiter = pauseEnded
        pauseEnded = nil
        waiter?.resume()
    }

    /// The client is stopped, by its user or by a failure: no more events will come.
    private func ended() {
        hub.finishSequences()
        let waiting = runners
        runners = []
        for runner in waiting { runner.resume() }
    }

    private func settle(_ result: Result<JID, XMPPError>) {
        let waiting = starters.values
        starters = [:]
        for starter in waiting { starter.resume(returning: result) }
    }

    private func stopWaiting(_ id: Int) {
        starters.removeValue(forKey: id)?.resume(
            returning: .failure(XMPPError(.cancelled, "Waiting for the client to be online was called off.")))
    }
}

/// The configured source of randomness as a generator.
private struct RandomBits: RandomNumberGenerator {
    let source: any RandomSource

    mutating func next() -> UInt64 {
        source.bytes(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}

extension JID {
    /// Whether this is an address that a server may bind for who asks for another one.
    fileprivate func isBound(for wanted: JID) -> Bool {
        guard bare == wanted.bare else { return false }
        guard let asked = wanted.resourcepart, let made = resourcepart, made != asked else { return true }
        guard made.hasPrefix(asked), let next = made.dropFirst(asked.count).first else { return false }
        return !next.isLetter && !next.isNumber
    }
}
