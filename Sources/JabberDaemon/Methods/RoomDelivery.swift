// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import SocketIO
internal import XMPP

/// Messages to rooms: said where the account is in the room, or comes in for it, and done when the room sends them
/// back.
enum RoomDelivery {
    /// How long a room may take to send a message back where the caller sets no limit.
    static let reflectionWindow: Duration = .seconds(10)

    /// Says something in a room.
    ///
    /// - Returns: How far it came.
    static func send(
        _ message: Message, to jid: JID, nickname: String?, session: AccountSession, stream: XMPPStream,
        until deadline: SystemMoment?
    ) async -> JSONObject {
        do throws(ControlError) {
            return try await RoomVisit.during(jid, as: nickname, session, on: stream) { room in
                await say(message, in: room, session, stream, until: deadline)
            }
        } catch {
            return Delivery.result(to: jid.description, id: message.id, state: "failed", error)
        }
    }

    /// What a room makes of a message.
    private enum Answer: Sendable {
        case reflected(Message)
        case refused(StanzaError)
        case shownOut(RoomDeparture)
    }

    private static func say(
        _ message: Message, in room: Room, _ session: AccountSession, _ stream: XMPPStream,
        until deadline: SystemMoment?
    ) async -> JSONObject {
        var message = message
        let id = message.id ?? session.newStanzaID()
        message.id = id
        // What the room makes of this message; of all others nothing is kept, however long it takes.
        let answer = Locked<Answer?>(nil)
        // Before it leaves: it may be back at once.
        let subscription = session.feed.subscribe { event in
            switch event {
            case .room(room, .message(let line)) where line.isOwn && !line.isHistory && line.message.id == id:
                answer.withLock { $0 = $0 ?? .reflected(line.message) }
            case .messageBounced(let bounce, let error) where bounce.from?.bare == room.jid && bounce.id == id:
                answer.withLock { $0 = $0 ?? .refused(error) }
            case .room(room, .left(let departure)):
                answer.withLock { $0 = $0 ?? .shownOut(departure) }
            case .connected, .serverKeyChanged, .authenticated, .presence, .buddyCameOnline, .buddyChanged,
                .buddyWentOffline,
                .subscriptionRequest, .roster, .message, .oversized, .messageBounced, .receipt, .displayed, .carbon,
                .invitation, .room, .blockList, .interrupted, .resumed, .notResumed, .disconnected:
                break
            }
        }
        defer { session.feed.cancel(subscription) }
        let to = room.jid.description
        do throws(ControlError) {
            try await session.step { [message] () throws(XMPPError) in _ = try await room.send(message) }
            let limit = deadline.map { max(.zero, $0 - .now) } ?? reflectionWindow
            _ = await session.feed.wait(atMost: limit) { answer.withLock { $0 != nil } }
            let reflection: Message
            switch answer.withLock({ $0 }) {
            case .reflected(let message): reflection = message
            case .refused(let error):
                let error = ControlError(
                    .refused, "\(to) did not take it: \(error)", stanza: ControlError.stanza(error),
                    account: session.name)
                return Delivery.result(to: to, id: id, state: "failed", error)
            case .shownOut(let departure):
                // With the session goes what would have told whether it was said.
                let state = departure.cause == .disconnected ? "sent" : "failed"
                return Delivery.result(to: to, id: id, state: state, outside(room, departure, session))
            case nil:
                let error = ControlError(.timedOut, "\(to) did not send it back in time", account: session.name)
                return Delivery.result(to: to, id: id, state: "sent", error)
            }
            var result = Delivery.result(to: to, id: id, state: "server", nil)
            if let id = reflection.stanzaID(by: room.jid) {
                result["stanzaId"] = ["by": .string(to), "id": .string(id)]
            }
            return result
        } catch {
            // Where the session is there, it is the room that the account is not in any more.
            guard error.code == .notConnected, !room.isJoined, await stream.isEstablished else {
                return Delivery.result(to: to, id: id, state: "failed", error)
            }
            let departure: RoomDeparture? =
                if case .shownOut(let departure)? = answer.withLock({ $0 }) { departure } else { nil }
            return Delivery.result(to: to, id: id, state: "failed", outside(room, departure, session))
        }
    }

    /// Why a room takes nothing of who is in it no more.
    static func outside(
        _ room: Room, _ departure: RoomDeparture?, _ session: AccountSession
    ) -> ControlError {
        let (code, what): (ControlErrorCode, String) =
            switch departure?.cause {
            case nil: (.refused, "you are not in \(room.jid) any more")
            case .left: (.refused, "you have left \(room.jid)")
            case .kicked: (.refused, "\(room.jid) has shown you out")
            case .banned: (.refused, "\(room.jid) has banned you")
            case .membersOnly: (.refused, "\(room.jid) is for its members only")
            case .destroyed: (.refused, "\(room.jid) is no more")
            case .shutdown: (.temporary, "the service of \(room.jid) is being shut down")
            case .error: (.temporary, "\(room.jid) has lost you")
            case .disconnected: (.connectionLost, "the session has ended before \(room.jid) sent it back")
            }
        let reason = departure?.reason.map { ": \($0)" } ?? ""
        return ControlError(code, what + reason, account: session.name)
    }
}
