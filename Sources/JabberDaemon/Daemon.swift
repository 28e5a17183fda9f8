// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
package import SocketIO

/// The core of every daemon: owns the accounts' sessions and serves control connections.
///
/// What differs between a daemon for one command and one that stays is where connections come from, and that the latter
/// holds the sessions of its accounts open.
package actor Daemon {
    /// What the daemon knows of the world around it.
    nonisolated let environment: DaemonEnvironment
    /// Which run of the daemon this is.
    nonisolated let instance: String

    /// Accounts that are being made.
    nonisolated let registrations: RegistrationDesk

    private var sessions: [SessionSelection: AccountSession] = [:]
    /// The configured accounts, in a daemon that stays.
    var book: AccountBook?
    /// What a daemon that stays knows of itself; `nil` in one for a single command.
    var office: DaemonOffice?
    private var isStopping = false

    /// Makes a daemon without sessions.
    package init(environment: DaemonEnvironment) {
        self.environment = environment
        registrations = RegistrationDesk(clock: environment.clock)
        var generator = SystemRandomNumberGenerator()
        instance = String(generator.next(), radix: 36)
    }

    /// Serves one control connection until its client has gone; what the client had asked for has ended then.
    ///
    /// - Parameter transport: A transport that was not started yet.
    package func serve(_ transport: any ByteTransport) async {
        await control(over: transport).run()
    }

    /// The daemon's end of a control connection, not running yet.
    nonisolated func control(over transport: any ByteTransport) -> ControlSession {
        ControlSession(
            over: transport, greeting: ControlGreeting(instance: instance), service: MethodService(daemon: self))
    }

    /// Ends every session in good order: at most 5 seconds each, all at a time. Methods that run fail.
    ///
    /// - Parameter leavesSessions: Whether only the connections end, and the sessions that are held open stay for the
    ///   process that comes next.
    package func stop(leavingSessions leavesSessions: Bool = false) async {
        isStopping = true
        let all = Array(sessions.values) + (book?.all ?? [])
        await withTaskGroup { group in
            for session in all { group.addTask { await session.close(leavingSession: leavesSessions) } }
            group.addTask { await self.registrations.endAll() }
        }
        sessions = [:]
    }

    /// Whether the daemon is ending.
    var isEnding: Bool { isStopping }

    /// The session that a request is for; made when it is the first.
    ///
    /// - Throws: `ControlError` when the settings name no usable account.
    func session(for selection: SessionSelection) async throws(ControlError) -> AccountSession {
        if book != nil, let session = try await heldSession(for: selection) { return session }
        if let session = sessions[selection] { return session }
        guard !isStopping else { throw ControlError(.cancelled, "the daemon is ending") }
        // What was not written down as an account leaves no trace.
        let session = try AccountSession(
            try selection.resolve(paths: environment.paths), environment: environment,
            as: selection.jid == nil ? .command : nil)
        sessions[selection] = session
        return session
    }
}
