// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
internal import XMPPXML

/// The rooms of a ``LoopbackServer`` (XEP-0045), at `rooms.` and the server's domain: whoever comes first owns a room.
///
/// Not `Sendable`: it belongs to the server's actor.
final class LoopbackRooms {
    static let user = "http://jabber.org/protocol/muc#user"

    /// Somebody in a room.
    struct Guest {
        let endpoint: any LoopbackEndpoint
        var nickname: String
        var role: String
        var presence: Presence
    }

    /// One room.
    struct Hall {
        var guests: [Guest] = []
        var affiliations: [JID: String] = [:]
        var history: [Element] = []
        var subject = ""
        var password: String?
        var isMembersOnly = false
        var lastID = 0
    }

    /// How many messages of a room are kept.
    static let maximumHistory = 50

    let domain: JID
    var halls: [JID: Hall] = [:]
    let now: () -> DateTime
    /// Whether what is said is sent to those in the room.
    let reflects: () -> Bool
    /// Whether what is said is lost on its way.
    let loses: () -> Bool
    /// Hands a stanza to somebody outside.
    let pass: (Element, JID) -> Void

    /// Whether who enters is told what was said before.
    let tellsHistory: () -> Bool

    init(
        domain: JID, now: @escaping () -> DateTime, reflects: @escaping () -> Bool, loses: @escaping () -> Bool,
        tellsHistory: @escaping () -> Bool,
        pass: @escaping (Element, JID) -> Void
    ) {
        self.domain = domain
        self.now = now
        self.reflects = reflects
        self.loses = loses
        self.tellsHistory = tellsHistory
        self.pass = pass
    }

    /// Takes a presence for an address in a room (XEP-0045 §7.2, §7.6, §7.14).
    func route(_ presence: Presence, to: JID, from sender: any LoopbackEndpoint) {
        guard let nickname = to.resourcepart else { return refuse(presence, to, sender, .jidMalformed, .modify) }
        let room = to.bare
        let isInside = halls[room]?.guests.contains { $0.endpoint === sender } == true
        switch presence.kind {
        case .unavailable:
            if isInside { leave(room, sender, codes: []) }
        case .available where isInside:
            change(presence, room, nickname, sender)
        case .available:
            enter(presence, room, nickname, sender)
        default:
            break
        }
    }

    private func refuse(
        _ stanza: some Stanza, _ to: JID, _ sender: any LoopbackEndpoint, _ condition: StanzaError.Condition,
        _ kind: StanzaError.Kind
    ) {
        var answer = stanza.element
        answer["type"] = "error"
        answer["from"] = to.description
        answer["to"] = sender.jid.description
        answer.append(StanzaError(condition, kind: kind).element)
        sender.deliver(answer)
    }

    private func enter(_ presence: Presence, _ room: JID, _ nickname: String, _ sender: any LoopbackEndpoint) {
        let to = (try? room.withResource(nickname)) ?? room
        let isNew = halls[room] == nil
        var hall = halls[room] ?? Hall()
        let account = sender.jid.bare
        if isNew { hall.affiliations[account] = "owner" }
        let affiliation = hall.affiliations[account] ?? "none"
        let x = presence.payload("x", namespace: "http://jabber.org/protocol/muc")
        let password = x?.firstChild("password", namespace: "http://jabber.org/protocol/muc")?.text
        if affiliation == "outcast" { return refuse(presence, to, sender, .forbidden, .auth) }
        if hall.isMembersOnly, affiliation == "none" {
            return refuse(presence, to, sender, .registrationRequired, .auth)
        }
        if let wanted = hall.password, wanted != password { return refuse(presence, to, sender, .notAuthorized, .auth) }
        if hall.guests.contains(where: { $0.nickname == nickname && $0.endpoint.jid.bare != account }) {
            return refuse(presence, to, sender, .conflict, .cancel)
        }
        let role = affiliation == "owner" || affiliation == "admin" ? "moderator" : "participant"
        let guest = Guest(endpoint: sender, nickname: nickname, role: role, presence: presence)
        for other in hall.guests { deliver(other, of: hall, in: room, to: sender) }
        hall.guests.append(guest)
        halls[room] = hall
        for other in hall.guests where other.endpoint !== sender {
            deliver(guest, of: hall, in: room, to: other.endpoint)
        }
        deliver(guest, of: hall, in: room, to: sender, codes: isNew ? [110, 201] : [110])
        tell(history: x, of: hall, in: room, to: sender)
    }

    private func tell(history x: Element?, of hall: Hall, in room: JID, to endpoint: any LoopbackEndpoint) {
        let wish = x?.firstChild("history", namespace: "http://jabber.org/protocol/muc")
        let count = tellsHistory() ? wish?["maxstanzas"].flatMap { Int($0) } ?? Self.maximumHistory : 0
        let age = wish?["seconds"].flatMap { Int64($0) }
        let start = age.map { now().millisecondsSinceEpoch - $0 * 1_000 } ?? .min
        let told = hall.history.filter { line in
            let stamp = line.firstChild("delay", namespace: Namespace.delay)?["stamp"].flatMap(DateTime.init)
            return stamp.map { $0.millisecondsSinceEpoch >= start } ?? true
        }
        for message in told.suffix(max(0, count)) {
            var message = message
            message["to"] = endpoint.jid.description
            endpoint.deliver(message)
        }
        var subject = Element("message", namespace: Namespace.client, attributes: ["type": "groupchat"])
        subject["from"] = room.description
        subject["to"] = endpoint.jid.description
        subject.append(Element("subject", namespace: Namespace.client, text: hall.subject))
        endpoint.deliver(subject)
    }

    private func change(_ presence: Presence, _ room: JID, _ nickname: String, _ sender: any LoopbackEndpoint) {
        guard var hall = halls[room], let place = hall.guests.firstIndex(where: { $0.endpoint === sender }) else {
            return
        }
        if hall.guests.contains(where: { $0.nickname == nickname && $0.endpoint !== sender }) {
            let to = (try? room.withResource(nickname)) ?? room
            return refuse(presence, to, sender, .conflict, .cancel)
        }
        let old = hall.guests[place]
        hall.guests[place].presence = presence
        hall.guests[place].nickname = nickname
        halls[room] = hall
        for other in hall.guests {
            let isSelf = other.endpoint === sender
            if old.nickname != nickname {
                deliver(
                    old, of: hall, in: room, to: other.endpoint, kind: "unavailable",
                    codes: isSelf ? [110, 303] : [303],
                    nick: nickname)
            }
            deliver(hall.guests[place], of: hall, in: room, to: other.endpoint, codes: isSelf ? [110] : [])
        }
    }

    /// Takes somebody out of a room, and tells everybody why.
    func leave(
        _ room: JID, _ endpoint: any LoopbackEndpoint, codes: [Int], reason: String? = nil, destroyed: Element? = nil
    ) {
        guard var hall = halls[room], let place = hall.guests.firstIndex(where: { $0.endpoint === endpoint }) else {
            return
        }
        var guest = hall.guests[place]
        let told = hall.guests
        guest.role = "none"
        hall.guests.remove(at: place)
        halls[room] = hall
        for other in told {
            let isSelf = other.endpoint === endpoint
            deliver(
                guest, of: hall, in: room, to: other.endpoint, kind: "unavailable",
                codes: (isSelf ? [110] : []) + codes,
                reason: reason, destroyed: destroyed)
        }
    }

    /// A session goes on as another one.
    func replace(_ old: any LoopbackEndpoint, by new: any LoopbackEndpoint) {
        for (room, hall) in halls {
            for (place, guest) in hall.guests.enumerated() where guest.endpoint === old {
                halls[room]?.guests[place] = Guest(
                    endpoint: new, nickname: guest.nickname, role: guest.role, presence: guest.presence)
            }
        }
    }

    /// Forgets who is in the rooms.
    func forgetGuests() {
        for room in halls.keys { halls[room]?.guests = [] }
    }

    /// Takes a resource that is gone out of every room.
    func disconnect(_ endpoint: any LoopbackEndpoint) {
        for room in halls.keys { leave(room, endpoint, codes: []) }
    }

    /// Tells one guest's presence.
    func deliver(
        _ guest: Guest, of hall: Hall, in room: JID, to endpoint: any LoopbackEndpoint, kind: String? = nil,
        codes: [Int] = [], nick: String? = nil, reason: String? = nil, destroyed: Element? = nil
    ) {
        var presence = kind == nil ? guest.presence.element : Element("presence", namespace: Namespace.client)
        presence.removeChildren { $0.namespace == "http://jabber.org/protocol/muc" }
        presence["type"] = kind
        presence["from"] = (try? room.withResource(guest.nickname))?.description
        presence["to"] = endpoint.jid.description
        let account = guest.endpoint.jid.bare
        var item = Element(
            "item", namespace: Self.user,
            attributes: [
                "affiliation": hall.affiliations[account] ?? "none", "role": guest.role,
                "jid": guest.endpoint.jid.description,
                "nick": nick,
            ])
        if let reason { item.append(Element("reason", namespace: Self.user, text: reason)) }
        var x = Element("x", namespace: Self.user, children: [item])
        for code in codes {
            x.append(Element("status", namespace: Self.user, attributes: ["code": String(code)]))
        }
        if let destroyed { x.append(destroyed) }
        presence.append(x)
        presence.append(Self.occupantID(account))
        endpoint.deliver(presence)
    }

    static func occupantID(_ account: JID) -> Element {
        Element("occupant-id", namespace: "urn:xmpp:occupant-id:0", attributes: ["id": "id-of-\(account)"])
    }
}
