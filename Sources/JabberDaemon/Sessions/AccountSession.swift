// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import SocketIO
internal import XMPP

/// One account's session: logs in when a method first needs it, keeps the stream, and does no more than was asked for, so
/// that sending a message costs neither the roster nor presence.
actor AccountSession {
    /// The account.
    nonisolated let account: AccountConfiguration
    /// The bare address.
    nonisolated let jid: JID
    /// What happens on the account's streams.
    nonisolated let feed: EventFeed
    /// The rooms of all the account's streams.
    private let rooms = RoomDirectory()
    /// The latest events, for those who listen.
    nonisolated let ring = EventRing()
    /// What is noted beside what the stream knows.
    nonisolated let notes: SessionNotes
    /// The messages that were sent under an id of the caller's choice.
    var sentMessages = SentResults()
    /// How the session stands when it is held open; `nil` when it logs in for the methods that need it.
    var holding: SessionHolding?

    private let settings: SessionSettings
    private let passwords: PasswordSource
    private let log: (@Sendable (StreamLogEntry) -> Void)?
    private let logLevel: StreamLogEntry.Level
    private let notice: (@Sendable (String) -> Void)?
    /// What logins leave for the next one; `nil` keeps it with the session.
    private let logins: LoginMemoryFile?

    private var password: Password?
    private var stream: XMPPStream?
    private var login: Task<Result<XMPPStream, ControlError>, Never>?
    /// Which login is the present one: what an earlier one comes to is of no interest.
    private var loginNumber = 0
    private var roster: Task<Result<Void, ControlError>, Never>?
    private var presence: (sent: Presence, at: Duration)?
    /// A refusal that the same password would only meet again (RFC 6120 §6.4.5): one attempt for each.
    private var refusal: ControlError?
    /// Whether it was closed for good.
    private(set) var isClosed = false
    private var recording: Int?
    /// What everybody was last told, for the sessions to come.
    private var wanted: Presence?

    /// Makes a session; nothing is done before a method needs it.
    ///
    /// - Parameters:
    ///   - account: The account.
    ///   - environment: What the daemon knows of the world around it.
    ///   - owner: As what to log in to an account of the settings; `nil` for one that is not in them, about which nothing is
    ///     kept.
    /// - Throws: `ControlError` when the account's settings are unusable.
    init(
        _ account: AccountConfiguration, environment: DaemonEnvironment, as owner: LoginMemoryFile.Owner? = nil
    ) throws(ControlError) {
        settings = try SessionSettings(account)
        self.account = account
        jid = settings.jid
        feed = EventFeed(clock: environment.clock)
        notes = SessionNotes(account: settings.jid)
        passwords = PasswordSource(environment: environment.variables)
        log = environment.log
        logLevel = environment.logLevel
        notice = environment.notice
        logins = owner.map { LoginMemoryFile(account: account.name, owner: $0, paths: environment.paths) }
    }

    /// The account's bare address, for results and errors.
    nonisolated var name: String { jid.description }

    /// The priority that the account wants.
    nonisolated var priority: Int8 { account.priority.flatMap { Int8(exactly: $0) } ?? 0 }

    /// Takes a password that the user gave; it is used for the next login.
    func take(password: String) {
        self.password = Password(password)
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

    /// Keeps the events from now on in ``ring``.
    func record() {
        guard recording == nil else { return }
        let ring = ring
        recording = feed.subscribe { [weak self] event in
            guard let self else { return }
            for document in EventDocument.documents(event, self) { ring.append(document) }
        }
    }

    /// The established stream; logs in when there is none.
    ///
    /// - Parameters:
    ///   - isLasting: Whether the session is to be kept for long: Stream Management (XEP-0198) is then worth its cost.
    ///   - asHolder: Whether the caller is the one that holds the session open. Nobody else logs in for one that is held.
    /// - Throws: `ControlError` with the reason, ``ControlErrorCode/passwordNeeded`` when no password is to be had, and
    ///   ``ControlErrorCode/cancelled`` when the caller's task was cancelled meanwhile: nothing is to be done any more for somebody
    ///   who has been told that the time was up.
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
        let task = Task { await self.logIn(number, isLasting: isLasting) }
        login = task
        roster = nil
        presence = nil
        return try await task.value.get()
    }

    private func logIn(_ number: Int, isLasting: Bool) async -> Result<XMPPStream, ControlError> {
        do throws(ControlError) {
            var configuration = try await configuration()
            configuration.usesStreamManagement = isLasting
            let (notes, feed) = (notes, feed)
            feed.takeEverything()
            configuration.observer = StreamObserver(
                event: { event in
                    notes.note(event)
                    feed.publish(event)
                }, takesStanzas: { !feed.leavesTheRest })
            guard !isClosed else { throw ControlError(.cancelled, "the daemon is ending", account: name) }
            guard number == loginNumber else { throw ControlError(.cancelled, "disconnected", account: name) }
            return .success(try await connect(XMPPStream(configuration, rooms: rooms)))
        } catch {
            // The next request makes an attempt of its own.
            if number == loginNumber { login = nil }
            return .failure(error)
        }
    }

    private func connect(_ stream: XMPPStream) async throws(ControlError) -> XMPPStream {
        self.stream = stream
        do throws(XMPPError) {
            try await stream.connect()
            return stream
        } catch {
            let failure = ControlError(error, account: name)
            if error.code == .authenticationRefused { refusal = failure }
            throw failure
        }
    }

    /// The password that the user gave or that was found before.
    var knownPassword: Password? { password }

    /// The settings with the password, for a stream apart from the session's.
    func configuration(password given: Password? = nil) async throws(ControlError) -> XMPPConfiguration {
        var configuration = settings.configuration
        if settings.needsPassword {
            if let given { configuration.password = given } else { configuration.password = try await findPassword() }
        }
        configuration.usesStreamManagement = false
        if let logins { configuration.loginMemory = logins }
        configuration.log = log
        configuration.logLevel = logLevel
        return configuration
    }

    /// The password: what the user gave, else what the daemon may look up.
    private func findPassword() async throws(ControlError) -> Password {
        if let password { return password }
        let (passwords, account) = (passwords, account)
        // A password command may run for a while: not on a thread that others wait for.
        let found = await Background.run { () -> Result<String?, ControlError> in
            do throws(ControlError) {
                return .success(try passwords.password(of: account))
            } catch {
                return .failure(error)
            }
        }
        guard let text = try found.get() else {
            throw ControlError(
                .passwordNeeded,
                "no password for \(name); run: jabberctl account passwd, or give one with --password-fd", account: name)
        }
        let password = Password(text)
        self.password = password
        return password
    }

    /// The stream, with the roster asked for: from then on pushes arrive (RFC 6121 §2.1.3).
    func withRoster(isLasting: Bool = false) async throws(ControlError) -> XMPPStream {
        let stream = try await established(isLasting: isLasting)
        let task = roster ?? askForRoster { () throws(XMPPError) in try await stream.requestRoster() }
        roster = task
        try await arrival(of: task)
        return stream
    }

    /// Waits for the roster. One that did not come is asked for again by the next request.
    private func arrival(of task: Task<Result<Void, ControlError>, Never>) async throws(ControlError) {
        do throws(ControlError) {
            try await task.value.get()
        } catch {
            if roster == task { roster = nil }
            throw error
        }
    }

    private func askForRoster(
        _ ask: @escaping @Sendable () async throws(XMPPError) -> RosterUpdate
    ) -> Task<Result<Void, ControlError>, Never> {
        let name = name
        return Task {
            do throws(XMPPError) {
                _ = try await ask()
                return .success(())
            } catch {
                return .failure(ControlError(error, account: name))
            }
        }
    }

    /// The stream, with roster and presence: contacts' presence arrives from then on.
    ///
    /// A session that only looks around takes priority −1, so that no message is drawn to it, those that the server has
    /// kept among them (RFC 6121 §4.7.2.3, §8.5.2.1.1): they would be lost with it.
    ///
    /// - Parameter priority: The least priority wanted; a higher one that was sent already stays.
    /// - Returns: The stream, and when the presence was sent by the clock of ``feed``.
    func withPresence(
        priority: Int8 = -1, isLasting: Bool = false
    ) async throws(ControlError) -> (stream: XMPPStream, since: Duration) {
        let stream = try await established(isLasting: isLasting)
        if holding != nil, roster != nil {
            // The session's presence is its owner's affair: who only looks around does not change it.
            _ = try await withRoster()
            return (stream, presence?.at ?? feed.now)
        }
        if roster != nil {
            _ = try await withRoster(isLasting: isLasting)
            if let presence, presence.sent.priority >= priority { return (stream, presence.at) }
        }
        let wanted = Presence(priority: priority)
        noteSent(wanted)
        do throws(ControlError) {
            // What other clients send and receive is of interest to who gets messages at all (XEP-0280).
            if isLasting, priority >= 0 {
                try await step { () throws(XMPPError) in try await stream.requestCarbons() }
            }
            if roster == nil {
                // Both in one flight.
                let task = askForRoster { () throws(XMPPError) in try await stream.goOnline(wanted) }
                roster = task
                try await arrival(of: task)
            } else {
                try await step { () throws(XMPPError) in try await stream.send(wanted) }
            }
        } catch {
            presence = nil
            throw error
        }
        return (stream, presence?.at ?? feed.now)
    }

    /// A new session with roster and the presence that was wanted last, for who holds it open.
    func bringOnline() async throws(ControlError) -> XMPPStream {
        let stream = try await established(isLasting: true, asHolder: true)
        let presence = wanted ?? Presence(priority: priority)
        let task: Task<Result<Void, ControlError>, Never>
        if presence.kind == .available {
            noteSent(presence)
            // All in one flight.
            try await step { () throws(XMPPError) in try await stream.requestCarbons() }
            task = askForRoster { () throws(XMPPError) in try await stream.goOnline(presence) }
        } else {
            task = askForRoster { () throws(XMPPError) in try await stream.requestRoster() }
        }
        roster = task
        do throws(ControlError) {
            try await task.value.get()
        } catch {
            await stream.disconnect()
            throw error
        }
        await stream.rejoinRooms()
        return stream
    }

    /// The presence of the session; `nil` while there is none.
    var presenceSent: Presence? { presence?.sent }

    /// The stream as it is, established or not.
    var currentStream: XMPPStream? { stream }

    /// Says on standard error what becomes of a session that is held open.
    func report(_ status: SessionStatus) {
        var text = "\(account.name): \(status.phase.rawValue)"
        if let reason = status.reason { text += ": \(reason.clause)" }
        if let next = status.retryAt { text += "; next attempt in \(next.fromNow)" }
        notice?(text)
    }

    /// Ends the present stream in good order, for who holds the session open; the next attempt makes another.
    func leave() async {
        let old = stream
        stream = nil
        loginNumber += 1
        login = nil
        roster = nil
        presence = nil
        await old?.disconnect()
    }

    /// Notes a presence that is sent to everybody.
    func noteSent(_ sent: Presence) {
        wanted = sent
        presence = sent.kind == .available ? (sent, feed.now) : nil
    }

    /// Ends the stream in good order: at most 5 seconds (the library's limit).
    func close() async {
        isClosed = true
        endHolding()
        // A login that has no stream yet waits for a password command, and will find the session closed.
        guard let stream else { return }
        await stream.disconnect()
    }
}
