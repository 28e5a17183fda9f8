// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import XMPP

/// Messages, and what is said about messages, as events.
enum MessageDocument {
    /// The events that one message makes: reactions, that something is to be removed, or what there is to read, and
    /// then what its sender is doing. Receipts and the like alone are none.
    static func documents(_ chat: ChatMessage, _ session: AccountSession) -> [JSONObject] {
        var events: [JSONObject] = []
        let isRoom = chat.message.kind == .groupchat
        if let reactions = chat.reactions {
            var event = beginning("reaction", chat, session)
            event["id"] = .string(reactions.id)
            event["emoji"] = .strings(reactions.emoji)
            events.append(event)
        } else if let retraction = chat.retraction {
            var event = beginning("retraction", chat, session)
            event["id"] = .string(retraction.id)
            event["reason"] = retraction.reason.map { ["message": .string($0)] }
            if let moderation = retraction.moderation {
                event["moderator"] = .string(moderation.by?.description ?? "")
            }
            events.append(event)
        } else if chat.message.retraction == nil, chat.text != nil || chat.message.subject != nil {
            events.append(message(chat, session))
        }
        // Last: who listens for one event more, and no further, is to have what there is to read.
        if let state = chat.chatState, !isRoom, !chat.isOutgoing {
            var event = EventDocument.heading("state", at: chat.message.sentAt(), session)
            event["from"] = .string(chat.sender.bare.description)
            event["state"] = .string(state.rawValue)
            events.append(event)
        }
        return events
    }

    /// A message that came back.
    static func bounce(_ message: Message, _ error: StanzaError, _ session: AccountSession) -> JSONObject {
        var event = EventDocument.heading("message", at: .now, session)
        event.merge(common(ChatMessage(message, account: session.jid), text: message.body, session))
        event["direction"] = "in"
        event["source"] = "live"
        event["error"] = .object(ControlError.stanza(error))
        return event
    }

    /// That a message was received or displayed.
    static func mark(_ type: String, _ id: String, from jid: JID, _ session: AccountSession) -> JSONObject {
        var event = EventDocument.heading(type, at: .now, session)
        event["from"] = .string(jid.description)
        event["id"] = .string(id)
        return event
    }

    /// That somebody asks into a room.
    static func invitation(_ invitation: RoomInvitation, _ session: AccountSession) -> JSONObject {
        var event = EventDocument.heading("invitation", at: .now, session)
        event["from"] = invitation.from.map { .string($0.description) }
        event["room"] = .string(invitation.room.description)
        event["body"] = invitation.reason.map(JSONValue.string)
        return event
    }

    private static func message(_ chat: ChatMessage, _ session: AccountSession) -> JSONObject {
        var event = beginning("message", chat, session)
        event.merge(common(chat, text: chat.text, session))
        if !chat.isOutgoing, let name = colouredName(of: chat) {
            event["color"] = .string(ConsistentColor(of: name).hexadecimal)
        }
        if let keeper = chat.delay?.from { event["delayedFrom"] = .string(keeper.description) }
        return event
    }

    /// Whose colour a message has: in a room that of the nickname (XEP-0392 §5.1).
    private static func colouredName(of chat: ChatMessage) -> String? {
        chat.message.kind == .groupchat ? chat.message.from?.resourcepart : chat.sender.bare.description
    }

    /// What every message says of where it comes from.
    private static func beginning(_ type: String, _ chat: ChatMessage, _ session: AccountSession) -> JSONObject {
        var event = EventDocument.heading(type, at: chat.message.sentAt(), session)
        event["direction"] = chat.isOutgoing ? "out" : "in"
        event["from"] = chat.message.from.map { .string($0.description) }
        event["to"] = chat.message.to.map { .string($0.description) }
        event["kind"] = .string(chat.message.kind.rawValue)
        event["source"] = .string(chat.source.rawValue)
        return event
    }

    private static func common(_ chat: ChatMessage, text: String?, _ session: AccountSession) -> JSONObject {
        let message = chat.message
        // Anybody can write one: it counts of the room the message came from, else of the own account (XEP-0359 §6).
        let keeper = message.kind == .groupchat ? chat.sender.bare : session.jid.bare
        let stanzaID = message.stanzaID(by: keeper).map { StanzaID($0, by: keeper) }
        return JSONObject(present: [
            "direction": chat.isOutgoing ? "out" : "in", "from": message.from.map { .string($0.description) },
            "to": message.to.map { .string($0.description) }, "kind": .string(message.kind.rawValue),
            "id": message.id.map(JSONValue.string),
            "stanzaId": stanzaID.map { ["by": .string($0.by.description), "id": .string($0.id)] },
            "body": text.map(JSONValue.string), "subject": message.subject.map(JSONValue.string),
            "thread": message.thread.map(JSONValue.string), "replaces": chat.correctedID.map(JSONValue.string),
            "replyTo": chat.replyTo.map { reply in
                .object(
                    JSONObject(present: ["id": .string(reply.id), "to": reply.to.map { .string($0.description) }]))
            },
            "attachments": chat.attachments.isEmpty ? nil : .strings(chat.attachments.map(\.url)),
            "encryption": "none",
        ])
    }
}
