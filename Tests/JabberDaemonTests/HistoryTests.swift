// SPDX-License-Identifier: Apache-2.0

import Foundation
import JabberControl
import Testing
import XMPP
import XMPPTestSupport

@testable import JabberDaemon

@Suite("What was said, and who has dealt with it", .timeLimit(.minutes(5)))
struct HistoryTests {
    private static let romeo = LoopbackBuddy("romeo", name: "Romeo", behaviors: [])

    /// Sends texts to juliet.
    private func say(_ texts: [String], _ daemon: LastingHarness, isMarkable: Bool = false) async throws {
        for text in texts {
            var message = Message(to: try JID("juliet@example.org"), body: text, id: "in-\(text)")
            message.isMarkable = isMarkable
            try await daemon.server.send(message, as: "romeo")
        }
    }

    /// The events of a call of `listen`, when there are so many; a gap before them is none.
    private func heard(
        _ daemon: LastingHarness, _ params: JSONObject, _ count: Int, afterGap: Bool = false
    ) async throws -> [JSONObject] {
        var params = params
        params["session"] = ["account": "juliet"]
        params["count"] = .integer(Int64(count))
        let client = try await daemon.client()
        let events = Events()
        _ = try await client.call("listen", params, onEvent: events.sink)
        await client.close()
        guard afterGap else { return await events.first(count) }
        return Array(await events.first(count + 1).dropFirst())
    }

    private func bodies(_ events: [JSONObject]) -> [String?] { events.map { $0.string("body") } }

    @Test("A named consumer goes on where it has stopped, over restarts; one that acknowledges by hand, where it says")
    func consumers() async throws {
        try await LastingHarness.run(buddies: [Self.romeo]) { daemon in
            try await daemon.call("connect")
            for (name, how) in [("auto", "auto"), ("hand", "manual")] {
                // One that is not known begins now.
                let client = try await daemon.client()
                let events = Events()
                async let listening = client.call(
                    "listen",
                    [
                        "consumer": .string(name), "ack": .string(how), "count": 1, "session": ["account": "juliet"],
                        "kind": ["message"],
                    ], onEvent: events.sink)
                // The subscription stands before the answer to a later request of the same connection.
                _ = try await client.call("status")
                try await say([name], daemon)
                #expect(bodies(await events.first(1)) == [name])
                _ = try await listening
                await client.close()
            }
            try await say(["one", "two"], daemon)
            try await daemon.anew(.stop)
            try await daemon.call("connect")
            let auto: JSONObject = ["consumer": "auto"]
            #expect(bodies(try await heard(daemon, auto, 2)) == ["hand", "one"])
            #expect(bodies(try await heard(daemon, auto, 1)) == ["two"])
            let hand: JSONObject = ["consumer": "hand", "ack": "manual"]
            let first = try await heard(daemon, hand, 2)
            #expect(bodies(first) == ["hand", "one"])
            #expect(bodies(try await heard(daemon, hand, 2)) == ["hand", "one"])
            let cursor = try #require(first[1].string("cursor"))
            #expect(
                try await daemon.call("ack", ["consumer": "hand", "cursor": .string(cursor)]).string("cursor") == cursor
            )
            #expect(bodies(try await heard(daemon, hand, 1)) == ["two"])
        }
    }

    @Test("Who has missed more than a connection holds gets all of it, in order")
    func much() async throws {
        try await LastingHarness.run(buddies: [Self.romeo]) { daemon in
            try await daemon.call("connect")
            let filler = String(repeating: "x", count: 100_000)
            let texts = (0..<80).map { "\($0) \(filler)" }
            try await say(texts, daemon)
            while try await daemon.call("unread").int("total") != texts.count {}
            let events = try await heard(daemon, ["since": "1"], texts.count, afterGap: true)
            #expect(bodies(events).map { $0?.prefix { $0 != " " } } == (0..<80).map { Substring("\($0)") })
        }
    }

    @Test("listen --since takes a time as well", arguments: [("2026-01-02T03:04:05Z", true), ("tomorrow", false)])
    func times(_ text: String, isTime: Bool) async throws {
        try await LastingHarness.run(buddies: [Self.romeo]) { daemon in
            try await daemon.call("connect")
            try await say(["x"], daemon)
            if isTime {
                #expect(bodies(try await heard(daemon, ["since": .string(text)], 1)) == ["x"])
            } else {
                #expect(await daemon.failure("listen", ["since": .string(text)])?.code == .badParameters)
            }
        }
    }

    @Test("What was said is there to be looked up, and is unread until it is read; who asks for it is told (XEP-0333)")
    func history() async throws {
        try await LastingHarness.run(buddies: [Self.romeo]) { daemon in
            try await daemon.call("connect")
            let jid: JSONObject = ["jid": "romeo@example.org"]
            try await daemon.call("send", ["to": ["romeo@example.org"], "text": "O Romeo"])
            try await say(["Shall I hear more", "or shall I speak"], daemon, isMarkable: true)
            while try await daemon.call("unread").int("total") != 2 {}
            let all = try await daemon.call("history", jid)
            #expect(bodies(all.objects("messages")) == ["O Romeo", "Shall I hear more", "or shall I speak"])
            #expect(all.objects("messages").map { $0.string("direction") } == ["out", "in", "in"])
            #expect(all.objects("messages").map { $0.bool("unread") } == [nil, true, true])
            #expect(all.bool("complete") == true)
            var search = jid
            search["search"] = "SPEAK"
            #expect(bodies(try await daemon.call("history", search).objects("messages")) == ["or shall I speak"])
            search = jid
            search["limit"] = 1
            let last = try await daemon.call("history", search)
            #expect(bodies(last.objects("messages")) == ["or shall I speak"] && last.bool("complete") == false)
            var reading = jid
            reading["upTo"] = "in-Shall I hear more"
            #expect(try await daemon.call("read", reading).int("marked") == 1)
            reading["upTo"] = "unknown"
            #expect(await daemon.failure("read", reading)?.exit == .notFound)
            reading = jid
            reading["marker"] = true
            let read = try await daemon.call("read", reading)
            #expect(read.int("marked") == 1)
            #expect(try await daemon.call("unread").int("total") == 0)
            #expect(try await daemon.call("read", jid).int("marked") == 0)
        }
    }

    @Test("What is about a message is no line of the history: neither a retraction nor a reaction (XEP-0424, XEP-0444)")
    func nothingToRead() async throws {
        var options = LoopbackOptions()
        options.offersArchive = true
        try await LastingHarness.run(options: options, buddies: [Self.romeo]) { daemon in
            try await daemon.call("connect")
            try await daemon.call("retract", ["jid": "romeo@example.org", "id": "m1"])
            try await daemon.call("react", ["jid": "romeo@example.org", "id": "m1", "emoji": ["👍"]])
            try await daemon.call("send", ["to": ["romeo@example.org"], "text": "O Romeo"])
            let all = try await daemon.call("history", ["jid": "romeo@example.org"])
            #expect(bodies(all.objects("messages")) == ["O Romeo"] && all.objects("messages").count == 1)
            let remote = try await daemon.call("history", ["jid": "romeo@example.org", "remote": true])
            #expect(bodies(remote.objects("messages")) == ["O Romeo"] && remote.objects("messages").count == 1)
        }
    }

    @Test("Where a server or a room has no archive, it is said what is missing and what to do instead (XEP-0313)")
    func noArchive() async throws {
        try await DaemonHarness.run { daemon in
            let account = await daemon.failure("history", ["jid": "romeo@example.org", "remote": true])
            #expect(account?.exit == .refused && account?.message.contains("your server example.org") == true)
            let room = await daemon.failure(
                "history", ["jid": "orchard@rooms.example.org", "remote": true, "room": true])
            #expect(room?.message.contains("the room orchard@rooms.example.org") == true, "\(room as Any)")
            for failure in [account, room] {
                #expect(failure?.message.contains("XEP-0313") == true, "\(failure as Any)")
                #expect(failure?.message.contains("without --remote") == true)
            }
        }
    }

    @Test("A daemon for one command keeps nothing, and says so", arguments: ["history", "unread", "read", "ack"])
    func nothing(_ method: String) async throws {
        try await DaemonHarness.run { daemon in
            let error = await daemon.failure(
                method, ["jid": "romeo@example.org", "consumer": "x", "cursor": "1"])
            #expect(error?.exit == .notRunning)
        }
    }

    @Test("A message whose time runs out before it can be sent is given up, and never sent")
    func expiry() async throws {
        try await LastingHarness.run(buddies: [Self.romeo]) { daemon in
            try await daemon.call("connect")
            await daemon.server.changeOptions { $0.authenticationFailure = .temporaryAuthFailure }
            await daemon.server.endStreams(of: "juliet", with: StreamError(.systemShutdown))
            while try await daemon.status("juliet").string("connection") != "waiting" {}
            let sent = try await daemon.call(
                "send", ["to": ["romeo@example.org"], "text": "x", "id": "late", "expire": 0.05])
            let row = try #require(sent.objects("results").first)
            #expect(row.string("state") == "expired" && row["error"]?["exit"] == 5)
            await daemon.server.changeOptions { $0.authenticationFailure = nil }
            try await daemon.call("connect")
            try await daemon.call("send", ["to": ["romeo@example.org"], "text": "y", "expire": 60])
            #expect(try await daemon.server.stanzas(for: "romeo").compactMap { try? Message($0).body } == ["y"])
        }
    }

    @Test("What only the archive of the account has is taken in by the next session, in order and once (XEP-0313)")
    func catchingUp() async throws {
        var options = LoopbackOptions()
        options.offersArchive = true
        options.storesOfflineMessages = false
        try await LastingHarness.run(options: options, buddies: [Self.romeo]) { daemon in
            try await daemon.call("connect")
            try await say(["1"], daemon)
            #expect(bodies(try await heard(daemon, ["since": "1"], 1, afterGap: true)) == ["1"])
            try await daemon.call("disconnect")
            try await say(["2", "3"], daemon)
            try await daemon.call("connect")
            try await say(["4"], daemon)
            let events = try await heard(daemon, ["since": "1"], 4, afterGap: true)
            #expect(bodies(events) == ["1", "2", "3", "4"])
            #expect(events.map { $0.string("source") } == ["live", "archive", "archive", "live"])
            try await daemon.call("reconnect")
            let jid: JSONObject = ["jid": "romeo@example.org"]
            #expect(bodies(try await daemon.call("history", jid).objects("messages")) == ["1", "2", "3", "4"])
            let remote = try await daemon.call("history", ["jid": "romeo@example.org", "remote": true])
            #expect(bodies(remote.objects("messages")) == ["1", "2", "3", "4"] && remote.bool("complete") == true)
            // A page that holds all that was asked for, and no more, is not the whole archive.
            let page = try await daemon.call("history", ["jid": "romeo@example.org", "remote": true, "limit": 2])
            #expect(bodies(page.objects("messages")) == ["3", "4"] && page.bool("complete") == false)
            let four = try await daemon.call("history", ["jid": "romeo@example.org", "remote": true, "limit": 4])
            #expect(four.bool("complete") == true, "the server says that this is all")
        }
    }

    @Test("A message that says it is of the future is of now: it is not the newest for ever (XEP-0203 §4)")
    func future() async throws {
        var options = LoopbackOptions()
        options.offersArchive = true
        options.storesOfflineMessages = false
        try await LastingHarness.run(options: options, buddies: [Self.romeo]) { daemon in
            try await daemon.call("connect")
            var message = Message(to: try JID("juliet@example.org"), body: "1", id: "in-1")
            message.append(DelayedDelivery(stamp: try #require(DateTime("2999-01-01T00:00:00Z"))).element)
            try await daemon.server.send(message, as: "romeo")
            try await say(["2"], daemon)
            let heard = try await heard(daemon, ["since": "1"], 2, afterGap: true)
            #expect(heard.first?.string("at")?.hasPrefix("2999") == false)
            let history = try await daemon.call("history", ["jid": "romeo@example.org"])
            #expect(bodies(history.objects("messages")) == ["1", "2"])
            #expect(history.objects("messages").allSatisfy { $0.string("at")?.hasPrefix("2999") == false })
        }
    }
}
