// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import XMPP

/// The account's being in a room for as long as something is done there; where it is in it anyway, it stays.
struct RoomVisit {
    /// The room.
    let room: Room
    private let leavesAgain: Bool

    /// Enters a room, unless the account is in it.
    ///
    /// - Parameters:
    ///   - jid: The room's address.
    ///   - nickname: The name to have there; the account's localpart unless said otherwise.
    ///   - session: Whose session.
    ///   - stream: The stream that is to be in the room; the session's, with a presence, unless said otherwise.
    /// - Throws: `ControlError` when the room refuses, or there is no session.
    init(
        _ jid: JID, as nickname: String?, _ session: AccountSession, on stream: XMPPStream? = nil
    ) async throws(ControlError) {
        let present: XMPPStream
        if let stream {
            present = stream
        } else {
            present = try await session.withPresence(priority: -1, isLasting: true).stream
        }
        if let known = await present.joinedRooms.first(where: { $0.jid == jid }) {
            (room, leavesAgain) = (known, false)
            return
        }
        room = try await session.step { () throws(XMPPError) in
            try await present.join(jid, as: nickname, history: .none)
        }
        leavesAgain = true
    }

    /// Leaves again.
    func end() async {
        if leavesAgain { try? await room.leave() }
    }

    /// Does something in a room, and leaves it again whatever comes of that.
    ///
    /// - Throws: `ControlError` as ``init(_:as:_:on:)``, or what `work` throws.
    static func during<Outcome: Sendable>(
        _ jid: JID, as nickname: String?, _ session: AccountSession, on stream: XMPPStream? = nil,
        _ work: (Room) async throws(ControlError) -> Outcome
    ) async throws(ControlError) -> Outcome {
        let visit = try await RoomVisit(jid, as: nickname, session, on: stream)
        do throws(ControlError) {
            let outcome = try await work(visit.room)
            await visit.end()
            return outcome
        } catch {
            await visit.end()
            throw error
        }
    }
}
