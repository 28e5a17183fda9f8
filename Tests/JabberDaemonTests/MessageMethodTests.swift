// SPDX-License-Identifier: Apache-2.0

import JabberControl
import Testing
import XMPP
import XMPPTestSupport

@testable import JabberDaemon

@Suite("What is said about messages")
struct MessageMethodTests {
    private static let romeo = LoopbackBuddy("romeo", behaviors: [])

    /// The last message that came for romeo.
    private func last(_ daemon: DaemonHarness) async throws -> Message {
        try Message(try #require(try await daemon.server.stanzas(for: "romeo").last { $0.localName == "message" }))
    }

    @Test("reactions, retractions, answers and corrections reach the other side as such (XEP-0444, 0424, 0461, 0308)")
    func sending() async throws {
        try await DaemonHarness.run(buddies: [Self.romeo]) { daemon in
            let jid: JSONValue = "romeo@example.org"
            let result = try await daemon.call("react", ["jid": jid, "id": "m1", "emoji": ["👍", "🐢"]])
            #expect(result.objects("results").map { $0.string("state") } == ["server"])
            #expect(try await last(daemon).reactions == MessageReactions(to: "m1", ["👍", "🐢"]))
            try await daemon.call("react", ["jid": jid, "id": "m1"])
            #expect(try await last(daemon).reactions?.emoji == [])
            try await daemon.call("retract", ["jid": jid, "id": "m1"])
            #expect(try await last(daemon).retraction?.id == "m1")
            try await daemon.call(
                "send", ["to": ["romeo@example.org"], "text": "the", "correct": "m2", "replyTo": "m3", "thread": "t"])
            let message = try await last(daemon)
            #expect(message.correctedID == "m2" && message.replyTo?.id == "m3" && message.thread == "t")
            #expect(!message.requestsReceipt && !message.isMarkable)
        }
    }

    @Test(
        "what is wrong with them is said before anybody logs in",
        arguments: [
            ("react", ["jid": "a@b", "id": "m1", "emoji": ["👍", "👍"]]), ("react", ["jid": "a@b", "emoji": ["👍"]]),
            ("retract", ["jid": "a@b"]), ("typing", ["jid": "a@b"]), ("typing", ["jid": "a@b", "state": "maybe"]),
            ("send", ["to": ["a@b"], "text": "x", "correct": ""]),
            ("send", ["to": ["a@b"], "text": "x", "until": "grave"]),
            ("block.add", ["jid": "a@b", "text": "x"]), ("block.add", [:]),
        ] as [(String, JSONObject)])
    func refusals(method: String, params: JSONObject) async throws {
        try await DaemonHarness.run { daemon in
            #expect(await daemon.failure(method, params)?.code == .badParameters)
            #expect(await daemon.server.openConnections == 0)
        }
    }

    @Test(
        "only emoji are reactions (XEP-0444 §3.1)",
        arguments: [
            ("👍", true), ("👍🏽", true), ("❤️", true), ("❤", true), ("👩‍👩‍👧", true), ("🇩🇪", true), ("1️⃣", true), ("🏴󠁧󠁢󠁥󠁮󠁧󠁿", true),
            ("🏳️‍🌈", true), ("☺️", true), ("x", false), ("", false), ("1", false), ("#", false), ("yes", false),
            ("👍👍", false),
            ("👍x", false), ("👍 ", false), ("🇩", false), ("é", false), ("👍\u{301}", false), ("\u{200D}", false),
            ("\u{FE0F}", false), (":+1:", false), ("漢", false),
        ])
    func emoji(text: String, isEmoji: Bool) async throws {
        #expect(EmojiText.isEmoji(text) == isEmoji)
        guard !isEmoji else { return }
        try await DaemonHarness.run { daemon in
            let error = await daemon.failure("react", ["jid": "a@b", "id": "m1", "emoji": ["👍", .string(text)]])
            #expect(error?.exit == .badData && error?.message.contains("not an emoji") == true)
            #expect(await daemon.server.openConnections == 0)
        }
    }

    @Test("typing is shown to contacts, and refused for those who may not know that the user is there")
    func typing() async throws {
        try await DaemonHarness.run(buddies: [Self.romeo]) { daemon in
            let on = try await daemon.call("typing", ["jid": "romeo@example.org", "state": "on"])
            #expect(on.string("state") == "composing")
            #expect(try await last(daemon).chatState == .composing)
            #expect(await daemon.failure("typing", ["jid": "mallory@evil.example", "state": "on"])?.exit == .refused)
        }
    }

    @Test("a send waits until the recipient has received or displayed it, where that is asked for (XEP-0184, XEP-0333)")
    func levels() async throws {
        try await DaemonHarness.run(buddies: [Self.romeo]) { daemon in
            // Nurse's program sends receipts by itself, and a marker for what is to be read.
            let nurse = XMPPStream(try await daemon.server.configuration(for: "nurse", resource: "kitchen"))
            try await daemon.server.befriend("nurse", "juliet")
            let messages = nurse.messages
            try await nurse.connect()
            try await nurse.goOnline()
            let reader = Task {
                for try await message in messages where message.isMarkable { try await nurse.sendDisplayed(message) }
            }
            for (level, state) in [("device", "device"), ("read", "read")] {
                let result = try await daemon.call(
                    "send", ["to": ["nurse@example.org"], "text": .string(level), "until": .string(level)])
                #expect(result.objects("results").map { $0.string("state") } == [state])
            }
            // Romeo's says nothing.
            let late = try await daemon.call(
                "send", ["to": ["romeo@example.org"], "text": "x", "until": "device"], timeout: 20)
            let row = try #require(late.objects("results").first)
            #expect(row.string("state") == "server")
            #expect(ControlError(json: row["error"]?.objectValue ?? [:]).exit == .timedOut)
            reader.cancel()
            await nurse.disconnect()
        }
    }

    @Test("reactions, retractions, receipts, markers, corrections, answers and invitations are events")
    func events() async throws {
        try await DaemonHarness.run(buddies: [Self.romeo]) { daemon in
            let juliet = try JID("juliet@example.org")
            let kinds = ListenMethod.messageKinds.sorted()
            let events = Events()
            async let listening = daemon.call(
                "listen", ["kind": .strings(kinds), "count": 8], timeout: nil, onEvent: events.sink)
            _ = try await daemon.server.firstElement(from: "juliet") { $0.localName == "presence" }
            let sent = try await daemon.call("send", ["to": ["romeo@example.org"], "text": "hi", "id": "own1"])
            #expect(sent.objects("results").first?.string("id") == "own1")
            func send(_ change: (inout Message) -> Void) async throws {
                var message = Message(to: juliet)
                change(&message)
                try await daemon.server.send(message, as: "romeo")
            }
            try await send {
                $0.append(Element("received", namespace: "urn:xmpp:receipts", attributes: ["id": "own1"]))
            }
            try await send { $0.displayedID = "own1" }
            try await send { $0.chatState = .composing }
            try await send { $0.setPayload(MessageReactions(to: "own1", ["👍"])) }
            try await send {
                $0.body = "the"
                $0.correctedID = "m1"
                $0.replyTo = MessageReply("own1", to: juliet)
            }
            try await daemon.server.send(Message.retraction(of: "m1", to: juliet), as: "romeo")
            try await send { $0.setPayload(RoomInvitation(juliet)) }
            try await send { $0.body = "end" }
            _ = try await listening
            let all = await events.first(8)
            #expect(
                all.map { $0.string("type") } == [
                    "receipt", "marker", "state", "reaction", "message", "retraction", "invitation", "message",
                ])
            #expect(all[0].string("id") == "own1" && all[1].string("id") == "own1")
            #expect(all[3]["emoji"] == ["👍"] && all[3].string("id") == "own1")
            #expect(all[4].string("replaces") == "m1" && all[4]["replyTo"]?["id"] == "own1")
            #expect(all[5].string("id") == "m1" && all[5]["body"] == nil)
            #expect(all[6].string("room") == "juliet@example.org")
            let promised = Set(MethodTable.command(["listen"])?.event.map(\.name) ?? [])
            for event in all { #expect(event.keys.allSatisfy(promised.contains), "\(event.keys)") }
        }
    }

    @Test(
        "what another client sends or receives is an event with the source carbon, once the server copies it (XEP-0280)"
    )
    func carbons() async throws {
        try await DaemonHarness.run(buddies: [Self.romeo]) { daemon in
            let events = Events()
            async let listening = daemon.call("listen", ["count": 2], timeout: nil, onEvent: events.sink)
            let asked = try await daemon.server.firstElement(from: "juliet") {
                $0.firstChild("enable", namespace: MessageCarbon.namespace) != nil
            }
            #expect(asked["type"] == "set")
            for (direction, from, to) in [
                ("received", "romeo@example.org/x", "juliet@example.org/phone"),
                ("sent", "juliet@example.org/phone", "romeo@example.org"),
            ] {
                await daemon.server.inject(
                    "<message from='juliet@example.org'><\(direction) xmlns='urn:xmpp:carbons:2'>"
                        + "<forwarded xmlns='urn:xmpp:forward:0'><message xmlns='jabber:client' from='\(from)' to='\(to)'"
                        + " type='chat'><body>\(direction)</body></message></forwarded></\(direction)></message>",
                    into: "juliet")
            }
            _ = try await listening
            let all = await events.first(2)
            #expect(all.map { $0.string("source") } == ["carbon", "carbon"])
            #expect(all.map { $0.string("direction") } == ["in", "out"])
            #expect(all.map { $0.string("body") } == ["received", "sent"])
        }
    }

    @Test("a server that cannot block says so (XEP-0191)")
    func blocking() async throws {
        try await DaemonHarness.run { daemon in
            let error = await daemon.failure("block.list")
            #expect(error?.exit == .refused && error?.stanza?.string("condition") == "service-unavailable")
            #expect(error?.message.hasPrefix("your server example.org does not support blocking (XEP-0191)") == true)
            #expect(error?.message.contains("jabberctl sub cancel") == true)
            #expect(await daemon.failure("block.add", ["jid": "eve@example.org"])?.exit == .refused)
            #expect(await daemon.failure("block.remove", ["jid": "eve@example.org"])?.exit == .refused)
        }
    }
}
