// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
public import XMPPCore

/// Who is online: a delegate that keeps the list which a buddy window shows.
///
/// ```swift
/// let buddies = BuddyList()
/// stream.add(chatDelegate: buddies)
/// for buddy in buddies.online { print(buddy.displayName) }
/// ```
public final class BuddyList: ChatDelegate {
    private let state = Locked<[JID: Buddy]>([:])

    /// Makes an empty list.
    public init() {}

    /// The buddies online, sorted by name and then by address.
    public var online: [Buddy] {
        state.withLock { Array($0.values) }.inDisplayOrder()
    }

    /// One buddy; `nil` when it is offline.
    public func buddy(_ jid: JID) -> Buddy? {
        state.withLock { $0[jid.bare] }
    }

    /// Adds the buddy.
    public func stream(_ stream: XMPPStream, buddyCameOnline buddy: Buddy) async {
        state.withLock { $0[buddy.jid] = buddy }
    }

    /// Removes the buddy.
    public func stream(_ stream: XMPPStream, buddyWentOffline buddy: Buddy) async {
        state.withLock { $0[buddy.jid] = nil }
    }

    /// Takes over what changed.
    public func stream(_ stream: XMPPStream, buddyChanged buddy: Buddy) async {
        state.withLock { $0[buddy.jid] = buddy }
    }
}
