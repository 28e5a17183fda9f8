// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import XMPP

/// The account's being in a room for as long as something runs; where it is in it anyway, it stays.
struct RoomVisit {
    private let room: Room?

    /// Enters a room; no room is none.
    init(_ jid: JID?, as nickname: String?, _ session: AccountSession) async throws(ControlError) {
        guard let jid else {
            room = nil
            return
        }
        let stream = try await session.withPresence(priority: -1, isLasting: true).stream
        if await stream.joinedRooms.contains(where: { $0.jid == jid }) {
            room = nil
            return
        }
        room = try await session.step { () throws(XMPPError) in
            try await stream.join(jid, as: nickname, history: .none)
        }
    }

    /// Leaves again.
    func end() async {
        try? await room?.leave()
    }
}
