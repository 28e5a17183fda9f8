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
        environment.notifier.isWanted = configuration.notifies
        let book = AccountBook(configuration, environment: environment)
        self.book = book
        for warning in configuration.warnings { environment.notice?("warning: \(warning)") }
        for (name, session) in book.sessions {
            switch session {
            case .success(let session): await session.hold()
            case .failure(let error): environment.notice?("\(name): failed: \(error.message)")
            }
        }
    }

    /// Reads the settings again. Accounts that are as they were keep their sessions, and those of them that had given
    /// up are tried again; others are ended and begun.
    ///
    /// - Throws: `ControlError` when the settings are wrong; then those in force stay so: of all accounts, or of the
    ///   one whose settings are wrong.
    func reload() async throws(ControlError) {
        guard let office, book != nil, !isEnding else { return }
        let configuration = try ConfigurationFile(paths: environment.paths, path: office.settings)
        for warning in configuration.warnings { environment.notice?("warning: \(warning)") }
        environment.notifier.isWanted = configuration.notifies
        guard let change = book?.replace(configuration, environment: environment) else { return }
        await withTaskGroup { group in
            for session in change.ended { group.addTask { await session.close() } }
        }
        // An account that was removed has lost its tokens; its session may have got another one since.
        for session in change.ended where book?.sessions[session.account.name] == nil {
            try? AccountFiles(of: session.account.name, paths: environment.paths)?.removeLogins()
        }
        guard !isEnding else { return }
        for session in change.begun { await session.hold() }
        for session in change.kept where await session.holding?.status.phase == .failed { await session.hold() }
        if let failure = configuration.failures.min(by: { $0.key < $1.key })?.value { throw failure }
    }

    /// Makes sure that who takes this daemon's place gets along with the settings as well as this one does.
    ///
    /// - Throws: `ControlError` with ``ControlErrorCode/configuration`` when it would not begin, or would lose a
    ///   session that this one has.
    func checkSuccessor() throws(ControlError) {
        guard let office, let book else { return }
        do throws(ControlError) {
            let configuration = try ConfigurationFile(paths: environment.paths, path: office.settings)
            for (name, session) in book.sessions.sorted(by: { $0.key < $1.key }) where (try? session.get()) != nil {
                if let failure = configuration.failures[name] { throw failure }
                if let account = configuration.accounts.first(where: { $0.name == name }) {
                    _ = try SessionSettings(account)
                }
            }
        } catch {
            throw ControlError(.configuration, "\(error.clause); the daemon goes on as it is")
        }
    }

    /// The session of an account. Where it cannot be used, the settings are looked at again first: their owner may have
    /// mended them, or added the account, since they were read.
    ///
    /// - Throws: `ControlError` with why it cannot be used.
    func heldSession(for selection: SessionSelection) async throws(ControlError) -> AccountSession? {
        let found: Result<AccountSession, ControlError>
        do throws(ControlError) {
            guard let session = try book?.session(for: selection) else { return nil }
            found = .success(session)
        } catch {
            guard error.code != .usage else { throw error }
            found = .failure(error)
        }
        if case .success(let session) = found {
            if !isEnding { await session.holdAgainWithoutStore() }
            if await session.holding?.status.phase != .failed { return session }
        }
        guard let office, !isEnding else { return try found.get() }
        let new: ConfigurationFile
        do throws(ControlError) {
            new = try ConfigurationFile(paths: environment.paths, path: office.settings)
            // What is wrong with it now counts, and not what was.
            if case .failure = found { _ = try selection.account(of: new) }
        } catch {
            guard error.code != .accountNotFound else { return try found.get() }
            if case .success(let session) = found { return session }
            throw error
        }
        guard let change = book?.refresh(selection, from: new, environment: environment) else { return try found.get() }
        for session in change.begun {
            await session.hold(after: change.ended)
        }
        for session in change.ended { await session.close() }
        return try book?.session(for: selection)
    }

    /// Every session sees to what a change of the network means for it.
    func networkChanged() async {
        for session in book?.all ?? [] { await session.networkChanged() }
    }

    /// How many accounts are connected, of how many: the text that supervisors show.
    func summary() async -> String {
        guard let book else { return "" }
        var connected = 0
        for session in book.all where await session.holding?.status.phase == .connected { connected += 1 }
        return "\(connected) of \(book.sessions.count) accounts connected"
    }
}
