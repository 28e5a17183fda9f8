// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import SocketIO
internal import XMPP
internal import XMPPStorage

/// One account's session: logs in when a method first needs it, keeps the stream, and does no more than was asked for,
/// so that sending a message costs neither the roster nor presence.
actor AccountSession {
    /// The account.
    nonisolated let account: AccountConfiguration
    /// The bare address.
    nonisolated let jid: JID
    /// What happens on the account's streams.
    nonisolated let feed: EventFeed
    /// The rooms of all the account's streams.
    let rooms = RoomDirectory()
    var visits = RoomVisits()
    /// What arrives in a session that is held open, on its way to the disk.
    nonisolated let intake: Intake
    /// Counts what goes over its streams.
    nonisolated let meter = TrafficMeter()
    /// How far the login has come that is under way.
    nonisolated let progress = LoginProgress()
    /// Shows messages of a session that is held open on the desktop.
    nonisolated let notifier: DesktopNotifier
    /// What is kept of a session that is held open; `nil` before it is first opened.
    var store: AccountStore?
    /// Sessions that may have it open still.
    var predecessors: [AccountSession] = []
    /// The end for good that is under way, or was.
    private var closing: Task<Void, Never>?
    /// The opening of it that is under way.
    var opening: Task<Result<AccountStore, ControlError>, Never>?
    /// Sends what waits, while there is something.
    var sender: Task<Void, Never>?
    /// Whether something was added since it looked.
    var hasNewToSend = false
    /// What is noted beside what the stream knows.
    nonisolated let notes: SessionNotes
    /// The messages that were sent under an id of the caller's choice.
    var sentMessages = SentResults()
    /// How the session stands when it is held open; `nil` when it logs in for the methods that need it.
    var holding: SessionHolding?

    nonisolated let settings: SessionSettings
    nonisolated let passwords: PasswordSource
    private let log: (@Sendable (StreamLogEntry) -> Void)?
    private let logLevel: StreamLogEntry.Level
    private nonisolated let notice: (@Sendable (String) -> Void)?
    /// Where state is kept.
    nonisolated let paths: RuntimePaths
    /// What logins leave for the next one; `nil` keeps it with the session.
    private let logins: LoginMemoryFile?
    /// Invitations that were given out and accepted; `nil` where nothing is kept of the account.
    nonisolated let invitations: InvitationFile?
    /// Requests that are looked at for whether they prove an invitation.
    nonisolated let welcomes = Locked(0)

    var password: Password?
    /// The access token that the user gave.
    private(set) var token: Password?
    /// The proxy with the password that its command gave.
    var proxy: ConnectionProxy?
    /// The stream as it is, established or not.
    var stream: XMPPStream?
    var login: Task<Result<XMPPStream, ControlError>, Never>?
    /// Which login is the present one: what an earlier one comes to is of no interest.
    var loginNumber = 0
    /// The roster that was asked for in the present session.
    var roster: Task<Result<Void, ControlError>, Never>?
    /// What everybody was told in the present session, and when.
    var presence: (sent: Presence, at: Duration)?
    /// A refusal that the same password would only meet again (RFC 6120 §6.4.5): one attempt for each.
    var refusal: ControlError?
    /// Whether it was closed for good.
    private(set) var isClosed = false
    /// Where the account's archive was seen to end before anything in it was known here.
    var archiveEnd: ArchivePlace?
    /// What everybody was last told, for the sessions to come.
    var wanted: Presence?

    /// Makes a session; nothing is done before a method needs it.
    ///
    /// - Parameters:
    ///   - account: The account.
    ///   - environment: What the daemon knows of the world around it.
    ///   - owner: As what to log in to an account of the settings; `nil` for one that is not in them, about which
    ///     nothing is kept.
    /// - Throws: `ControlError` when the account's settings are unusable.
    init(
        _ account: AccountConfiguration, environment: DaemonEnvironment, as owner: LoginMemoryFile.Owner? = nil
    ) throws(ControlError) {
        settings = try SessionSettings(account)
        self.account = account
        jid = settings.jid
        feed = EventFeed(clock: environment.clock)
        intake = Intake(account: settings.jid)
        paths = environment.paths
        notes = SessionNotes(account: settings.jid)
        passwords = PasswordSource(environment: environment.variables)
        log = environment.log
        logLevel = environment.logLevel
        notice = environment.notice
        notifier = environment.notifier
        let files = AccountFiles(of: account.name, paths: environment.paths)
        logins = owner.flatMap { owner in files.map { LoginMemoryFile($0, owner: owner) } }
        invitations = owner == nil ? nil : files.map { InvitationFile($0) }
    }

    /// The account's bare address, for results and errors.
    nonisolated var name: String { jid.description }

    /// The priority that the account wants.
    nonisolated var priority: Int8 { account.priority.flatMap { Int8(exactly: $0) } ?? 0 }

    /// Takes a password or an access token that the user gave; it is used for the next login.
    func take(password: String?, token: String? = nil) {
        if let password { self.password = Password(password) }
        if let token { self.token = Password(token) }
        refusal = nil
        // Who gave it waits for a session.
        if holding?.status.phase == .failed { hold() }
    }

    /// Forgets what the last attempts ended with, so that the next one begins afresh: the password is looked up again.
    func forgetRefusal() {
        guard refusal != nil else { return }
        refusal = nil
        password = nil
    }

    /// The established stream; logs in when there is none.
    ///
    /// - Parameters:
    ///   - isLasting: Whether the session is to be kept for long: Stream Management (XEP-0198) is then worth its cost.
    ///   - asHolder: Whether the caller is the one that holds the session open. Nobody else logs in for one that is
    ///     held.
    /// - Throws: `ControlError` with the reason, ``ControlErrorCode/passwordNeeded`` when no password is to be had, and
    ///   ``ControlErrorCode/cancelled`` when the caller's task was cancelled meanwhile: nothing is to be done any more
    ///   for somebody who has been told that the time was up.
    func established(isLasting: Bool = false, asHolder: Bool = false) async throws(ControlError) -> XMPPStream {
        let stream = try await loggedIn(isLasting: isLasting, asHolder: asHolder)
        guard !Task.isCancelled else { throw ControlError(.cancelled, "the request was cancelled", account: name) }
        return stream
    }

    private func loggedIn(isLasting: Bool, asHolder: Bool) async throws(ControlError) -> XMPPStream {
        if holding != nil && !asHolder { return try await heldStream() }
        while let current = login {
            switch await current.value {
            case .failure(let error):
                throw error
            case .success(let stream):
                if await stream.isEstablished { return stream }
                if login == current { login = nil }
            }
        }
        guard !isClosed else { throw ControlError(.cancelled, "the daemon is ending", account: name) }
        if let refusal { throw refusal }
        loginNumber += 1
        let number = loginNumber
        let task = Task { await self.logIn(number, isLasting: isLasting, asHolder: asHolder) }
        login = task
        // A session that is held open may go on where it was.
        if !asHolder { forgetSession() }
        return try await task.value.get()
    }

    /// Roster and presence are those of a session that is gone.
    func forgetSession() {
        roster = nil
        presence = nil
    }

    private func logIn(
        _ number: Int, isLasting: Bool, asHolder: Bool
    ) async -> Result<XMPPStream, ControlError> {
        do throws(ControlError) {
            if asHolder, let stream, await stream.isInterrupted, let same = try await comeBackOrRenew(stream) {
                return .success(same)
            }
            let configuration = try await observedConfiguration(isLasting: isLasting, isKept: asHolder)
            guard !isClosed else { throw ControlError(.cancelled, "the daemon is ending", account: name) }
            guard number == loginNumber else { throw ControlError(.cancelled, "disconnected", account: name) }
            guard asHolder else { return .success(try await connect(XMPPStream(configuration, rooms: rooms))) }
            let store = try await openStore()
            let state = try await inheritance(from: store, for: configuration.jid)
            let stream = XMPPStream(configuration, resuming: state, keepingIn: store, rooms: rooms)
            // Their receipts may come now.
            let sent = try? await store.outbox.latest(of: jid, limit: XMPPStream.maximumSentMessages)
            await stream.remember((sent ?? []).reversed())
            guard number == loginNumber else { throw ControlError(.cancelled, "disconnected", account: name) }
            return .success(try await connect(stream))
        } catch {
            // The next request makes an attempt of its own.
            if number == loginNumber { login = nil }
            return .failure(error)
        }
    }

    /// The settings for a stream whose events are heard here.
    private func observedConfiguration(isLasting: Bool, isKept: Bool) async throws(ControlError) -> XMPPConfiguration {
        var configuration = try await configuration()
        configuration.usesStreamManagement = isLasting
        configuration.meter = meter
        let feed = feed
        feed.takeEverything()
        guard isKept else {
            configuration.observer = StreamObserver(
                event: { [weak self] event in
                    self?.note(event)
                    feed.publish(event)
                }, milestone: { [progress] in progress.reached($0) }, takesStanzas: { !feed.leavesTheRest })
            return configuration
        }
        let intake = intake
        configuration.observer = StreamObserver(
            event: { [weak self] event in
                self?.note(event)
                self?.take(event)
                self?.takeRoom(event)
                if case .subscriptionRequest(let request) = event { self?.greet(request) }
                feed.publish(event)
            }, kept: { intake.kept($0) }, unkeepable: { [weak self] in self?.reportUnkeepable($0, $1) },
            milestone: { [progress] in progress.reached($0) })
        return configuration
    }

    /// Says on standard error that a stanza can never be kept.
    private nonisolated func reportUnkeepable(_ message: Element, _ error: any Error) {
        notice?(
            "\(account.name): warning: a \(message.localName) from \(message["from"] ?? "the server") was not kept: \(error)"
        )
    }

    /// Takes in what happened, on the stream's executor.
    private nonisolated func note(_ event: XMPPEvent) {
        notes.note(event)
        if case .oversized(let stanza) = event { notice?("\(account.name): too large, and not read: \(stanza)") }
        guard case .serverKeyChanged(let change) = event else { return }
        func describe(_ key: ServerKey) -> String {
            "\(key.fingerprint), issued by \(key.issuer), valid until \(key.notAfter)"
        }
        notice?(
            "\(account.name): warning: \(change.new.identity) has a key that was not there at earlier logins: "
                + "\(describe(change.new)); the last one was \(describe(change.old))")
    }

    private func connect(_ stream: XMPPStream) async throws(ControlError) -> XMPPStream {
        self.stream = stream
        progress.begin()
        defer { progress.end() }
        do throws(XMPPError) {
            try await stream.connect()
            return stream
        } catch {
            var failure = ControlError(error, account: name)
            if let remedy = remedy(error) { failure.message += " " + remedy }
            if error.code == .authenticationRefused, !account.renewsProof { refusal = failure }
            // The proxy may have refused the password: it is asked for again.
            if error.code == .invalidConfiguration { proxy = nil }
            if store != nil { await lay(down: stream) }
            throw failure
        }
    }

    /// What to do about a server that has another key than the one that the account names.
    private func remedy(_ error: XMPPError) -> String? {
        guard account.isKnownByKey, let key = error.presentedKey else { return nil }
        return "If that key is the right one: "
            + (logins == nil ? "--pin \(key)" : "jabberctl account set \(account.name) --pin \(key)")
    }

    /// The password that the user gave or that was found before.
    var knownPassword: Password? { password }

    /// The settings with the password, for a stream apart from the session's.
    func configuration(password given: Password? = nil) async throws(ControlError) -> XMPPConfiguration {
        var configuration = settings.configuration
        if settings.needsPassword {
            configuration.accessToken = try await findAccessToken()
            configuration.clientCertificate = try await findCertificate()
            let hasProof = configuration.accessToken != nil || configuration.clientCertificate != nil
            if let given {
                configuration.password = given
            } else {
                configuration.password = try await findPassword(isRequired: !hasProof)
            }
        }
        if account.proxyPasswordCommand != nil { configuration.proxy = try await findProxy() }
        configuration.usesStreamManagement = false
        if let logins { configuration.loginMemory = logins }
        configuration.log = log
        configuration.logLevel = logLevel
        return configuration
    }

    /// Says on standard error what becomes of a session that is held open.
    func report(_ status: SessionStatus) {
        var text = "\(account.name): \(status.phase.rawValue)"
        if let reason = status.reason { text += ": \(reason.clause)" }
        if let next = status.retryAt { text += "; next attempt in \(next.fromNow)" }
        notice?(text)
    }

    /// Says on standard error what concerns the account.
    func say(_ text: String) {
        notice?("\(account.name): \(text)")
    }

    /// Ends the stream in good order: at most 5 seconds (the library's limit). Whoever asks for it meanwhile waits for
    /// the same end.
    ///
    /// - Parameter leavesSession: Whether only the connection ends, and the session stays for the process that comes
    ///   next.
    func close(leavingSession leavesSession: Bool = false) async {
        isClosed = true
        let task = closing ?? Task { await end(leavingSession: leavesSession) }
        closing = task
        await task.value
    }

    private func end(leavingSession leavesSession: Bool) async {
        endHolding()
        // A login that has no stream yet waits for a password command, and will find the session closed.
        if let stream {
            if leavesSession { await stream.leaveResumable() } else { await stream.disconnect() }
            if store != nil { await lay(down: stream) }
        }
        await closeStore()
    }
}
