// SPDX-License-Identifier: Apache-2.0

internal import XMPP
internal import XMPPCore
internal import XMPPXML

extension LoopbackRooms {
    /// Takes a message for a room or for somebody in it (XEP-0045 §7.4, §7.5, §7.8, §8.1).
    func route(_ message: Message, to: JID, from sender: any LoopbackEndpoint, bounce: (StanzaError) -> Void) {
        let room = to.bare
        guard var hall = halls[room], let guest = hall.guests.first(where: { $0.endpoint === sender }) else {
            return bounce(StanzaError(.notAcceptable, kind: .modify))
        }
        let from = try? room.withResource(guest.nickname)
        if to.isFull {
            guard let other = hall.guests.first(where: { $0.nickname == to.resourcepart }) else {
                return bounce(StanzaError(.itemNotFound, kind: .cancel))
            }
            var whisper = message.element
            whisper["from"] = from?.description
            whisper["to"] = other.endpoint.jid.description
            return other.endpoint.deliver(whisper)
        }
        if let invite = message.payload("x", namespace: Self.user)?.firstChild("invite", namespace: Self.user),
            let invited = invite["to"].flatMap({ try? JID($0) })
        {
            var passed = invite
            passed["to"] = nil
            passed["from"] = sender.jid.bare.description
            var stanza = Element("message", namespace: Namespace.client, attributes: ["from": room.description])
            stanza["to"] = invited.description
            stanza.append(Element("x", namespace: Self.user, children: [passed]))
            return pass(stanza, invited)
        }
        guard message.kind == .groupchat else { return bounce(.badRequest) }
        guard !loses() else { return }
        guard guest.role != "visitor" else { return bounce(StanzaError(.forbidden, kind: .auth)) }
        hall.lastID += 1
        var line = message.element
        line["from"] = from?.description
        line.removeChildren { ["stanza-id", "occupant-id"].contains($0.localName) }
        line.append(
            Element(
                "stanza-id", namespace: "urn:xmpp:sid:0", attributes: ["by": room.description, "id": "s\(hall.lastID)"])
        )
        line.append(Self.occupantID(sender.jid.bare))
        if message.subject != nil, message.body == nil {
            hall.subject = message.subject ?? ""
        } else {
            var kept = line
            kept.append(
                Element(
                    "delay", namespace: Namespace.delay,
                    attributes: ["from": room.description, "stamp": now().description]))
            hall.history.append(kept)
            if hall.history.count > Self.maximumHistory { hall.history.removeFirst() }
        }
        halls[room] = hall
        for other in hall.guests where reflects() {
            line["to"] = other.endpoint.jid.description
            other.endpoint.deliver(line)
        }
    }

    /// What the service, a room or somebody in it answers; `nil` when it has no answer.
    func answer(_ iq: IQ, to: JID, from sender: any LoopbackEndpoint) -> Result<Element?, StanzaError>? {
        guard let payload = iq.payload else { return nil }
        let room = to.bare
        switch (payload.localName, payload.namespace, iq.kind) {
        case ("query", "http://jabber.org/protocol/disco#info", .get):
            return information(to, payload.namespace)
        case ("query", "http://jabber.org/protocol/disco#items", .get):
            guard to == domain else { return .success(Element("query", namespace: payload.namespace)) }
            return .success(
                Element(
                    "query", namespace: payload.namespace,
                    children: halls.keys.sorted().map { room in
                        Element(
                            "item", namespace: payload.namespace,
                            attributes: ["jid": room.description, "name": room.localpart])
                    }))
        case ("ping", Namespace.ping, .get) where to.isFull:
            let isInside = halls[room]?.guests.contains { $0.endpoint === sender } == true
            return isInside ? .success(nil) : .failure(StanzaError(.notAcceptable, kind: .cancel))
        case ("query", "http://jabber.org/protocol/muc#admin", _):
            return administer(payload, iq.kind, room, sender)
        case ("query", "http://jabber.org/protocol/muc#owner", _):
            return own(payload, iq.kind, room, sender)
        default:
            return nil
        }
    }

    private func information(_ to: JID, _ namespace: String) -> Result<Element?, StanzaError> {
        guard to == domain || halls[to] != nil else { return .failure(StanzaError(.itemNotFound, kind: .cancel)) }
        var query = Element("query", namespace: namespace)
        query.append(
            Element(
                "identity", namespace: namespace,
                attributes: ["category": "conference", "type": "text", "name": to.localpart ?? "Rooms"]))
        for feature in ["http://jabber.org/protocol/muc", "urn:xmpp:sid:0", "urn:xmpp:occupant-id:0"] {
            query.append(Element("feature", namespace: namespace, attributes: ["var": feature]))
        }
        return .success(query)
    }

    private func administer(
        _ query: Element, _ kind: IQ.Kind, _ room: JID, _ sender: any LoopbackEndpoint
    ) -> Result<Element?, StanzaError> {
        guard var hall = halls[room], let item = query.children.first else { return .failure(.badRequest) }
        guard ["owner", "admin"].contains(hall.affiliations[sender.jid.bare] ?? "") else {
            return .failure(StanzaError(.forbidden, kind: .auth))
        }
        let reason = item.children.first?.text
        if kind == .get {
            let wanted = item["affiliation"] ?? "none"
            return .success(
                Element(
                    "query", namespace: query.namespace,
                    children: hall.affiliations.filter { $0.value == wanted }.keys.sorted().map {
                        Element(
                            "item", namespace: query.namespace,
                            attributes: ["jid": $0.description, "affiliation": wanted])
                    }))
        }
        if let nickname = item["nick"], let role = item["role"] {
            guard let place = hall.guests.firstIndex(where: { $0.nickname == nickname }) else {
                return .failure(StanzaError(.itemNotFound, kind: .cancel))
            }
            if role == "none" {
                leave(room, hall.guests[place].endpoint, codes: [307], reason: reason)
            } else {
                hall.guests[place].role = role
                halls[room] = hall
                for other in hall.guests { deliver(hall.guests[place], of: hall, in: room, to: other.endpoint) }
            }
            return .success(nil)
        }
        guard let jid = item["jid"].flatMap({ try? JID($0) }), let affiliation = item["affiliation"] else {
            return .failure(.badRequest)
        }
        hall.affiliations[jid.bare] = affiliation == "none" ? nil : affiliation
        halls[room] = hall
        for guest in hall.guests where guest.endpoint.jid.bare == jid.bare {
            if affiliation == "outcast" {
                leave(room, guest.endpoint, codes: [301], reason: reason)
            } else {
                for other in hall.guests { deliver(guest, of: hall, in: room, to: other.endpoint) }
            }
        }
        return .success(nil)
    }

    private func own(
        _ query: Element, _ kind: IQ.Kind, _ room: JID, _ sender: any LoopbackEndpoint
    ) -> Result<Element?, StanzaError> {
        guard var hall = halls[room], hall.affiliations[sender.jid.bare] == "owner" else {
            return .failure(StanzaError(.forbidden, kind: .auth))
        }
        if kind == .get {
            let form = DataForm(
                .form, title: "Settings of \(room)",
                fields: [
                    .init("FORM_TYPE", .hidden, values: ["http://jabber.org/protocol/muc#roomconfig"]),
                    .init("muc#roomconfig_roomsecret", .textPrivate, label: "Password", values: [hall.password ?? ""]),
                    .init(
                        "muc#roomconfig_membersonly", .boolean, label: "Members only",
                        values: [hall.isMembersOnly ? "1" : "0"]),
                ])
            return .success(Element("query", namespace: query.namespace, children: [form.element]))
        }
        if let destroy = query.firstChild("destroy", namespace: query.namespace) {
            var told = Element("destroy", namespace: Self.user, attributes: ["jid": destroy["jid"]])
            if let reason = destroy.children.first?.text {
                told.append(Element("reason", namespace: Self.user, text: reason))
            }
            for guest in hall.guests { leave(room, guest.endpoint, codes: [], destroyed: told) }
            halls[room] = nil
            return .success(nil)
        }
        if let form = query.children.lazy.compactMap(DataForm.init).first {
            if let secret = form.value("muc#roomconfig_roomsecret") { hall.password = secret.isEmpty ? nil : secret }
            if let closed = form.flag("muc#roomconfig_membersonly") { hall.isMembersOnly = closed }
            halls[room] = hall
        }
        return .success(nil)
    }
}
