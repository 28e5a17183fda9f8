// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import XMPP

/// How a session that is held open stands.
struct SessionStatus: Sendable {
    /// What it is doing.
    enum Phase: String, Sendable {
        /// Logging in, for the first time or again.
        case connecting
        /// Established, with roster and presence.
        case connected
        /// Waiting before the next attempt.
        case waiting
        /// Ended by what trying again cannot mend.
        case failed
        /// Ended by its user.
        case disconnected
    }

    /// What it is doing.
    var phase: Phase
    /// Since when.
    var since = DateTime.now
    /// Why it waits or has failed.
    var reason: ControlError?
    /// When the next attempt begins, while it waits.
    var retryAt: DateTime?
}

/// What belongs to a session that is held open.
struct SessionHolding: Sendable {
    /// How it stands.
    var status = SessionStatus(phase: .connecting)
    /// Whether there was a session already.
    var hasBeenOnline = false
    /// Whether what is kept of the session could not be opened when it was last tried.
    var lacksStore = false
    /// How often the session was established again after a loss.
    var reconnects = 0
    /// Grows with each change of ``status``.
    var version = 0
    /// Which life the session is in; it grows when the holder is replaced.
    var life = 0
    /// Holds the session; `nil` when it has ended.
    var holder: Task<Void, Never>?
    /// Those who wait for a change.
    var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    /// The number of the last of them.
    var lastWaiter = 0
}
