// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
internal import XMPPCrypto
public import XMPPProtocol

/// What the logins of an account leave for the next one.
///
/// It belongs to one installation: a copy of it on another machine would make two programs look like one.
public struct LoginMemory: Sendable {
    /// Under which name this installation logs in to the account: a UUID of version 4 (XEP-0388 §2.3). A server takes
    /// whoever comes with it for the same program, and ends that program's earlier session.
    public var userAgentID: String
    /// The token that the server gave for the next login (XEP-0484); as good as the password.
    public var token: LoginToken?
    /// Whether the account has logged in with SCRAM: PLAIN is refused from then on (XEP-0474).
    public var hasUsedSCRAM = false
    /// Whether the account has logged in bound to its TLS channel: SCRAM without is refused from then on.
    public var hasUsedChannelBinding = false

    /// The keys that the account's servers had, the latest first; ``ServerKey/maximumRemembered`` at most. Another one
    /// is told of (``XMPPEvent/serverKeyChanged(_:)``).
    public var serverKeys: [ServerKey] = []

    /// What the server offered at the last login: the next one sends what follows from that without waiting for it.
    public var offered: OfferedFeatures?

    /// When a stanza of a session was last past a limit (``XMPPConfiguration/limits``). The first one costs the stream;
    /// in the sessions of the time after that they are passed over (``XMPPEvent/oversized(_:)``), since the server may
    /// send the same one again at each login.
    public var lastOversized: DateTime?

    /// How long after the last stanza that was past a limit such stanzas are passed over; 30 days.
    public static let oversizedLifetime: Duration = .seconds(30 * 86_400)

    /// Whether such stanzas are passed over in a session that begins at a moment.
    func passesOverOversized(at moment: DateTime) -> Bool {
        guard let lastOversized else { return false }
        return lastOversized.age(at: moment) < Self.oversizedLifetime
    }

    /// Makes a memory of nothing.
    ///
    /// - Parameter userAgentID: The name of this installation; made up unless said otherwise.
    public init(userAgentID: String? = nil) {
        self.userAgentID = userAgentID ?? SecureRandom().uuid()
    }
}

extension DateTime {
    /// How long ago it was; negative for a moment to come.
    func age(at now: DateTime) -> Duration { .milliseconds(now.millisecondsSinceEpoch - millisecondsSinceEpoch) }
}

/// Where streams keep what the logins of an account leave for the next one.
///
/// A store that outlives the program makes the next run look like the same program to the server. What is in it is
/// secret: keep it as you keep the password.
public protocol LoginMemoryStore: Sendable {
    /// What was saved last for an account; `nil` where nothing is.
    func memory(of account: JID) async -> LoginMemory?

    /// Replaces what is saved for an account.
    func save(_ memory: LoginMemory, of account: JID) async
}
