// SPDX-License-Identifier: Apache-2.0

import JabberControl
import Testing
import XMPP
import XMPPTestSupport

@testable import JabberDaemon

@Suite("listen")
struct ListenTests {
    private static let romeo = LoopbackBuddy("romeo", name: "Romeo", behaviors: [])

    @Test("A message is an event with sender, text, time and source; kept ones say who kept them (XEP-0203)")
    func messages() async throws {
        try await DaemonHarness.run(buddies: [Self.romeo]) { daemon in
            let juliet = try JID("juliet@example.org")
            try await daemon.server.send(Message(to: juliet, body: "kept", id: "m1"), as: "romeo")
            let events = Events()
            async let listening = daemon.call("listen", ["count": 2], timeout: nil, onEvent: events.sink)
            let kept = await events.first(1)[0]
            #expect(kept.string("source") == "offline")
            #expect(kept.string("delayedFrom") == "example.org")
            #expect(kept.string("at").flatMap(DateTime.init) != nil)
            var message = Message(to: juliet, body: "live", id: "m2")
            message.thread = "t"
            try await daemon.server.send(message, as: "romeo")
            let live = await events.first(2)[1]
            #expect(live.string("type") == "message")
            #expect(live.string("direction") == "in")
            #expect(live.string("from") == "romeo@example.org/loopback")
            #expect(live.string("kind") == "chat")
            #expect(live.string("id") == "m2")
            #expect(live.string("body") == "live")
            #expect(live.string("thread") == "t")
            #expect(live.string("source") == "live")
            #expect(live.string("encryption") == "none")
            #expect(live["delayedFrom"] == nil)
            let promised = Set(MethodTable.command(["listen"])?.event.map(\.name) ?? [])
            #expect(live.keys.allSatisfy(promised.contains))
            #expect(try await listening.string("account") == "juliet@example.org")
        }
    }

    @Test("Messages after the last one asked for are not acknowledged, so that the server keeps them (XEP-0198 §4)")
    func leavesTheRest() async throws {
        var options = LoopbackOptions()
        options.requestsAcknowledgementEvery = 1
        try await DaemonHarness.run(options: options, buddies: [Self.romeo]) { daemon in
            let juliet = try JID("juliet@example.org")
            for body in ["one", "two", "three"] {
                try await daemon.server.send(Message(to: juliet, body: body), as: "romeo")
            }
            let events = Events()
            try await daemon.call("listen", ["count": 1], timeout: nil, onEvent: events.sink)
            #expect(await events.first(1).map { $0.string("body") } == ["one"])
            // What the first brings is written before the second is.
            try await daemon.call("ping")
            try await daemon.call("ping")
            let transcript = await daemon.server.transcript
            let sent = transcript.drop { $0.element.localName != "enabled" }.filter {
                $0.direction == .toClient && ["message", "presence", "iq"].contains($0.element.localName)
            }
            let shown = try #require(sent.firstIndex { (try? Message($0.element))?.body == "one" })
            #expect(sent.contains { (try? Message($0.element))?.body == "three" })
            let counts = transcript.filter { $0.element.localName == "a" }.compactMap {
                $0.element["h"].flatMap(Int.init)
            }
            #expect(counts.max() == shown + 1)
        }
    }

    @Test("What ends the listening first counts: what is called off for it is no failure, and no success")
    func firstEnd() async throws {
        let account = AccountConfiguration(name: "juliet", jid: "juliet@example.org")
        let session = try AccountSession(account, environment: DaemonEnvironment(variables: [:]))
        await session.close()
        let filter = EventFilter(kinds: ["message"], from: nil)
        let content = Listener(session, filter, from: .now, most: 1) { _ in }
        content.finish()
        content.finish(ControlError(.notConnected, "gone"))
        try await content.run()

        let disappointed = Listener(session, filter, from: .now, most: 1) { _ in }
        disappointed.finish(ControlError(.conflict, "taken over"))
        disappointed.finish(ControlError(.notConnected, "gone"))
        disappointed.finish()
        let error = await #expect(throws: ControlError.self) { try await disappointed.run() }
        #expect(error?.code == .conflict)
    }

    @Test("Only the kinds asked for come, and only from the address asked for")
    func filters() async throws {
        try await DaemonHarness.run(buddies: [Self.romeo, LoopbackBuddy("benvolio", behaviors: [])]) { daemon in
            let juliet = try JID("juliet@example.org")
            let events = Events()
            async let listening = daemon.call(
                "listen", ["kind": ["message", "state"], "from": "romeo@example.org", "count": 2], timeout: nil,
                onEvent: events.sink)
            _ = try await daemon.server.firstElement(from: "juliet") { $0.localName == "presence" }
            try await daemon.server.send(Message(to: juliet, body: "not this"), as: "benvolio")
            var composing = Message(to: juliet)
            composing.append(Element("composing", namespace: "http://jabber.org/protocol/chatstates"))
            try await daemon.server.send(composing, as: "romeo")
            try await daemon.server.send(Message(to: juliet, body: "this"), as: "romeo")
            _ = try await listening
            let all = await events.first(2)
            #expect(all.map { $0.string("type") } == ["state", "message"])
            #expect(all[0].string("state") == "composing")
            #expect(all[0].string("from") == "romeo@example.org")
            #expect(all[1].string("body") == "this")
        }
    }

    @Test("A message that says it was typed is shown before that, so that one event is enough to have it")
    func messageFirst() async throws {
        try await DaemonHarness.run(buddies: [Self.romeo]) { daemon in
            let juliet = try JID("juliet@example.org")
            let events = Events()
            async let listening = daemon.call(
                "listen", ["kind": ["message", "state"], "count": 1], timeout: nil, onEvent: events.sink)
            _ = try await daemon.server.firstElement(from: "juliet") { $0.localName == "presence" }
            var message = Message(to: juliet, body: "this")
            message.append(Element("active", namespace: "http://jabber.org/protocol/chatstates"))
            try await daemon.server.send(message, as: "romeo")
            _ = try await listening
            #expect(await events.first(1)[0].string("body") == "this")
        }
    }

    @Test("Only the account or the room gives a message its id; what a stranger writes is not shown (XEP-0359 §6)")
    func stanzaIDs() async throws {
        let account = AccountConfiguration(name: "juliet", jid: "juliet@example.org")
        let session = try AccountSession(account, environment: DaemonEnvironment(variables: [:]))
        func shown(_ kind: Message.Kind, from: String, _ ids: [(String, String)]) throws -> JSONObject {
            var message = Message(to: try JID("juliet@example.org/x"), kind: kind, body: "x")
            message.from = try JID(from)
            for (id, by) in ids { message.append(StanzaID(id, by: try JID(by)).element) }
            let chat = ChatMessage(message, account: session.jid)
            return try #require(MessageDocument.documents(chat, session).first)
        }
        let forgeries = [("1", "romeo@example.org"), ("2", "muc.example.org")]
        let forged = try shown(.chat, from: "romeo@example.org/y", forgeries)
        #expect(forged["stanzaId"] == nil)
        let own = try shown(.chat, from: "romeo@example.org/y", forgeries + [("3", "juliet@example.org")])
        #expect(own["stanzaId"] == ["by": "juliet@example.org", "id": "3"])
        let room = try shown(.groupchat, from: "coven@muc.example.org/a", forgeries + [("4", "coven@muc.example.org")])
        #expect(room["stanzaId"] == ["by": "coven@muc.example.org", "id": "4"])
    }

    @Test("Who listens for presence alone draws no messages (RFC 6121 §4.7.2.3)")
    func presenceOnly() async throws {
        try await DaemonHarness.run(buddies: [Self.romeo]) { daemon in
            let events = Events()
            async let listening = daemon.call(
                "listen", ["kind": ["presence"], "count": 2], timeout: nil, onEvent: events.sink)
            let first = await events.first(1)[0]
            #expect(first.string("from") == "romeo@example.org/loopback")
            #expect(first.string("show") == "available")
            try await daemon.server.set(Presence(.unavailable, status: "gone"), of: "romeo")
            _ = try await listening
            let last = await events.first(2)[1]
            #expect(last.string("show") == "offline")
            #expect(last.string("status") == "gone")
            let presence = try await daemon.server.firstElement(from: "juliet") { $0.localName == "presence" }
            #expect(try Presence(presence).priority == -1)
        }
    }

    @Test("Changes of the contact list and of the connection are events")
    func rosterAndAccount() async throws {
        try await DaemonHarness.run(buddies: [Self.romeo]) { daemon in
            let events = Events()
            let listening = Task {
                try await daemon.call("listen", ["kind": ["roster", "account"]], timeout: nil, onEvent: events.sink)
            }
            #expect(await events.first(1)[0].string("connection") == "connected")
            try await daemon.call("roster.rename", ["jid": "romeo@example.org", "name": "Romi"])
            #expect(await events.first(2)[1]["contact"]?["name"] == "Romi")
            try await daemon.call("roster.remove", ["jid": "romeo@example.org"])
            #expect(await events.first(3)[2]["contact"]?["subscription"] == "remove")
            await daemon.server.cutConnections(of: "juliet")
            let lost = await events.first(4)[3]
            #expect(lost.string("connection") == "disconnected")
            #expect(lost["reason"]?["code"] == "connection-lost")
            await daemon.client.fail(ControlError(.interrupted, "enough"))
            _ = try? await listening.value
        }
    }

    @Test("A session that another took over ends the listening and says so (RFC 6120 §4.9.3.3)")
    func conflict() async throws {
        try await DaemonHarness.run { daemon in
            let events = Events()
            let listening = Task {
                await daemon.listenFailure(["kind": ["account"]], onEvent: events.sink)
            }
            _ = await events.first(1)
            await daemon.server.endStreams(of: "juliet", with: StreamError(.conflict))
            #expect(await listening.value?.code == .conflict)
        }
    }

    @Test("A bounce is a message event of kind error with the condition (RFC 6120 §8.3)")
    func bounces() async throws {
        try await DaemonHarness.run { daemon in
            let events = Events()
            async let listening = daemon.call("listen", ["count": 1], timeout: nil, onEvent: events.sink)
            _ = try await daemon.server.firstElement(from: "juliet") { $0.localName == "presence" }
            try await daemon.call("send", ["to": ["nobody@example.org"], "text": "x", "until": "none"])
            _ = try await listening
            let event = await events.first(1)[0]
            #expect(event.string("kind") == "error")
            #expect(event["error"]?["condition"] == "service-unavailable")
        }
    }
}

extension DaemonHarness {
    /// The error that listening ends with.
    func listenFailure(
        _ params: JSONObject, onEvent: @escaping @Sendable (JSONValue) -> Bool
    ) async -> ControlError? {
        do throws(ControlError) {
            try await call("listen", params, onEvent: onEvent)
            return nil
        } catch {
            return error
        }
    }
}
