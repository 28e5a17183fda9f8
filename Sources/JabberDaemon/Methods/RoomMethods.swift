// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import XMPP

/// `room …`: rooms for many (XEP-0045).
enum RoomMethods {
    static func join(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        let jid = try roomAddress(call)
        let nickname = try call.parameters.string("nick")
        let password = try call.parameters.string("password")
        let count = try call.parameters.whole("history", in: 0...10_000) ?? 0
        let session = try await call.session
        let stream = try await session.withPresence(priority: -1, isLasting: true).stream
        await session.willStay(in: jid)
        let room = try await session.step { () throws(XMPPError) in
            try await stream.join(
                jid, as: nickname, password: password, history: RoomHistory(maximumMessages: count))
        }
        try await session.stays(in: room, password: password)
        return document(room, session)
    }

    static func leave(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        let jid = try roomAddress(call)
        let status = try call.parameters.string("status")
        let session = try await call.session
        let stream = try await session.established()
        guard let room = await stream.joinedRooms.first(where: { $0.jid == jid }) else {
            throw ControlError(.notFound, "you are not in \(jid)", account: session.name)
        }
        try await session.forgets(jid)
        try await session.step { () throws(XMPPError) in try await room.leave(status) }
        var result = session.heading
        result["room"] = .string(jid.description)
        return result
    }

    static func list(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        let service = try call.parameters.jid("service")
        let session = try await call.session
        let stream = try await session.established()
        var result = session.heading
        if let service {
            let items = try await session.step { () throws(XMPPError) in try await stream.discoverItems(of: service) }
            result["rooms"] = .array(
                items.map { item in
                    .object(
                        JSONObject(present: [
                            "room": .string(item.jid.description), "name": item.name.map(JSONValue.string),
                        ]))
                })
        } else {
            let rooms = await stream.joinedRooms.sorted { $0.jid < $1.jid }
            result["rooms"] = .array(
                rooms.map { room in
                    .object(
                        JSONObject(present: [
                            "room": .string(room.jid.description), "nick": .string(room.nickname),
                            "subject": room.subject.map(JSONValue.string),
                            "occupants": .integer(Int64(room.occupants.count)),
                        ]))
                })
        }
        return result
    }

    static func who(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        try await inside(call) { (room, session) throws(ControlError) in
            var result = session.heading
            result["room"] = .string(room.jid.description)
            result["occupants"] = .array(
                room.occupants.map { .object(occupant($0, isSelf: $0.nickname == room.nickname)) })
            return result
        }
    }

    static func topic(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        let text = try call.parameters.string("text")
        return try await inside(call) { (room, session) throws(ControlError) in
            if let text {
                try await session.step { () throws(XMPPError) in try await room.setSubject(text) }
                let wanted = text.isEmpty ? nil : text
                let isSet = await session.feed.wait(atMost: RoomDelivery.reflectionWindow) { room.subject == wanted }
                guard isSet else {
                    throw ControlError(.refused, "\(room.jid) did not take the subject", account: session.name)
                }
            } else {
                // The subject is the last that a room tells who comes in.
                _ = await session.feed.wait(atMost: SubscriptionMethods.pushWindow) { room.subject != nil }
            }
            var result = session.heading
            result["room"] = .string(room.jid.description)
            if let subject = room.subject { result["subject"] = .string(subject) }
            return result
        }
    }

    static func invite(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        let jid = try call.parameters.requiredJID("jid")
        let reason = try call.parameters.string("reason")
        return try await inside(call) { (room, session) throws(ControlError) in
            try await session.step { () throws(XMPPError) in
                try await room.invite(jid, reason: reason)
                _ = try await room.isPresenceKnown()
            }
            return changed(room.jid, session, ["jid": .string(jid.description)])
        }
    }

    static func nick(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        let nickname = try call.parameters.required("nickname")
        return try await inside(call) { (room, session) throws(ControlError) in
            try await session.step { () throws(XMPPError) in try await room.changeNickname(to: nickname) }
            let isHad = await session.feed.wait(atMost: RoomDelivery.reflectionWindow) { room.nickname == nickname }
            guard isHad else {
                throw ControlError(.refused, "\(room.jid) did not give you that nickname", account: session.name)
            }
            try await session.isCalled(room.nickname, in: room.jid)
            return changed(room.jid, session, ["nick": .string(room.nickname)])
        }
    }

    static func kick(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        let nickname = try call.parameters.required("nickname")
        let reason = try call.parameters.string("reason")
        return try await inside(call) { (room, session) throws(ControlError) in
            try await session.step { () throws(XMPPError) in try await room.kick(nickname, reason: reason) }
            return changed(room.jid, session, ["nick": .string(nickname), "role": "none"])
        }
    }

    static func role(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        let nickname = try call.parameters.required("nickname")
        let word = try call.parameters.choice("role", of: RoomRole.allCases.map(\.rawValue))
        guard let role = word.flatMap(RoomRole.init) else { throw call.parameters.wrong("role", "is missing") }
        let reason = try call.parameters.string("reason")
        return try await inside(call) { (room, session) throws(ControlError) in
            try await session.step { () throws(XMPPError) in
                try await room.setRole(role, of: nickname, reason: reason)
            }
            return changed(room.jid, session, ["nick": .string(nickname), "role": .string(role.rawValue)])
        }
    }

    static func ban(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        try await affiliate(call, try call.parameters.requiredJID("jid"), .outcast)
    }

    static func affiliation(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        let jid = try call.parameters.jid("jid")
        let word = try call.parameters.choice("affiliation", of: RoomAffiliation.allCases.map(\.rawValue))
        guard let affiliation = word.flatMap(RoomAffiliation.init) else {
            throw call.parameters.wrong("affiliation", "is missing")
        }
        if let jid { return try await affiliate(call, jid, affiliation) }
        let room = try roomAddress(call)
        let session = try await call.session
        let stream = try await session.established()
        let members = try await session.step { () throws(XMPPError) in
            try await stream.members(of: room, with: affiliation)
        }
        var result = session.heading
        result["room"] = .string(room.description)
        result["members"] = .array(
            members.map { member in
                .object(
                    JSONObject(present: [
                        "jid": .string(member.jid.description), "affiliation": .string(member.affiliation.rawValue),
                        "reason": member.reason.map(JSONValue.string),
                    ]))
            })
        return result
    }

    private static func affiliate(
        _ call: MethodCall, _ jid: JID, _ affiliation: RoomAffiliation
    ) async throws(ControlError) -> JSONObject {
        let room = try roomAddress(call)
        let reason = try call.parameters.string("reason")
        let session = try await call.session
        let stream = try await session.established()
        try await session.step { () throws(XMPPError) in
            try await stream.setAffiliation(affiliation, of: jid, in: room, reason: reason)
        }
        var result = changed(room, session, ["jid": .string(jid.bare.description)])
        result["affiliation"] = .string(affiliation.rawValue)
        return result
    }

    static func config(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        let jid = try roomAddress(call)
        let answers = try FormDocument.answers("set", in: call.parameters)
        let session = try await call.session
        let stream = try await session.established()
        var form = try await session.step { () throws(XMPPError) in try await stream.roomConfiguration(of: jid) }
        if !answers.isEmpty {
            let filled: DataForm
            do {
                filled = try form.filled(answers)
            } catch {
                throw ControlError(.badData, "\(error)", account: session.name)
            }
            form = try await session.step { () throws(XMPPError) in
                try await stream.configure(filled, of: jid)
                return try await stream.roomConfiguration(of: jid)
            }
        }
        var result = session.heading
        result["room"] = .string(jid.description)
        result["form"] = .object(FormDocument.form(form))
        return result
    }

    static func info(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        let jid = try roomAddress(call)
        let session = try await call.session
        let stream = try await session.established()
        let information = try await session.step { () throws(XMPPError) in
            try await stream.discoverInformation(of: jid)
        }
        var result = session.heading
        result["room"] = .string(jid.description)
        if let name = information.identities.first?.name { result["name"] = .string(name) }
        result["features"] = .strings(information.features.sorted())
        if let form = information.form(MultiUserChat.namespace + "#roominfo") {
            result["form"] = .object(FormDocument.form(form))
        }
        return result
    }

    // MARK: Helpers

    /// The room's address; anything else is refused before anybody logs in.
    static func roomAddress(_ call: MethodCall) throws(ControlError) -> JID {
        let jid = try call.parameters.requiredJID("room")
        guard jid.localpart != nil, jid.isBare else {
            throw ControlError(.badJID, "\"\(jid)\" is not the address of a room: that is room@service")
        }
        return jid
    }

    /// Does something in a room: where the account is not in it, it comes in for that and leaves again.
    private static func inside(
        _ call: MethodCall, _ work: (Room, AccountSession) async throws(ControlError) -> JSONObject
    ) async throws(ControlError) -> JSONObject {
        let jid = try roomAddress(call)
        let nickname = try call.parameters.string("nick")
        let session = try await call.session
        return try await RoomVisit.during(jid, as: nickname, session) { (room) throws(ControlError) in
            try await work(room, session)
        }
    }

    private static func changed(_ room: JID, _ session: AccountSession, _ more: JSONObject) -> JSONObject {
        var result = session.heading
        result["room"] = .string(room.description)
        result.merge(more)
        return result
    }

    private static func document(_ room: Room, _ session: AccountSession) -> JSONObject {
        var result = session.heading
        result["room"] = .string(room.jid.description)
        result["nick"] = .string(room.nickname)
        if let me = room.me {
            result["role"] = .string(me.role.rawValue)
            result["affiliation"] = .string(me.affiliation.rawValue)
        }
        if let subject = room.subject { result["subject"] = .string(subject) }
        result["occupants"] = .integer(Int64(room.occupants.count))
        return result
    }

    static func occupant(_ occupant: Occupant, isSelf: Bool) -> JSONObject {
        JSONObject(present: [
            "nick": .string(occupant.nickname), "role": .string(occupant.role.rawValue),
            "affiliation": .string(occupant.affiliation.rawValue),
            "jid": occupant.realJID.map { .string($0.description) },
            "show": .string(ContactDocument.show(of: occupant.presence)),
            "status": occupant.presence.status.map(JSONValue.string), "self": isSelf ? true : nil,
        ])
    }
}
