// SPDX-License-Identifier: Apache-2.0

package import SocketIO

/// Where the daemons keep what belongs to one account, below the state folder.
package struct AccountFiles: Hashable, Sendable {
    /// Whose logins left something: the daemon that stays and the private ones each look like a program of their own to
    /// the server.
    package enum LoginOwner: String, Sendable, CaseIterable {
        /// The daemon that stays.
        case daemon
        /// A daemon for one command.
        case command
    }

    /// What SQLite has beside a database.
    private static let companions = ["", "-wal", "-shm", "-journal"]

    private let state: String
    private let name: String

    /// - Parameters:
    ///   - name: The account's name in the settings.
    ///   - paths: Where state is kept.
    /// - Returns: `nil` for a name that no file can have.
    package init?(of name: String, paths: RuntimePaths) {
        guard AccountConfiguration.isName(name) else { return nil }
        state = paths.state
        self.name = name
    }

    /// The database: session, messages that wait, messages, events.
    package var database: String { "\(state)/accounts/\(name).db" }

    /// The lock of ``database``.
    package var databaseLock: String { database + ".lock" }

    /// What logins leave for the next: a token in place of the password, and how strong they were.
    package func logins(of owner: LoginOwner) -> String { "\(state)/logins/\(name).\(owner.rawValue).json" }

    /// The file with the invitations that the account has given out and accepted.
    package var invitations: String { "\(state)/invitations/\(name).json" }

    /// The files with what was said that are there: the database, what belongs to it, and damaged ones that were set
    /// aside.
    package var history: [String] {
        let own = "\(name).db"
        let damaged = own + ".damaged-"
        return PrivateFile.names(in: "\(state)/accounts").filter { file in
            if Self.companions.contains(where: { file == own + $0 }) { return true }
            guard file.hasPrefix(damaged) else { return false }
            // A time, and a number perhaps; another account may be called like that.
            let rest = file.dropFirst(damaged.count)
            let stamp = Self.companions.last { rest.hasSuffix($0) }.map { rest.dropLast($0.count) } ?? rest
            return stamp.allSatisfy { ("0"..."9").contains($0) || "TZ-".contains($0) }
        }.map { "\(state)/accounts/\($0)" }
    }

    /// Makes sure that nobody uses what was said.
    ///
    /// - Returns: What keeps others from it for as long as it lives; `nil` when there is nothing.
    /// - Throws: `ControlError` with ``ControlErrorCode/temporary`` when a daemon uses it.
    package func claimHistory() throws(ControlError) -> Descriptor? {
        guard !history.isEmpty else { return nil }
        guard let lock = StateLock.take(databaseLock) else {
            throw ControlError(.temporary, "a daemon uses \(database); end it first with: jabberctl daemon stop")
        }
        return lock
    }

    /// Removes what was said. To be claimed first.
    ///
    /// - Throws: `ControlError` with ``ControlErrorCode/inputOutput``.
    package func removeHistory() throws(ControlError) {
        for file in history { try PrivateFile.remove(file) }
    }

    /// Removes what logins have left, tokens above all, and the tokens of invitations.
    ///
    /// - Throws: `ControlError` with ``ControlErrorCode/inputOutput``.
    package func removeLogins() throws(ControlError) {
        for owner in LoginOwner.allCases { try PrivateFile.remove(logins(of: owner)) }
        try PrivateFile.remove(invitations)
    }
}
