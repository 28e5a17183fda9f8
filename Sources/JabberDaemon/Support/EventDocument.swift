// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import XMPP

/// Events as `listen` shows them.
enum EventDocument {
    /// The events that something which happened on a stream makes; none for what is of no interest.
    static func documents(_ event: XMPPEvent, _ session: AccountSession) -> [JSONObject] {
        switch event {
        case .message(let message):
            return MessageDocument.documents(ChatMessage(message, account: session.jid), session)
        case .carbon(let carbon):
            return MessageDocument.documents(ChatMessage(carbon, account: session.jid), session)
        case .oversized(let stanza):
            return [gap(stanza, session)]
        case .messageBounced(let message, let error):
            return [MessageDocument.bounce(message, error, session)]
        case .receipt(let id, let jid):
            return [MessageDocument.mark("receipt", id, from: jid, session)]
        case .displayed(let id, let jid):
            return [MessageDocument.mark("marker", id, from: jid, session)]
        case .room(let room, let event):
            return RoomDocument.documents(room, event, session)
        case .invitation(let invitation):
            return [MessageDocument.invitation(invitation, session)]
        case .presence(let presence):
            return self.presence(presence, session).map { [$0] } ?? []
        case .roster(.changed(let change, _)):
            return [roster(change, session)]
        case .serverKeyChanged(let change):
            return [keyChange(change, session)]
        case .connected, .authenticated, .buddyCameOnline, .buddyChanged, .buddyWentOffline,
            .subscriptionRequest,
            .roster, .blockList, .interrupted, .resumed, .notResumed, .disconnected:
            return []
        }
    }

    /// What becomes of the connection.
    static func account(_ change: ConnectionChange, _ session: AccountSession) -> JSONObject {
        var event = heading("account", at: .now, session)
        switch change {
        case .connected: event["connection"] = "connected"
        case .connecting: event["connection"] = "connecting"
        case .disconnected(let error):
            event["connection"] = "disconnected"
            event["reason"] = ["code": .string(error.code.rawValue), "message": .string(error.message)]
        }
        return event
    }

    /// The server has a key that no login has met before (RFC 7590 §3.6).
    private static func keyChange(_ change: ServerKeyChange, _ session: AccountSession) -> JSONObject {
        var event = heading("account", at: .now, session)
        event["serverKey"] = [
            "host": .string(change.new.identity), "key": .string(change.new.fingerprint.description),
            "previousKey": .string(change.old.fingerprint.description), "issuer": .string(change.new.issuer),
            "notAfter": .string(change.new.notAfter),
        ]
        return event
    }

    private static func presence(_ presence: Presence, _ session: AccountSession) -> JSONObject? {
        // Servers echo a session's own presence to it (RFC 6121 §4.2.2).
        guard presence.kind == .available || presence.kind == .unavailable, let from = presence.from,
            !session.notes.isThisSession(from)
        else { return nil }
        var event = heading("presence", at: presence.sentAt(), session)
        event["from"] = .string(from.description)
        event["show"] = .string(ContactDocument.show(of: presence))
        if let status = presence.status { event["status"] = .string(status) }
        if presence.kind == .available { event["priority"] = .integer(Int64(presence.priority)) }
        return event
    }

    private static func roster(_ change: RosterChange, _ session: AccountSession) -> JSONObject {
        var event = heading("roster", at: .now, session)
        switch change {
        case .updated(let item): event["contact"] = .object(ContactDocument.contact(item))
        case .removed(let jid): event["contact"] = ["jid": .string(jid.description), "subscription": "remove"]
        }
        return event
    }

    /// That events behind a cursor are gone, or were never there.
    static func gap(after cursor: Int64, upTo start: Int64, _ session: AccountSession) -> JSONObject {
        var event = heading("gap", at: .now, session)
        event["cursor"] = .string(String(start))
        event["after"] = .string(String(cursor))
        return event
    }

    /// That events which are not kept are missing: how things stand now has to be asked.
    static func gap(_ session: AccountSession) -> JSONObject { heading("gap", at: .now, session) }

    /// That a stanza is missing which was too large to be read.
    static func gap(_ stanza: OversizedStanza, _ session: AccountSession) -> JSONObject {
        var event = heading("gap", at: .now, session)
        event["stanza"] = .string(stanza.kind.rawValue)
        event["bytes"] = .integer(Int64(stanza.bytes))
        if let from = stanza.from { event["from"] = .string(from.description) }
        if let id = stanza.id { event["id"] = .string(id) }
        return event
    }

    /// The beginning of every event.
    static func heading(_ type: String, at moment: DateTime, _ session: AccountSession) -> JSONObject {
        var event = session.heading
        event["type"] = .string(type)
        event["at"] = .string(moment.description)
        return event
    }
}

extension JSONObject {
    /// Adds the entries of another object.
    mutating func merge(_ other: JSONObject) {
        for entry in other.entries { self[entry.key] = entry.value }
    }
}
