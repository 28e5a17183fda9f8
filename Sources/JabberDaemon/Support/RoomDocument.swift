// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import XMPP

/// What happens in rooms, as events.
enum RoomDocument {
    /// The events that something which happened in a room makes.
    static func documents(_ room: Room, _ event: RoomEvent, _ session: AccountSession) -> [JSONObject] {
        switch event {
        case .message(let line):
            let source: ChatMessage.Source = line.isHistory ? .archive : .live
            let chat = ChatMessage(line.message, account: session.jid, source: source)
            return MessageDocument.documents(chat, session).map { event in
                var event = event
                event["room"] = .string(room.jid.description)
                if let nickname = line.nickname { event["nick"] = .string(nickname) }
                event["direction"] = line.isOwn ? "out" : "in"
                return event
            }
        case .joined(let me):
            return [document("joined", room, session, of: me)]
        case .occupantJoined(let occupant):
            return [document("occupantJoined", room, session, of: occupant)]
        case .occupantChanged(let occupant):
            return [document("occupantChanged", room, session, of: occupant)]
        case .occupantLeft(let occupant, let departure):
            return [document("occupantLeft", room, session, of: occupant, departure)]
        case .nicknameChanged(let old, let occupant):
            var event = document("nicknameChanged", room, session, of: occupant)
            event["from"] = .string("\(room.jid)/\(old)")
            return [event]
        case .subject(let subject, let nickname):
            var event = document("subject", room, session)
            event["subject"] = .string(subject ?? "")
            if let nickname { event["nick"] = .string(nickname) }
            return [event]
        case .left(let departure):
            return [document("left", room, session, departure)]
        case .refused(let error):
            var event = document("refused", room, session)
            event["error"] = .object(ControlError.stanza(error))
            return [event]
        case .configurationChanged:
            return [document("configurationChanged", room, session)]
        }
    }

    private static func document(
        _ name: String, _ room: Room, _ session: AccountSession, of occupant: Occupant? = nil,
        _ departure: RoomDeparture? = nil
    ) -> JSONObject {
        var event = EventDocument.heading("room", at: .now, session)
        event["room"] = .string(room.jid.description)
        event["event"] = .string(name)
        if let occupant {
            event["from"] = .string("\(room.jid)/\(occupant.nickname)")
            event["nick"] = .string(occupant.nickname)
            event["role"] = .string(occupant.role.rawValue)
            event["affiliation"] = .string(occupant.affiliation.rawValue)
            event["show"] = .string(ContactDocument.show(of: occupant.presence))
        }
        if let departure {
            event["reason"] = .object(
                JSONObject(present: [
                    "code": .string(departure.cause.rawValue), "message": departure.reason.map(JSONValue.string),
                ]))
        }
        return event
    }
}
