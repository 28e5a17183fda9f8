// SPDX-License-Identifier: Apache-2.0

import JabberControl
import Testing
import XMPP
import XMPPTestSupport

@testable import JabberDaemon

@Suite("send")
struct SendTests {
    @Test("A message that the server has taken is at level server; neither roster nor presence is sent for it")
    func server() async throws {
        try await DaemonHarness.run(buddies: [LoopbackBuddy("romeo", behaviors: [])]) { daemon in
            let result = try await daemon.call(
                "send", ["to": ["romeo@example.org"], "text": "hello", "subject": "s", "thread": "t"])
            let row = try #require(result.objects("results").first)
            #expect(row.string("to") == "romeo@example.org")
            #expect(row.string("state") == "server")
            #expect(row.string("at").flatMap(DateTime.init) != nil)
            #expect(row["error"] == nil)
            let stanza = try #require(try await daemon.server.stanzas(for: "romeo").last { $0.localName == "message" })
            let message = try Message(stanza)
            #expect(message.id == row.string("id"))
            #expect(message.kind == .chat)
            #expect(message.body == "hello" && message.subject == "s" && message.thread == "t")
            let sent = await daemon.server.received(from: "juliet")
            #expect(sent.allSatisfy { $0.localName != "presence" })
            #expect(sent.allSatisfy { $0.firstChild("query", namespace: Namespace.roster) == nil })
        }
    }

    @Test("A bounce is a failed result with the condition, and exit code 2; the others are not touched by it")
    func bounce() async throws {
        try await DaemonHarness.run(buddies: [LoopbackBuddy("romeo", behaviors: [])]) { daemon in
            let result = try await daemon.call(
                "send", ["to": ["romeo@example.org", "nobody@example.org", "ro meo@example.org"], "text": "hello"])
            let rows = result.objects("results")
            #expect(rows.map { $0.string("state") } == ["server", "failed", "failed"])
            let bounce = ControlError(json: rows[1]["error"]?.objectValue ?? [:])
            #expect(bounce.exit == .refused)
            #expect(bounce.stanza?.string("condition") == "service-unavailable")
            let invalid = ControlError(json: rows[2]["error"]?.objectValue ?? [:])
            #expect(invalid.exit == .badData)
            #expect(invalid.message.contains("localpart"))
        }
    }

    @Test("When no recipient is an address, nobody logs in")
    func noAddress() async throws {
        try await DaemonHarness.run { daemon in
            let error = await daemon.failure("send", ["to": ["@example.org"], "text": "x"])
            #expect(error?.code == .badJID)
            #expect(await daemon.server.openConnections == 0)
        }
    }

    @Test("The same id twice is one message to one recipient")
    func sameID() async throws {
        try await DaemonHarness.run(buddies: [LoopbackBuddy("romeo", behaviors: [])]) { daemon in
            let params: JSONObject = ["to": ["romeo@example.org"], "text": "once", "id": "m1"]
            let first = try await daemon.call("send", params)
            let second = try await daemon.call("send", params)
            #expect(first == second)
            #expect(first.objects("results").first?.string("id") == "m1")
            try await daemon.call("send", ["to": ["nurse@example.org"], "text": "once", "id": "m1"])
            let messages = try await daemon.server.stanzas(for: "romeo").filter { $0.localName == "message" }
            #expect(messages.count == 1)
            #expect(await daemon.server.received(from: "juliet").filter { $0.localName == "message" }.count == 2)
        }
    }

    @Test("A recipient that is named twice gets one message and has two results")
    func sameRecipient() async throws {
        try await DaemonHarness.run(buddies: [LoopbackBuddy("romeo", behaviors: [])]) { daemon in
            let rows = try await daemon.call(
                "send", ["to": ["romeo@example.org", "Romeo@example.org"], "text": "x"]
            ).objects("results")
            #expect(rows.count == 2 && rows[0] == rows[1])
            #expect(try await daemon.server.stanzas(for: "romeo").filter { $0.localName == "message" }.count == 1)
        }
    }

    @Test("Without waiting the message is sent, and arrives although the tool goes at once")
    func untilNone() async throws {
        let server = try await LoopbackServer.start(domain: "example.org", accounts: ["juliet": "secret"])
        try await server.add(LoopbackBuddy("romeo", behaviors: []))
        let daemon = try DaemonHarness(server)
        try await daemon.give(password: "secret")
        let result = try await daemon.call("send", ["to": ["romeo@example.org"], "text": "x", "until": "none"])
        #expect(result.objects("results").first?.string("state") == "sent")
        await daemon.end()
        #expect(try await server.stanzas(for: "romeo").contains { $0.localName == "message" })
        await server.stop()
    }

    @Test("A server that knows no pings has answered all the same (XEP-0199 §4.1)")
    func serverWithoutPing() async throws {
        var options = LoopbackOptions()
        options.answersPing = false
        try await DaemonHarness.run(options: options) { daemon in
            let result = try await daemon.call("send", ["to": ["nurse@example.org"], "text": "x"])
            #expect(result.objects("results").first?.string("state") == "server")
        }
    }

    @Test("While a send waits, bounces and receipts of other messages are not kept, however many there are")
    func foreignAnswers() async throws {
        try await DaemonHarness.run(buddies: [LoopbackBuddy("romeo", behaviors: [])]) { daemon in
            let stream = XMPPStream(try await daemon.server.configuration(for: "nurse", resource: "kitchen"))
            try await stream.connect()
            let account = AccountConfiguration(name: "nurse", jid: "nurse@example.org")
            let session = try AccountSession(account, environment: DaemonEnvironment(variables: [:]))
            let romeo = try JID("romeo@example.org")
            let order = SendOrder(to: romeo) { Message(to: $0, body: "x", id: "own") }
            let delivery = Delivery(order: order, session: session, stream: stream, deadline: nil)
            let place = delivery.add(romeo)
            delivery.begin()
            #expect(await delivery.result(place).string("state") == "server")
            func answer(_ id: String, from: JID) {
                var bounce = Message(to: stream.configuration.jid, kind: .error, id: id)
                bounce.from = from
                delivery.note(.messageBounced(bounce, StanzaError(.itemNotFound, kind: .cancel)))
                delivery.note(.receipt(messageID: id, from: from))
                delivery.note(.displayed(messageID: id, from: from))
            }
            for number in 0..<100 { answer("foreign\(number)", from: romeo) }
            answer("own", from: try JID("mallory@example.net"))
            #expect(delivery.answers == 0)
            for _ in 0..<100 { answer("own", from: romeo) }
            #expect(delivery.answers == 2)
            await stream.disconnect()
        }
    }

    @Test("A character that XML cannot hold is exit code 65, and the stream lives on (XML 1.0 §2.2)")
    func illegalCharacter() async throws {
        try await DaemonHarness.run { daemon in
            let row = try await daemon.call("send", ["to": ["nurse@example.org"], "text": "a\u{1}b"])
                .objects("results")[0]
            #expect(row.string("state") == "failed")
            #expect(ControlError(json: row["error"]?.objectValue ?? [:]).exit == .badData)
            try await daemon.call("ping")
        }
    }
}
