// SPDX-License-Identifier: Apache-2.0

import JabberControl
import Testing
import XMPP
import XMPPTestSupport

@testable import JabberDaemon

@Suite("Messages to rooms, and a daemon that stays", .timeLimit(.minutes(3)))
struct RoomOutboxTests {
    private static let coven: JSONValue = "coven@rooms.example.org"

    /// What a room can tell of its past.
    private enum Memory: String, CaseIterable {
        case archive
        case history
        case none
    }

    /// Runs a test with nurse in the room, its owner; no session is resumed.
    private static func run(
        _ change: (inout LoopbackOptions) -> Void = { _ in },
        _ body: @Sendable (LastingHarness, Room, XMPPStream) async throws -> Void
    ) async throws {
        var options = LoopbackOptions()
        options.resumption = .refused
        options.offersArchive = true
        change(&options)
        try await LastingHarness.run(options: options) { daemon in
            let nurse = XMPPStream(try await daemon.server.configuration(for: "nurse", resource: "kitchen"))
            try await nurse.connect()
            try await nurse.goOnline()
            let room = try await nurse.join(JID("coven@rooms.example.org"))
            try await daemon.call("connect")
            try await body(daemon, room, nurse)
            await nurse.disconnect()
        }
    }

    private static func params(_ id: String, until level: String = "server", timeout: Double = 20) -> JSONObject {
        [
            "to": [coven], "text": .string(id), "id": .string(id), "room": true, "until": .string(level),
            "timeout": .number(timeout),
        ]
    }

    private static func row(_ result: JSONObject) throws -> JSONObject {
        try #require(result.objects("results").first)
    }

    /// Waits until the daemon is connected again.
    private static func comeBack(_ daemon: LastingHarness) async throws {
        try await Patience.wait(for: "the daemon to be back") {
            await daemon.changeNetwork()
            return try await daemon.status("juliet").string("connection") == "connected"
        }
    }

    /// How often a message was written.
    private static func writes(_ id: String, _ daemon: LastingHarness) async -> Int {
        await daemon.server.received(from: "juliet").count { $0["id"] == id && $0["type"] == "groupchat" }
    }

    @Test(
        "What is said while there is no connection waits on the disk, and is said once when the daemon is in the room again",
        arguments: [DaemonEnd.restart, .stop])
    func waits(_ end: DaemonEnd) async throws {
        try await Self.run { daemon, room, _ in
            try await daemon.call("room.join", ["room": Self.coven, "nick": "jules"])
            var lines = room.messages.makeAsyncIterator()
            await daemon.server.changeOptions { $0.authenticationFailure = .temporaryAuthFailure }
            await daemon.server.cutConnections(of: "juliet")
            try await Patience.wait(for: "the loss") {
                try await daemon.status("juliet").string("connection") == "waiting"
            }
            for id in ["a", "b"] {
                let row = try Self.row(try await daemon.call("send", Self.params(id, until: "none")))
                #expect(row.string("state") == "queued")
            }
            try await daemon.anew(end)
            await daemon.server.changeOptions { $0.authenticationFailure = nil }
            try await Self.comeBack(daemon)
            for id in ["a", "b"] {
                let row = try Self.row(try await daemon.call("send", Self.params(id)))
                #expect(row.string("state") == "server" && row["stanzaId"]?["by"] == Self.coven)
                let heard = try await lines.next()
                #expect(heard?.message.body == id && heard?.nickname == "jules" && heard?.message.originID == id)
                #expect(await Self.writes(id, daemon) == 1)
            }
            #expect(room.occupants.map(\.nickname) == ["jules", "nurse"])
        }
    }

    @Test(
        "A room that was left is not entered after a restart, one that was not is",
        arguments: [DaemonEnd.restart, .stop])
    func staying(_ end: DaemonEnd) async throws {
        try await Self.run { daemon, room, nurse in
            let heath = try await nurse.join(JID("heath@rooms.example.org"))
            for name in ["coven", "heath"] {
                try await daemon.call("room.join", ["room": .string("\(name)@rooms.example.org"), "nick": "jules"])
            }
            try await daemon.call("room.nick", ["room": Self.coven, "nickname": "julie"])
            try await daemon.call("room.leave", ["room": "heath@rooms.example.org"])
            try await daemon.anew(end)
            try await Self.comeBack(daemon)
            try await Patience.wait(for: "juliet in the room") {
                try await nurse.ping()
                return room.occupants.map(\.nickname) == ["julie", "nurse"]
            }
            #expect(heath.occupants.map(\.nickname) == ["nurse"])
        }
    }

    @Test(
        "What was on its way in a lost session is said again only where the room shows that it lacks it, and in order",
        arguments: Memory.allCases, [true, false])
    private func doubt(_ memory: Memory, _ isLost: Bool) async throws {
        for acknowledges in [true, false] {
            try await Self.run { options in
                options.offersArchive = memory == .archive
                options.tellsRoomHistory = memory == .history
            } _: { daemon, room, _ in
                try await daemon.call("room.join", ["room": Self.coven, "nick": "jules"])
                #expect(try Self.row(try await daemon.call("send", Self.params("before"))).string("state") == "server")
                await daemon.server.changeOptions { options in
                    options.answersAcknowledgementRequests = acknowledges
                    options.losesRoomMessages = isLost
                    options.reflectsRoomMessages = false
                }
                var row = try Self.row(try await daemon.call("send", Self.params("doubtful", until: "none")))
                _ = try await daemon.server.firstElement(from: "juliet") { $0["id"] == "doubtful" }
                await daemon.server.changeOptions { options in
                    options.answersAcknowledgementRequests = true
                    options.losesRoomMessages = false
                    options.reflectsRoomMessages = true
                }
                var lines = room.messages.makeAsyncIterator()
                await daemon.server.cutConnections(of: "juliet")
                _ = try await daemon.call("send", Self.params("after", until: "none"))
                try await Self.comeBack(daemon)
                row = try Self.row(try await daemon.call("send", Self.params("after")))
                #expect(row.string("state") == "server")
                let isSaidAgain = memory != .none && isLost
                #expect(await Self.writes("doubtful", daemon) == (isSaidAgain ? 2 : 1))
                #expect(await Self.writes("after", daemon) == 1)
                for id in isSaidAgain ? ["doubtful", "after"] : ["after"] {
                    #expect(try await lines.next()?.message.body == id)
                }
                row = try Self.row(
                    try await daemon.call("send", Self.params("doubtful", timeout: memory == .none ? 5 : 20)))
                #expect(row.string("state") == (memory == .none ? "sent" : "server"))
                if memory == .none {
                    #expect(row["error"]?["exit"] == 5)
                    #expect(row["error"]?["message"]?.stringValue?.hasPrefix("nobody can say whether") == true)
                }
            }
        }
    }

    @Test(
        "What the room has not sent back is asked about after a restart, and not said twice (XEP-0045 §7.4)",
        arguments: [DaemonEnd.restart, .stop], [true, false])
    func restart(_ end: DaemonEnd, _ isLost: Bool) async throws {
        try await Self.run { daemon, room, _ in
            try await daemon.call("room.join", ["room": Self.coven, "nick": "jules"])
            await daemon.server.changeOptions { options in
                options.losesRoomMessages = isLost
                options.reflectsRoomMessages = false
            }
            let early = try Self.row(try await daemon.call("send", Self.params("m", timeout: 5)))
            #expect(
                early.string("state") == "sent" && early["error"]?["exit"] == 5, "the server has it, the room may not")
            await daemon.server.changeOptions { options in
                options.losesRoomMessages = false
                options.reflectsRoomMessages = true
            }
            try await daemon.anew(end)
            try await Self.comeBack(daemon)
            #expect(try Self.row(try await daemon.call("send", Self.params("m"))).string("state") == "server")
            #expect(await Self.writes("m", daemon) == (isLost ? 2 : 1))
        }
    }

    @Test("Who is not in the room comes in for what waits, also after a restart, and leaves when it was said")
    func visit() async throws {
        try await Self.run { daemon, room, nurse in
            var events = room.events.makeAsyncIterator()
            var first = Self.params("now")
            first["nick"] = "jules"
            #expect(try Self.row(try await daemon.call("send", first)).string("state") == "server")
            await daemon.server.changeOptions { $0.authenticationFailure = .temporaryAuthFailure }
            await daemon.server.cutConnections(of: "juliet")
            try await Patience.wait(for: "the loss") {
                try await daemon.status("juliet").string("connection") == "waiting"
            }
            var later = Self.params("later", until: "none")
            later["nick"] = "julie"
            #expect(try Self.row(try await daemon.call("send", later)).string("state") == "queued")
            try await daemon.anew(.stop)
            await daemon.server.changeOptions { $0.authenticationFailure = nil }
            try await Self.comeBack(daemon)
            var seen: [String] = []
            while seen.count < 6, let event = try await events.next() {
                switch event {
                case .occupantJoined(let who): seen.append("\(who.nickname) came")
                case .occupantLeft(let who, _): seen.append("\(who.nickname) went")
                case .message(let line): seen.append(line.message.body ?? "")
                default: break
                }
            }
            #expect(seen == ["jules came", "now", "jules went", "julie came", "later", "julie went"])
        }
    }

    @Test("A room that lets nobody in refuses what is to be said, and nothing is kept; who is shown out is told why")
    func refusals() async throws {
        try await Self.run { daemon, room, nurse in
            let juliet = try JID("juliet@example.org")
            try await nurse.setAffiliation(.outcast, of: juliet, in: room.jid)
            let refused = try Self.row(try await daemon.call("send", Self.params("m")))
            #expect(refused.string("state") == "failed" && refused["error"]?["exit"] == 2)
            try await nurse.setAffiliation(.none, of: juliet, in: room.jid)
            #expect(try Self.row(try await daemon.call("send", Self.params("m"))).string("state") == "server")
            try await daemon.call("room.join", ["room": Self.coven, "nick": "jules"])
            await daemon.server.changeOptions { $0.reflectsRoomMessages = false }
            async let sending = daemon.call("send", Self.params("n"))
            _ = try await daemon.server.firstElement(from: "juliet") { $0["id"] == "n" }
            try await room.kick("jules", reason: "Avaunt")
            let row = try Self.row(try await sending)
            #expect(row.string("state") == "failed" && row["error"]?["exit"] == 2)
            #expect(row["error"]?["message"]?.stringValue?.hasSuffix("has shown you out: Avaunt") == true)
        }
    }

    @Test("A room does not tell whose device has a message; who has seen it marks it (XEP-0184 §5.3, XEP-0333 §4.2)")
    func levels() async throws {
        try await Self.run { daemon, room, nurse in
            try await daemon.call("room.join", ["room": Self.coven, "nick": "jules"])
            let refused = try Self.row(try await daemon.call("send", Self.params("m", until: "device")))
            #expect(refused.string("state") == "failed" && refused["error"]?["exit"] == 64)
            #expect(await Self.writes("m", daemon) == 0)
            var lines = room.messages.makeAsyncIterator()
            async let sending = daemon.call("send", Self.params("n", until: "read"))
            let heard = try #require(try await lines.next())
            #expect(heard.message.isMarkable)
            try await nurse.sendDisplayed(heard.message)
            #expect(try Self.row(try await sending).string("state") == "read")
        }
    }
}
