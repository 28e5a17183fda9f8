// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
public import XMPPCore
public import XMPPProtocol

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
