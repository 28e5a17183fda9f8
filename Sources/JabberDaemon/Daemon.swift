// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
package import SocketIO

/// The core of every daemon: owns the accounts' sessions and serves control connections.
///
/// What differs between a daemon for one command and one that stays is only where connections come from.
package actor Daemon {
    /// What the daemon knows of the world around it.
    nonisolated let environment: DaemonEnvironment

    private let instance: String
    private var sessions: [SessionSelection: AccountSession] = [:]
    private var isStopping = false

    /// Makes a daemon without sessions.
    package init(environment: DaemonEnvironment) {
        self.environment = environment
        var generator = SystemRandomNumberGenerator()
        instance = String(generator.next(), radix: 36)
    }

    /// Serves one control connection until its client has gone; what the client had asked for has ended then.
    ///
    /// - Parameter transport: A transport that was not started yet.
    package func serve(_ transport: any ByteTransport) async {
        let control = ControlSession(
            over: transport, greeting: ControlGreeting(instance: instance), service: MethodService(daemon: self))
        await control.run()
    }

    /// Ends every session in good order: at most 5 seconds each, all at a time. Methods that run fail.
    package func stop() async {
        isStopping = true
        await withTaskGroup { group in
            for session in sessions.values { group.addTask { await session.close() } }
        }
        sessions = [:]
    }

    /// The session that a request is for; made when it is the first.
    ///
    /// - Throws: `ControlError` when the settings name no usable account.
    func session(for selection: SessionSelection) throws(ControlError) -> AccountSession {
        if let session = sessions[selection] { return session }
        guard !isStopping else { throw ControlError(.cancelled, "the daemon is ending") }
        let session = try AccountSession(
            try selection.resolve(paths: environment.paths), environment: environment)
        sessions[selection] = session
        return session
    }
}
