// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import XMPP

/// What a daemon that stays knows of itself.
struct DaemonOffice: Sendable {
    /// The path of the control socket.
    let socket: String
    /// The settings file in place of the usual ones.
    let settings: String?
    /// When it began to serve.
    let since: DateTime
    /// Reads the settings again.
    let reload: @Sendable () async throws(ControlError) -> Void
    /// Asks it to end; returns at once.
    let end: @Sendable (DaemonEnd) -> Void
}

/// What becomes of a daemon that is asked to end.
package enum DaemonEnd: Sendable, Hashable {
    /// It ends.
    case stop
    /// The same program takes its place, in the same process.
    case restart
}

extension Daemon {
    /// Takes the settings and begins to hold the sessions of all accounts open.
    func open(_ configuration: ConfigurationFile, office: DaemonOffice) async {
        self.office = office
        let book = AccountBook(configuration, environment: environment)
        self.book = book
        for (name, session) in book.sessions {
            switch session {
            case .success(let session): await session.hold()
            case .failure(let error): environment.notice?("\(name): failed: \(error.message)")
            }
        }
    }

    /// Reads the settings again. Accounts that are as they were keep their sessions, and those of them that had given up
    /// are tried again; others are ended and begun.
    ///
    /// - Throws: `ControlError` when the settings are wrong; then those in force stay so: of all accounts, or of the one whose
    ///   settings are wrong.
    func reload() async throws(ControlError) {
        guard let office, book != nil, !isEnding else { return }
        let configuration = try ConfigurationFile(paths: environment.paths, path: office.settings)
        guard let change = book?.replace(configuration, environment: environment) else { return }
        await withTaskGroup { group in
            for session in change.ended { group.addTask { await session.close() } }
        }
        guard !isEnding else { return }
        for session in change.begun { await session.hold() }
        for session in change.kept where await session.holding?.status.phase == .failed { await session.hold() }
        if let failure = configuration.failures.min(by: { $0.key < $1.key })?.value { throw failure }
    }

    /// How many accounts are connected, of how many: the text that supervisors show.
    func summary() async -> String {
        guard let book else { return "" }
        var connected = 0
        for session in book.all where await session.holding?.status.phase == .connected { connected += 1 }
        return "\(connected) of \(book.sessions.count) accounts connected"
    }
}
