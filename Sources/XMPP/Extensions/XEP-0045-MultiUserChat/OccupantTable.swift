// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
internal import XMPPXML

/// Those in a room by their nicknames. A room may have as many as it likes, and say of them what it likes: what is kept
/// of it has bounds.
struct OccupantTable: Sendable, Hashable {
    /// How many are known of those in a room; 20,000. Further ones are passed over, but not the user.
    static let maximumOccupants = 20_000
    /// How many bytes all of them may take; 32 MiB, 1,600 for each of 20,000, where usual ones have some 600. Whoever
    /// would make it more is passed over, but not the user.
    static let maximumBytes = 32 * 1_048_576

    private var items: [String: Occupant] = [:]
    private var bytes = 0

    /// Somebody in the room; `nil` where nothing is known of them.
    subscript(_ nickname: String) -> Occupant? { items[nickname] }

    /// All of them, in no order.
    var all: [Occupant] { Array(items.values) }

    /// How many there are.
    var count: Int { items.count }

    /// Takes over somebody who is new, or has changed.
    ///
    /// - Parameter isUser: Whether it is the user, for whom there is always room.
    /// - Returns: Whether there is room. Where there is none they are not listed any more: what was known of them is
    ///   not so.
    mutating func update(_ occupant: Occupant, isUser: Bool) -> Bool {
        let old = remove(occupant.nickname)
        let now = occupant.storedBytes
        let isRoom = (old != nil || items.count < Self.maximumOccupants) && bytes + now <= Self.maximumBytes
        guard isUser || isRoom else { return false }
        items[occupant.nickname] = occupant
        bytes += now
        return true
    }

    /// Forgets somebody.
    ///
    /// - Returns: What was known of them.
    @discardableResult
    mutating func remove(_ nickname: String) -> Occupant? {
        guard let old = items.removeValue(forKey: nickname) else { return nil }
        bytes -= old.storedBytes
        return old
    }
}

extension Occupant {
    /// About how many bytes it takes: its presence, names and addresses.
    var storedBytes: Int {
        presence.element.storedBytes + nickname.utf8.count + (occupantID?.utf8.count ?? 0)
            + (realJID?.description.utf8.count ?? 0)
    }
}
