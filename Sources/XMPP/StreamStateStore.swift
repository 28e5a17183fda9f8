// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
public import XMPPCore
public import XMPPProtocol

/// Where an ``XMPPClient`` keeps what an interrupted session left, until it is resumed.
///
/// A store that outlives the program lets the next run go on with the session, or repeat what the server has not
/// acknowledged. The state is saved when a connection is lost and removed when the session goes on or has ended: what it says
/// is always complete, and a program that is killed while connected finds nothing rather than something outdated. It holds the
/// text of messages and the name of the session, which is a secret: keep it as you keep the password.
public protocol StreamStateStore: Sendable {
    /// What was saved last for an account; `nil` where nothing is.
    func state(of account: JID) async -> StreamState?

    /// Replaces what is saved for an account; `nil` removes it. A store that cannot save loses the chance to resume, no more.
    func save(_ state: StreamState?, of account: JID) async
}

/// A store that ends with the program.
public final class InMemoryStreamStateStore: StreamStateStore {
    private let states = Locked<[JID: StreamState]>([:])

    /// Makes an empty store.
    public init() {}

    /// What was saved last for an account.
    public func state(of account: JID) async -> StreamState? {
        states.withLock { $0[account.bare] }
    }

    /// Replaces what is saved for an account.
    public func save(_ state: StreamState?, of account: JID) async {
        states.withLock { $0[account.bare] = state }
    }
}
