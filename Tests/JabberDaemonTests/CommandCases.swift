// SPDX-License-Identifier: Apache-2.0

import JabberControl
import Testing
import XMPP
import XMPPTestSupport

@testable import JabberDaemon

@Suite("Commands that hung, did something twice or too late, or mixed things up", .timeLimit(.minutes(5)))
struct CommandCases {
    private static let romeo = LoopbackBuddy("romeo", name: "Romeo", behaviors: [])

    private static func bodies(for buddy: String, at server: LoopbackServer) async throws -> [String] {
        try await server.stanzas(for: buddy).compactMap { try? Message($0).body }
    }

    @Test("a command that gave up while the login was slow sends nothing later; one that waits sends once")
    func slowLogin() async throws {
        try await DaemonHarness.run(buddies: [Self.romeo]) { daemon in
            // A login takes a second like that.
            await daemon.server.planNextConnection([.slow(bytesPerSecond: 4_000)])
            let to: JSONValue = ["romeo@example.org"]
            let error = await daemon.failure("send", ["to": to, "text": "too late"], timeout: 0.2)
            #expect(error?.exit == .timedOut)
            try await daemon.call("send", ["to": to, "text": "in time"])
            #expect(try await Self.bodies(for: "romeo", at: daemon.server) == ["in time"])
        }
    }

    @Test(
        "a character that XML cannot hold is exit code 65 wherever it stands, and the session lives on (XML 1.0 §2.2)",
        arguments: [
            ("send", ["to": ["romeo@example.org"], "text": "a", "subject": "title \u{1A}"]),
            ("presence.set", ["show": "away", "status": "title \u{1A} and \u{2} end"]),
            ("roster.rename", ["jid": "romeo@example.org", "name": "a\u{1}"]),
            ("roster.group", ["jid": "romeo@example.org", "group": ["a\u{1B}"]]),
            ("room.join", ["room": "coven@conference.example.org", "nick": "a\u{2}"]),
            ("retract", ["jid": "romeo@example.org", "id": "a\u{8}"]),
            ("adhoc.run", ["jid": "example.org", "node": "a\u{C}"]),
        ] as [(String, JSONObject)])
    func illegalCharacters(_ method: String, _ params: JSONObject) async throws {
        try await DaemonHarness.run(buddies: [Self.romeo]) { daemon in
            try await daemon.call("roster.list")
            let result: ControlError?
            do throws(ControlError) {
                let row = try await daemon.call(method, params).objects("results").first
                result = row.flatMap { $0["error"]?.objectValue }.map(ControlError.init(json:))
            } catch {
                result = error
            }
            #expect(result?.exit == .badData, "\(method): \(result as Any)")
            try await daemon.call("ping")
            #expect(await daemon.server.openConnections == 1)
        }
    }

    @Test("reconnecting again while reconnecting ends online, with one session and never two")
    func reconnectTwice() async throws {
        try await LastingHarness.run(buddies: [Self.romeo]) { daemon in
            try await daemon.call("connect")
            async let one = daemon.failure("reconnect")
            async let other = daemon.failure("reconnect")
            // Whoever was overtaken hears that the session was disconnected: every one is answered.
            for error in await [one, other] { #expect(error == nil || error?.code == .notConnected) }
            try await daemon.call("connect")
            #expect(try await daemon.status("juliet").string("connection") == "connected")
            #expect(await daemon.server.openConnections == 1)
            try await daemon.call("disconnect")
            #expect(await daemon.server.openConnections == 0)
            try await daemon.call("connect")
            #expect(try await daemon.status("juliet").string("connection") == "connected")
            #expect(await daemon.server.openConnections == 1)
        }
    }

    @Test("of two accounts neither has the other's presence, messages or contacts, and an event names its account")
    func twoAccounts() async throws {
        try await LastingHarness.run(["juliet": "secret", "nurse": "secret"], buddies: [Self.romeo]) { daemon in
            for account in ["juliet", "nurse"] { try await daemon.call("connect", account: account) }
            try await daemon.call("presence.set", ["show": "dnd", "status": "asleep"], account: "nurse")
            try await daemon.call("roster.rename", ["jid": "romeo@example.org", "name": "Montague"], account: "nurse")
            #expect(try await daemon.status("juliet").string("show") == "available")
            #expect(try await daemon.status("nurse").string("show") == "dnd")
            let contacts = try await daemon.call("roster.list").objects("contacts")
            #expect(contacts.map { $0.string("name") } == ["Romeo"])
            for name in ["juliet", "nurse"] {
                try await daemon.server.send(
                    Message(to: try JID("\(name)@example.org"), body: "for \(name)"), as: "romeo")
            }
            for name in ["juliet", "nurse"] {
                let client = try await daemon.client()
                let events = Events()
                _ = try await client.call(
                    "listen", ["since": "1", "count": 1, "session": ["account": .string(name)]], onEvent: events.sink)
                await client.close()
                let heard = await events.first(2)
                #expect(heard.last?.string("body") == "for \(name)")
                #expect(heard.allSatisfy { $0.string("account") == "\(name)@example.org" })
            }
        }
    }
}
