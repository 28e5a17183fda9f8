// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
public import XMPPCore

/// A store that ends with the program.
public final class InMemoryLoginMemoryStore: LoginMemoryStore {
    private let memories = Locked<[JID: LoginMemory]>([:])

    /// Makes an empty store.
    public init() {}

    /// What was saved last for an account.
    public func memory(of account: JID) async -> LoginMemory? {
        memories.withLock { $0[account.bare] }
    }

    /// Replaces what is saved for an account.
    public func save(_ memory: LoginMemory, of account: JID) async {
        memories.withLock { $0[account.bare] = memory }
    }
}
