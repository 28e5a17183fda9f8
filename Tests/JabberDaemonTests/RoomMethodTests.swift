// SPDX-License-Identifier: Apache-2.0

import JabberControl
import Testing
import XMPP
import XMPPTestSupport

@testable import JabberDaemon

@Suite("room, and messages to rooms", .timeLimit(.minutes(3)))
struct RoomMethodTests {
    private static let coven: JSONValue = "coven@rooms.example.org"

    /// Runs a test with nurse in the room, its owner.
    private static func run(_ body: @Sendable (DaemonHarness, XMPPStream, Room) async throws -> Void) async throws {
        try await DaemonHarness.run(buddies: [LoopbackBuddy("romeo", behaviors: [])]) { daemon in
            let nurse = XMPPStream(try await daemon.server.configuration(for: "nurse", resource: "kitchen"))
            try await nurse.connect()
            try await nurse.goOnline()
            let room = try await nurse.join(JID("coven@rooms.example.org"))
            try await body(daemon, nurse, room)
            await nurse.disconnect()
        }
    }

    @Test("a message to a room comes in, is said, is done when the room sends it back, and leaves (BR-U01)")
    func send() async throws {
        try await Self.run { daemon, _, room in
            let lines = room.messages
            let result = try await daemon.call(
                "send", ["to": [Self.coven], "text": "hello room", "room": true, "nick": "jules"])
            let row = try #require(result.objects("results").first)
            #expect(row.string("state") == "server" && row["stanzaId"]?["by"] == Self.coven)
            var iterator = lines.makeAsyncIterator()
            let heard = try await iterator.next()
            #expect(heard?.nickname == "jules" && heard?.message.body == "hello room")
            let sent = await daemon.server.received(from: "juliet").filter { $0["to"]?.hasPrefix("coven@") == true }
            #expect(sent.map { $0["type"] } == [nil, "groupchat", "unavailable"])
            let join = try #require(sent.first?.firstChild("x", namespace: MultiUserChat.namespace))
            #expect(join.firstChild("history", namespace: MultiUserChat.namespace)?["maxstanzas"] == "0")
            #expect(room.occupants.map(\.nickname) == ["nurse"])
        }
    }

    @Test(
        "what is not a room's address is refused and nothing sent (BR-U06)",
        arguments: ["rooms.example.org", "coven@rooms.example.org/x"])
    func addresses(_ address: String) async throws {
        try await DaemonHarness.run { daemon in
            for (method, params) in [
                ("room.join", [:]), ("room.who", [:]), ("room.topic", [:]), ("room.config", [:]), ("room.info", [:]),
                ("room.kick", ["nickname": "x"]), ("room.ban", ["jid": "a@b"]),
            ] as [(String, JSONObject)] {
                var params = params
                params["room"] = .string(address)
                #expect(await daemon.failure(method, params)?.exit == .badData, "\(method)")
            }
            #expect(await daemon.failure("listen", ["room": .string(address)], timeout: nil)?.exit == .badData)
            #expect(await daemon.server.openConnections == 0)
            let sent = try await daemon.call("send", ["to": [.string(address)], "text": "x", "room": true])
            #expect(sent.objects("results").first?.string("state") == "failed")
        }
    }

    @Test("a room that refuses says why")
    func refused() async throws {
        try await Self.run { daemon, nurse, room in
            try await nurse.setAffiliation(.outcast, of: JID("juliet@example.org"), in: room.jid)
            let error = await daemon.failure("room.join", ["room": Self.coven])
            #expect(error?.exit == .refused && error?.stanza?.string("condition") == "forbidden")
            let sent = try await daemon.call("send", ["to": [Self.coven], "text": "x", "room": true])
            #expect(ControlError(json: sent.objects("results").first?["error"]?.objectValue ?? [:]).exit == .refused)
        }
    }

    @Test(
        "who is shown out before what was said came back is refused, and told why; the account is connected still",
        arguments: [("kick", "has shown you out: Avaunt"), ("ban", "has banned you: Avaunt")])
    func shownOut(_ verb: String, _ reason: String) async throws {
        try await Self.run { daemon, nurse, room in
            // The room is told not to send anything back: what comes instead is the end of the stay.
            await daemon.server.changeOptions { $0.reflectsRoomMessages = false }
            try await daemon.call("room.join", ["room": Self.coven, "nick": "jules"])
            async let sending = daemon.call("send", ["to": [Self.coven], "text": "hi", "room": true])
            _ = try await daemon.server.firstElement(from: "juliet") { $0["type"] == "groupchat" }
            if verb == "kick" {
                try await room.kick("jules", reason: "Avaunt")
            } else {
                try await nurse.setAffiliation(.outcast, of: JID("juliet@example.org"), in: room.jid, reason: "Avaunt")
            }
            let row = try #require(try await sending.objects("results").first)
            let error = ControlError(json: row["error"]?.objectValue ?? [:])
            #expect(row.string("state") == "failed" && error.exit == .refused, "\(error)")
            #expect(error.message == "coven@rooms.example.org \(reason)")
            try await daemon.call("ping")
        }
    }

    @Test("join, list, who, topic, nick and leave are of one stay")
    func staying() async throws {
        try await Self.run { daemon, _, room in
            let joined = try await daemon.call("room.join", ["room": Self.coven, "nick": "jules"])
            #expect(joined.string("nick") == "jules" && joined["occupants"] == 2)
            #expect(joined.string("role") == "participant" && joined.string("affiliation") == "none")
            let rooms = try await daemon.call("room.list").objects("rooms")
            #expect(rooms.map { $0.string("room") } == ["coven@rooms.example.org"])
            let offered = try await daemon.call("room.list", ["service": "rooms.example.org"]).objects("rooms")
            #expect(offered.map { $0.string("room") } == ["coven@rooms.example.org"])
            let who = try await daemon.call("room.who", ["room": Self.coven]).objects("occupants")
            #expect(who.map { $0.string("nick") } == ["jules", "nurse"] && who[0]["self"] == true)
            #expect(who[1].string("affiliation") == "owner" && who[1]["self"] == nil)
            #expect(
                try await daemon.call("room.topic", ["room": Self.coven, "text": "Hags"]).string("subject") == "Hags")
            #expect(try await daemon.call("room.topic", ["room": Self.coven]).string("subject") == "Hags")
            let nick = try await daemon.call("room.nick", ["room": Self.coven, "nickname": "julie"])
            #expect(nick.string("nick") == "julie")
            // A room that the account is in is known as one.
            let sent = try await daemon.call("send", ["to": [Self.coven, "romeo@example.org"], "text": "hi"])
            #expect(sent.objects("results").map { $0.string("state") } == ["server", "server"])
            try await daemon.call("room.leave", ["room": Self.coven])
            #expect(await daemon.failure("room.leave", ["room": Self.coven])?.exit == .notFound)
            #expect(room.occupants.count == 1)
        }
    }

    @Test("owners ask in, show out, ban, change roles and settings")
    func owning() async throws {
        try await DaemonHarness.run(buddies: [LoopbackBuddy("romeo", behaviors: [])]) { daemon in
            try await daemon.call("room.join", ["room": Self.coven])
            try await daemon.call("room.invite", ["room": Self.coven, "jid": "romeo@example.org", "reason": "Come"])
            #expect(try await daemon.server.stanzas(for: "romeo").contains { $0["from"] == "coven@rooms.example.org" })
            let nurse = XMPPStream(try await daemon.server.configuration(for: "nurse", resource: "kitchen"))
            try await nurse.connect()
            let room = try await nurse.join(JID("coven@rooms.example.org"))
            try await daemon.call("room.role", ["room": Self.coven, "nickname": "nurse", "role": "visitor"])
            try await daemon.call("room.kick", ["room": Self.coven, "nickname": "nurse", "reason": "Avaunt"])
            _ = try? await nurse.ping()
            #expect(!room.isJoined)
            try await daemon.call("room.ban", ["room": Self.coven, "jid": "nurse@example.org"])
            let banned = try await daemon.call("room.affiliation", ["room": Self.coven, "affiliation": "outcast"])
            #expect(banned["members"]?.arrayValue?.first?["jid"] == "nurse@example.org")
            let given = try await daemon.call(
                "room.affiliation", ["room": Self.coven, "affiliation": "none", "jid": "nurse@example.org"])
            #expect(given.string("affiliation") == "none")
            let config = try await daemon.call(
                "room.config", ["room": Self.coven, "set": ["muc#roomconfig_membersonly=1"]])
            let fields = config["form"]?["fields"]?.arrayValue ?? []
            #expect(fields.contains { $0["name"] == "muc#roomconfig_membersonly" && $0["values"] == ["1"] })
            #expect(fields.allSatisfy { $0["name"] != "muc#roomconfig_roomsecret" || $0["values"] == nil })
            #expect(await daemon.failure("room.config", ["room": Self.coven, "set": ["nonsense=1"]])?.exit == .badData)
            #expect(try await daemon.call("room.info", ["room": Self.coven]).string("name") == "coven")
            await nurse.disconnect()
        }
    }

    @Test("listening in a room shows what happens there, one's own words as going out, and leaves afterwards")
    func listening() async throws {
        try await Self.run { daemon, _, room in
            let events = Events()
            async let listening = daemon.call(
                "listen", ["room": Self.coven, "kind": ["message", "room"], "count": 3], timeout: nil,
                onEvent: events.sink)
            var arrivals = room.events.makeAsyncIterator()
            while let event = try await arrivals.next() { if case .occupantJoined = event { break } }
            try await room.send("one")
            try await room.setSubject("Hags")
            _ = try await listening
            let all = await events.first(3)
            let promised = Set(MethodTable.command(["listen"])?.event.map(\.name) ?? [])
            for event in all { #expect(event.keys.allSatisfy(promised.contains), "\(event.keys)") }
            let message = try #require(all.first { $0.string("type") == "message" })
            #expect(message.string("room") == "coven@rooms.example.org" && message.string("nick") == "nurse")
            #expect(message.string("direction") == "in" && message.string("kind") == "groupchat")
            while let event = try await arrivals.next() { if case .occupantLeft = event { break } }
        }
    }
}
