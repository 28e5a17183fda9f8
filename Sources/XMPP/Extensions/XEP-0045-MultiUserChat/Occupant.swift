// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
internal import XMPPXML

/// The namespaces of rooms (XEP-0045).
public enum MultiUserChat {
    /// Entering a room, and the feature that names rooms.
    public static let namespace = "http://jabber.org/protocol/muc"
    /// What rooms say about those in them.
    public static let user = namespace + "#user"
    /// What moderators and admins do.
    public static let admin = namespace + "#admin"
    /// What owners do.
    public static let owner = namespace + "#owner"
}

/// What somebody may do while in a room (XEP-0045 §5.1).
public enum RoomRole: String, Sendable, Hashable, CaseIterable {
    /// May do everything, and take others' voice.
    case moderator
    /// May speak.
    case participant
    /// May listen.
    case visitor
    /// Is not there.
    case none
}

/// What somebody is to a room for good (XEP-0045 §5.2).
public enum RoomAffiliation: String, Sendable, Hashable, CaseIterable {
    /// May do everything.
    case owner
    /// May do nearly everything.
    case admin
    /// Belongs to it.
    case member
    /// May not come in.
    case outcast
    /// Nothing.
    case none
}

/// Somebody in a room.
public struct Occupant: Sendable, Hashable {
    /// The name that they have there.
    public var nickname: String
    /// What they may do.
    public var role: RoomRole
    /// What they are to the room.
    public var affiliation: RoomAffiliation
    /// Their real address, where the room tells.
    public var realJID: JID?
    /// Who they are, whatever their nickname is (XEP-0421), where the room tells.
    public var occupantID: String?
    /// Their presence in the room; of one that is longer than 4 KiB, what RFC 6121 §4.7.2 says of a presence.
    public var presence: Presence

    /// Reads an occupant off a presence that a room has sent.
    init(_ nickname: String, _ presence: Presence) {
        let item = RoomNews(presence).item
        self.nickname = nickname
        role = item?["role"].flatMap(RoomRole.init) ?? .none
        affiliation = item?["affiliation"].flatMap(RoomAffiliation.init) ?? .none
        realJID = item?["jid"].flatMap { try? JID($0) }
        occupantID = presence.occupantID
        self.presence = presence.kept
    }
}

/// What a room says in a stanza beside the stanza itself (XEP-0045 §17.4).
struct RoomNews {
    let codes: Set<Int>
    let item: Element?
    let destruction: Element?

    init(_ stanza: some Stanza) {
        let x = stanza.payload("x", namespace: MultiUserChat.user)
        codes = Set(
            (x?.children("status", namespace: MultiUserChat.user) ?? []).compactMap { $0["code"].flatMap { Int($0) } })
        item = x?.firstChild("item", namespace: MultiUserChat.user)
        destruction = x?.firstChild("destroy", namespace: MultiUserChat.user)
    }
}
