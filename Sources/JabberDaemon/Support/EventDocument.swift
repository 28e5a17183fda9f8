// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import XMPP

/// Events as `listen` shows them.
enum EventDocument {
    /// The namespace of chat states (XEP-0085).
    private static let chatStates = "http://jabber.org/protocol/chatstates"

    /// The events that something which happened on a stream makes; none for what is of no interest.
    static func documents(_ event: XMPPEvent, _ session: AccountSession) -> [JSONObject] {
        switch event {
        case .message(let message):
            return [state(message, session), self.message(message, session)].compactMap { $0 }
        case .messageBounced(let message, let error):
            return [bounce(message, error, session)]
        case .presence(let presence):
            return self.presence(presence, session).map { [$0] } ?? []
        case .roster(.changed(let change, _)):
            return [roster(change, session)]
        case .connected, .authenticated, .buddyCameOnline, .buddyChanged, .buddyWentOffline, .subscriptionRequest,
            .roster, .receipt, .interrupted, .resumed, .notResumed, .disconnected:
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

    /// A message with something to read. Chat states, receipts and the like alone are none.
    private static func message(_ message: Message, _ session: AccountSession) -> JSONObject? {
        guard message.body != nil || message.subject != nil else { return nil }
        let delay = message.delay
        var event = heading("message", at: delay?.stamp ?? .now, session)
        event.merge(common(message))
        event["source"] = .string(delay.map { isKept(message, $0, session) } == true ? "offline" : "live")
        if let keeper = delay?.from { event["delayedFrom"] = .string(keeper.description) }
        return event
    }

    /// A message that came back.
    private static func bounce(
        _ message: Message, _ error: StanzaError, _ session: AccountSession
    ) -> JSONObject {
        var event = heading("message", at: .now, session)
        event.merge(common(message))
        event["source"] = "live"
        event["error"] = .object(ControlError.stanza(error))
        return event
    }

    private static func common(_ message: Message) -> JSONObject {
        let stanzaID = message.payload("stanza-id", namespace: "urn:xmpp:sid:0")
        return JSONObject(present: [
            "direction": "in", "from": message.from.map { .string($0.description) },
            "to": message.to.map { .string($0.description) }, "kind": .string(message.kind.rawValue),
            "id": message.id.map(JSONValue.string),
            "stanzaId": stanzaID.flatMap { element in
                guard let by = element["by"], let id = element["id"] else { return nil }
                return ["by": .string(by), "id": .string(id)]
            },
            "body": message.body.map(JSONValue.string), "subject": message.subject.map(JSONValue.string),
            "thread": message.thread.map(JSONValue.string), "encryption": "none",
        ])
    }

    /// Whether the own server kept the message while nobody was there (XEP-0203 §4, XEP-0160).
    private static func isKept(_ message: Message, _ delay: DelayedDelivery, _ session: AccountSession) -> Bool {
        guard message.kind != .groupchat else { return false }
        guard let keeper = delay.from else { return true }
        return keeper == session.jid.domain || keeper.bare == session.jid
    }

    private static func state(_ message: Message, _ session: AccountSession) -> JSONObject? {
        guard let from = message.from, message.kind != .groupchat,
            let state = message.element.children.first(where: { $0.namespace == chatStates })
        else { return nil }
        var event = heading("state", at: message.delay?.stamp ?? .now, session)
        event["from"] = .string(from.bare.description)
        event["state"] = .string(state.localName)
        return event
    }

    private static func presence(_ presence: Presence, _ session: AccountSession) -> JSONObject? {
        // Servers echo a session's own presence to it (RFC 6121 §4.2.2).
        guard presence.kind == .available || presence.kind == .unavailable, let from = presence.from,
            !session.notes.isThisSession(from)
        else { return nil }
        var event = heading("presence", at: presence.delay?.stamp ?? .now, session)
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

    private static func heading(_ type: String, at moment: DateTime, _ session: AccountSession) -> JSONObject {
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
