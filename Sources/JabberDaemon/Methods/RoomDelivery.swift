// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import SocketIO
internal import XMPP

/// Messages to rooms: said where the account is in the room, or comes in for it, and done when the room sends them back.
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
            let known = await stream.joinedRooms.first { $0.jid == jid }
            let room: Room
            if let known {
                room = known
            } else {
                room = try await session.step { () throws(XMPPError) in
                    try await stream.join(jid, as: nickname, history: .none)
                }
            }
            let result = await say(message, in: room, session, until: deadline)
            if known == nil { try? await room.leave() }
            return result
        } catch {
            return Delivery.result(to: jid.description, id: message.id, state: "failed", error)
        }
    }

    /// What a room makes of a message.
    private enum Answer: Sendable {
        case reflected(Message)
        case refused(StanzaError)
    }

    private static func say(
        _ message: Message, in room: Room, _ session: AccountSession, until deadline: SystemMoment?
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
            default: break
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
            return Delivery.result(to: to, id: message.id, state: "failed", error)
        }
    }
}
