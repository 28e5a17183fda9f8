// SPDX-License-Identifier: Apache-2.0

import Foundation
import JabberControl
import SocketIO
import Testing
import XMPP
import XMPPTestSupport

@testable import JabberDaemon

/// A server that keeps interrupted sessions.
private var keepingServer: LoopbackOptions {
    var options = LoopbackOptions()
    options.resumption = .kept(for: .seconds(300))
    return options
}

@Suite("What a daemon that stays keeps", .timeLimit(.minutes(5)))
struct DaemonKeepingTests {
    private static let romeo = LoopbackBuddy("romeo", name: "Romeo", behaviors: [])

    /// Sends texts to juliet.
    private func say(_ texts: [String], _ daemon: LastingHarness) async throws {
        for text in texts {
            try await daemon.server.send(
                Message(to: try JID("juliet@example.org"), body: text, id: "in-\(text)"), as: "romeo")
        }
    }

    /// The texts of the messages behind a cursor, when there are so many.
    private func texts(_ daemon: LastingHarness, since cursor: String, _ count: Int) async throws -> [String?] {
        let client = try await daemon.client()
        let events = Events()
        _ = try await client.call(
            "listen",
            [
                "kind": ["message"], "since": .string(cursor), "count": .integer(Int64(count)),
                "session": ["account": "juliet"],
            ], onEvent: events.sink)
        await client.close()
        return await events.first(count).map { $0.string("body") }
    }

    /// The cursor of the first event that there is.
    private func beginning(_ daemon: LastingHarness) async throws -> String {
        try await daemon.call("connect")
        let client = try await daemon.client()
        let events = Events()
        _ = try await client.call(
            "listen", ["kind": ["account"], "since": "1", "count": 1, "session": ["account": "juliet"]],
            onEvent: events.sink)
        await client.close()
        return try #require(await events.first(2).last?.string("cursor"))
    }

    @Test(
        "What comes while there is no daemon arrives once and in order, whether or not its session was left to the next one",
        arguments: [DaemonEnd.restart, .stop])
    func meanwhile(_ end: DaemonEnd) async throws {
        try await LastingHarness.run(options: keepingServer, buddies: [Self.romeo]) { daemon in
            let cursor = try await beginning(daemon)
            let session = try await daemon.status("juliet").string("session")
            try await say(["1", "2"], daemon)
            _ = try await texts(daemon, since: cursor, 2)
            try await daemon.anew(end) { try await say(["3", "4"], daemon) }
            try await daemon.call("connect")
            try await say(["5"], daemon)
            #expect(try await texts(daemon, since: cursor, 5) == ["1", "2", "3", "4", "5"])
            let next = try await daemon.status("juliet").string("session")
            #expect((next == session) == (end == .restart))
        }
    }

    @Test(
        "A message that would be 18 MB in the store arrives with its text, and keeps nothing back that comes behind it")
    func amplified() async throws {
        try await LastingHarness.run(options: keepingServer, buddies: [Self.romeo]) { daemon in
            let cursor = try await beginning(daemon)
            let namespace = "urn:" + String(repeating: "A", count: 3_000)
            let names = String(repeating: "<p:a/><b/>", count: 6_000)
            await daemon.server.inject(
                "<message from='romeo@example.org/orchard' type='chat' id='in-1'><body>1</body>"
                    + "<x xmlns:p='\(namespace)'>\(names)</x></message>", into: "juliet")
            try await say(["2"], daemon)
            #expect(try await texts(daemon, since: cursor, 2) == ["1", "2"])
            let history = try await daemon.call("history", ["jid": "romeo@example.org"])
            #expect(history.objects("messages").map { $0.string("body") } == ["1", "2"])
        }
    }

    @Test("A message that is sent without a connection waits, is said to, and arrives once when there is one")
    func waits() async throws {
        try await LastingHarness.run(options: keepingServer, buddies: [Self.romeo]) { daemon in
            try await daemon.call("connect")
            await daemon.server.changeOptions { $0.authenticationFailure = .temporaryAuthFailure }
            await daemon.server.endStreams(of: "juliet", with: StreamError(.systemShutdown))
            while try await daemon.status("juliet").string("connection") != "waiting" {}
            let sent = try await daemon.call(
                "send", ["to": ["romeo@example.org"], "text": "later", "id": "later", "until": "none"])
            #expect(sent.objects("results").map { $0.string("state") } == ["queued"])
            let late = try await daemon.call(
                "send", ["to": ["romeo@example.org"], "text": "later", "id": "later", "timeout": 5])
            #expect(late.objects("results").first?.string("state") == "queued")
            #expect(late.objects("results").first?["error"]?["exit"] == 5)
            await daemon.server.changeOptions { $0.authenticationFailure = nil }
            try await daemon.call("connect")
            let again = try await daemon.call("send", ["to": ["romeo@example.org"], "text": "later", "id": "later"])
            #expect(again.objects("results").first?.string("state") == "server")
            #expect(try await daemon.server.stanzas(for: "romeo").filter { $0["id"] == "later" }.count == 1)
        }
    }

    @Test(
        "What is said in a room while its connection is lost is taken from the archive of the room, in order and once (XEP-0313 §6.2)",
        arguments: [true, false])
    func roomMeanwhile(_ tellsHistory: Bool) async throws {
        var options = keepingServer
        options.resumption = .refused
        options.offersArchive = true
        options.tellsRoomHistory = tellsHistory
        try await LastingHarness.run(options: options, buddies: [Self.romeo]) { daemon in
            let nurse = XMPPStream(try await daemon.server.configuration(for: "nurse", resource: "kitchen"))
            try await nurse.connect()
            try await nurse.send(Presence())
            let room = try await nurse.join(JID("coven@rooms.example.org"))
            try await daemon.call("connect")
            try await daemon.call("room.join", ["room": "coven@rooms.example.org"])
            let cursor = try await beginning(daemon)
            try await room.send("1")
            #expect(try await texts(daemon, since: cursor, 1) == ["1"])
            // Nobody comes back until the room has gone on.
            await daemon.server.changeOptions { $0.authenticationFailure = .temporaryAuthFailure }
            await daemon.server.cutConnections(of: "juliet")
            for number in 2...30 { try await room.send("\(number)") }
            try await nurse.ping()
            await daemon.server.changeOptions { $0.authenticationFailure = nil }
            try await Patience.wait(for: "the daemon to be back") {
                await daemon.changeNetwork()
                return try await daemon.status("juliet").string("connection") == "connected"
            }
            try await room.send("31")
            let heard = try await texts(daemon, since: cursor, 31)
            #expect(heard == (1...31).map { "\($0)" })
            await nurse.disconnect()
        }
    }

    @Test(
        "A receipt for what an earlier daemon has sent is taken (XEP-0184 §8)", arguments: [DaemonEnd.restart, .stop])
    func lateReceipt(_ end: DaemonEnd) async throws {
        try await LastingHarness.run(options: keepingServer, buddies: [Self.romeo]) { daemon in
            try await daemon.call("connect")
            let params: JSONObject = ["to": ["romeo@example.org"], "text": "x", "id": "m", "until": "server"]
            #expect(try await daemon.call("send", params).objects("results").first?.string("state") == "server")
            try await daemon.anew(end)
            try await daemon.call("connect")
            var receipt = Message(to: try JID("juliet@example.org"))
            receipt.append(Element("received", namespace: "urn:xmpp:receipts", attributes: ["id": "m"]))
            try await daemon.server.send(receipt, as: "romeo")
            var again = params
            again["until"] = "device"
            #expect(try await daemon.call("send", again).objects("results").first?.string("state") == "device")
        }
    }

    @Test("What its owner mends counts at once, where what is kept could not be opened: no restart is needed")
    func mended() async throws {
        try await LastingHarness.run(buddies: [Self.romeo]) { daemon in
            try await daemon.call("connect")
            let file = daemon.folder + "/.local/state/jabberctl/accounts/juliet.db"
            try await daemon.anew(.stop) {
                try FileManager.default.moveItem(atPath: file, toPath: file + ".away")
                try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: false)
            }
            let params: JSONObject = ["to": ["romeo@example.org"], "text": "x", "id": "mended"]
            let error = try await #require(throws: ControlError.self) { try await daemon.call("send", params) }
            #expect(error.code == .permissions && error.message.contains("not a plain file"))
            #expect(try await daemon.status("juliet").string("connection") == "failed")
            try FileManager.default.removeItem(atPath: file)
            try FileManager.default.moveItem(atPath: file + ".away", toPath: file)
            let sent = try await daemon.call("send", params)
            #expect(sent.objects("results").map { $0.string("state") } == ["server"])
        }
    }

    @Test("A message that was sent is known after a restart too: the same id is one message")
    func known() async throws {
        try await LastingHarness.run(buddies: [Self.romeo]) { daemon in
            try await daemon.call("connect")
            let params: JSONObject = ["to": ["romeo@example.org"], "text": "x", "id": "once"]
            let sent = try await daemon.call("send", params)
            try await daemon.anew(.stop)
            try await daemon.call("connect")
            #expect(try await daemon.call("send", params) == sent)
            #expect(try await daemon.server.stanzas(for: "romeo").filter { $0["id"] == "once" }.count == 1)
        }
    }

    @Test("A bounce is told with its condition, also to who asks later")
    func bounce() async throws {
        try await LastingHarness.run { daemon in
            try await daemon.call("connect")
            for _ in 0..<2 {
                let result = try await daemon.call(
                    "send", ["to": ["nobody@example.org"], "text": "x", "id": "back", "timeout": 20])
                let row = try #require(result.objects("results").first)
                #expect(row.string("state") == "failed" && row["error"]?["exit"] == 2)
                #expect(row["error"]?["stanza"]?["condition"] == "service-unavailable")
            }
        }
    }

    @Test("What is kept is the user's alone, and one process has it at a time")
    func place() async throws {
        try await LastingHarness.run { daemon in
            try await daemon.call("connect")
            let folder = daemon.folder + "/.local/state/jabberctl/accounts"
            for (path, mode) in [(folder, 0o700), (folder + "/juliet.db", 0o600)] {
                let attributes = try FileManager.default.attributesOfItem(atPath: path)
                #expect(attributes[.posixPermissions] as? Int == mode)
            }
            #expect(StateLock.take(folder + "/juliet.db.lock") == nil)
        }
    }

    @Test("Damaged data is set aside and said, and the daemon goes on")
    func damaged() async throws {
        let server = try await LoopbackServer.start(domain: "example.org", accounts: ["juliet": "secret"])
        let said = Locked<[String]>([])
        let harness = try await LastingHarness(server, accounts: ["juliet": "secret"]) { environment in
            environment.notice = { text in said.withLock { $0.append(text) } }
        }
        let path = harness.folder + "/.local/state/jabberctl/accounts/juliet.db"
        try await harness.call("connect")
        try await harness.anew(.stop) {
            try PrivateFile.write(Array(String(repeating: "no database ", count: 1_000).utf8), to: path)
        }
        try await harness.call("connect")
        let isSaid = said.withLock { texts in
            texts.contains { $0.hasPrefix("juliet: ") && $0.contains("set aside as \(path).damaged-") }
        }
        #expect(isSaid)
        await harness.end()
    }
}
