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

    private static func say(
        _ message: Message, in room: Room, _ session: AccountSession, until deadline: SystemMoment?
    ) async -> JSONObject {
        let reflections = Locked<[Message]>([])
        let bounces = Locked<[(id: String?, error: StanzaError)]>([])
        // Before it leaves: it may be back at once.
        let subscription = session.feed.subscribe { event in
            switch event {
            case .room(room, .message(let line)) where line.isOwn && !line.isHistory:
                reflections.withLock { $0.append(line.message) }
            case .room(room, .subject): reflections.withLock { $0.append(Message(to: nil)) }
            case .messageBounced(let bounce, let error) where bounce.from?.bare == room.jid:
                bounces.withLock { $0.append((bounce.id, error)) }
            default: break
            }
        }
        defer { session.feed.cancel(subscription) }
        let to = room.jid.description
        do throws(ControlError) {
            let sent = try await session.step { () throws(XMPPError) in try await room.send(message) }
            let limit = deadline.map { max(.zero, $0 - .now) } ?? reflectionWindow
            _ = await session.feed.wait(atMost: limit) {
                reflections.withLock { $0.contains { $0.id == sent.id } }
                    || bounces.withLock { $0.contains { $0.id == sent.id } }
            }
            if let bounce = bounces.withLock({ $0.first { $0.id == sent.id } }) {
                let error = ControlError(
                    .refused, "\(to) did not take it: \(bounce.error)", stanza: ControlError.stanza(bounce.error),
                    account: session.name)
                return Delivery.result(to: to, id: sent.id, state: "failed", error)
            }
            guard let reflection = reflections.withLock({ $0.first { $0.id == sent.id } }) else {
                let error = ControlError(.timedOut, "\(to) did not send it back in time", account: session.name)
                return Delivery.result(to: to, id: sent.id, state: "sent", error)
            }
            var result = Delivery.result(to: to, id: sent.id, state: "server", nil)
            if let id = reflection.stanzaID(by: room.jid) {
                result["stanzaId"] = ["by": .string(to), "id": .string(id)]
            }
            return result
        } catch {
            return Delivery.result(to: to, id: message.id, state: "failed", error)
        }
    }
}
