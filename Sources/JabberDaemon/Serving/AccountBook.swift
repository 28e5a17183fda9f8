// SPDX-License-Identifier: Apache-2.0

internal import JabberControl

/// The configured accounts of a daemon that stays, each with its session. What goes wrong with one stays with it.
struct AccountBook: Sendable {
    /// The settings in force.
    private(set) var configuration: ConfigurationFile
    /// The sessions by the accounts' names, or why an account has none.
    private(set) var sessions: [String: Result<AccountSession, ControlError>] = [:]

    /// What a change of the settings asks for.
    struct Change: Sendable {
        /// Sessions to begin.
        var begun: [AccountSession] = []
        /// Sessions to end.
        var ended: [AccountSession] = []
        /// Sessions whose account is as it was.
        var kept: [AccountSession] = []
    }

    /// Makes the sessions of all accounts; none is begun.
    init(_ configuration: ConfigurationFile, environment: DaemonEnvironment) {
        self.configuration = configuration
        for account in configuration.accounts { sessions[account.name] = Self.session(account, environment) }
        for (name, error) in configuration.failures { sessions[name] = .failure(error) }
    }

    /// The address of an account; `nil` when its settings do not tell.
    func jid(of name: String) -> String? {
        configuration.accounts.first { $0.name == name }?.jid ?? (try? sessions[name]?.get())?.account.jid
    }

    /// Every session there is.
    var all: [AccountSession] { sessions.values.compactMap { try? $0.get() } }

    /// Takes other settings in: an account whose settings are the same, or cannot be used now, keeps its session.
    mutating func replace(_ new: ConfigurationFile, environment: DaemonEnvironment) -> Change {
        var change = Change()
        var next: [String: Result<AccountSession, ControlError>] = [:]
        for account in new.accounts {
            let old = try? sessions[account.name]?.get()
            if let old, old.account == account {
                next[account.name] = .success(old)
                change.kept.append(old)
                continue
            }
            let made = Self.session(account, environment)
            next[account.name] = made
            if let session = try? made.get() { change.begun.append(session) }
        }
        for (name, error) in new.failures {
            next[name] = .failure(error)
            guard let old = try? sessions[name]?.get() else { continue }
            next[name] = .success(old)
            change.kept.append(old)
        }
        for (name, old) in sessions {
            guard let session = try? old.get() else { continue }
            if let now = try? next[name]?.get(), now === session { continue }
            change.ended.append(session)
        }
        configuration = new
        sessions = next
        return change
    }

    /// Takes in what other settings say of one account, when it is not what these say.
    ///
    /// - Returns: What that asks for; `nil` when nothing has changed.
    mutating func refresh(
        _ selection: SessionSelection, from new: ConfigurationFile, environment: DaemonEnvironment
    ) -> Change? {
        guard let account = try? selection.account(of: new), !configuration.accounts.contains(account) else {
            return nil
        }
        var change = Change()
        if let old = try? sessions[account.name]?.get() { change.ended.append(old) }
        let made = Self.session(account, environment)
        if let session = try? made.get() { change.begun.append(session) }
        sessions[account.name] = made
        configuration.take(account.name, from: new)
        return change
    }

    /// The session of the account that a request is for.
    ///
    /// - Throws: `ControlError` when there is no such account, when its settings are unusable, or when the request
    ///   brings settings of its own, which are not those of a session that others share.
    func session(for selection: SessionSelection) throws(ControlError) -> AccountSession {
        guard !selection.bringsSettings, selection.account == nil || selection.jid == nil else {
            throw ControlError(
                .usage,
                "the running daemon serves its configured accounts as they are; use --no-daemon for other settings")
        }
        let name = try name(of: selection)
        guard let session = sessions[name] else { throw ControlError(.accountNotFound, "no account \"\(name)\"") }
        return try session.get()
    }

    /// The name of the account that is meant, be it one whose settings cannot be used now.
    private func name(of selection: SessionSelection) throws(ControlError) -> String {
        let broken = configuration.failures
        if let name = selection.account ?? selection.jid {
            return broken[name] == nil ? try configuration.account(name).name : name
        }
        if let name = configuration.defaultAccount, broken[name] != nil { return name }
        if let name = broken.keys.first, broken.count == 1, configuration.accounts.isEmpty { return name }
        if let implicit = try configuration.implicitAccount() { return implicit.name }
        throw ControlError(
            .configuration,
            "the running daemon has no account; run: jabberctl account add you@example.org"
        )
    }

    private static func session(
        _ account: AccountConfiguration, _ environment: DaemonEnvironment
    ) -> Result<AccountSession, ControlError> {
        do throws(ControlError) {
            return .success(try AccountSession(account, environment: environment, as: .daemon))
        } catch {
            return .failure(error)
        }
    }
}
