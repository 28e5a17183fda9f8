// SPDX-License-Identifier: Apache-2.0

import JabberControl
import Testing
import XMPP
import XMPPTestSupport

@testable import JabberDaemon

@Suite("online")
struct OnlineTests {
    private static let buddies = [
        LoopbackBuddy(
            "romeo", name: "Romeo", groups: ["Lovers"], presence: Presence(show: .away, status: "lunch", priority: 5)),
        LoopbackBuddy("benvolio", name: "benvolio", groups: ["Montague"]),
        LoopbackBuddy("mercutio", name: "Mercutio", groups: ["Montague"], presence: nil),
    ]

    @Test("Contacts that are online come sorted by name, with state, status, priority and resources")
    func list() async throws {
        try await DaemonHarness.run(buddies: Self.buddies) { daemon in
            let result = try await daemon.call("online")
            #expect(result.int("api") == 1)
            #expect(result.string("account") == "juliet@example.org")
            let contacts = result.objects("contacts")
            #expect(contacts.map { $0.string("name") } == ["benvolio", "Romeo"])
            let romeo = try #require(contacts.last)
            #expect(romeo.string("jid") == "romeo@example.org")
            #expect(romeo["groups"] == ["Lovers"])
            #expect(romeo.string("subscription") == "both")
            #expect(romeo.bool("online") == true)
            #expect(romeo.string("show") == "away")
            #expect(romeo.string("status") == "lunch")
            #expect(romeo.int("priority") == 5)
            #expect(romeo.string("since").flatMap(DateTime.init) != nil)
            let resource = try #require(romeo.objects("resources").first)
            #expect(resource.string("resource") == "loopback")
            #expect(resource.string("show") == "away")
        }
    }

    @Test("With --all those who are offline come last; --group leaves out the others")
    func allAndGroup() async throws {
        try await DaemonHarness.run(buddies: Self.buddies) { daemon in
            let all = try await daemon.call("online", ["all": true]).objects("contacts")
            #expect(all.map { $0.string("name") } == ["benvolio", "Romeo", "Mercutio"])
            #expect(all.last?.string("show") == "offline")
            #expect(all.last?.bool("online") == false)
            let group = try await daemon.call("online", ["group": "Montague"]).objects("contacts")
            #expect(group.map { $0.string("name") } == ["benvolio"])
        }
    }

    @Test("A session that only looks draws no messages: its priority is negative (RFC 6121 §4.7.2.3)")
    func priority() async throws {
        try await DaemonHarness.run(buddies: Self.buddies) { daemon in
            try await daemon.server.send(Message(to: JID("juliet@example.org"), body: "kept"), as: "romeo")
            try await daemon.call("online")
            let presence = try await daemon.server.firstElement(from: "juliet") { $0.localName == "presence" }
            #expect(presence.firstChild("priority", namespace: Namespace.client)?.text == "-1")
            let delivered = await daemon.server.transcript.filter {
                $0.direction == .toClient && $0.element.localName == "message"
            }
            #expect(delivered.isEmpty)
        }
    }

    @Test("With nobody to be seen the list is empty, and nothing is waited for")
    func nobody() async throws {
        // It stands still: who waits for quiet on it waits for ever.
        let clock = TestClock()
        try await DaemonHarness.run(clock: clock) { daemon in
            let result = try await daemon.call("online", ["settle": 5000])
            #expect(result.objects("contacts").isEmpty)
        }
    }

    @Test("With somebody to be seen the list comes when nothing new has arrived for a while")
    func settled() async throws {
        let clock = TestClock()
        try await DaemonHarness.run(buddies: Self.buddies, clock: clock) { daemon in
            async let result = daemon.call("online", ["settle": 400])
            await clock.waitForTimers()
            await clock.advance(by: .milliseconds(399))
            #expect(clock.untilNextTimer == .milliseconds(1))
            await clock.advance(by: .milliseconds(1))
            let contacts = try await result.objects("contacts")
            #expect(contacts.count == 2)
        }
    }

    @Test("--watch gives the list again after each change")
    func watch() async throws {
        try await DaemonHarness.run(buddies: [LoopbackBuddy("romeo", name: "Romeo")]) { daemon in
            let events = Events()
            let watching = Task {
                try await daemon.call("online", ["watch": true, "settle": 50], onEvent: events.sink)
            }
            #expect(await events.first(1)[0].objects("contacts").map { $0.string("show") } == ["available"])
            try await daemon.server.set(Presence(show: .dnd), of: "romeo")
            #expect(await events.first(2)[1].objects("contacts").map { $0.string("show") } == ["dnd"])
            try await daemon.server.set(Presence(.unavailable), of: "romeo")
            #expect(await events.first(3)[2].objects("contacts").isEmpty)
            await daemon.client.fail(ControlError(.interrupted, "enough"))
            _ = try? await watching.value
        }
    }

    @Test("presence show tells of a contact, and of the own other resources")
    func presenceShow() async throws {
        try await DaemonHarness.run(buddies: Self.buddies) { daemon in
            let romeo = try await daemon.call("presence.show", ["jid": "romeo@example.org/loopback"])
            #expect(romeo.string("jid") == "romeo@example.org")
            #expect(romeo.string("show") == "away")
            let mercutio = try await daemon.call("presence.show", ["jid": "mercutio@example.org"])
            #expect(mercutio.bool("online") == false)
            let other = XMPPStream(try await daemon.server.configuration(for: "juliet", resource: "balcony"))
            try await other.connect()
            try await other.goOnline(Presence(show: .chat))
            let own = try await DaemonHarness.own(daemon)
            // The daemon's first session is the other of the two.
            #expect(own.objects("resources").count == 2)
            #expect(own.objects("resources").contains { $0.string("resource") == "balcony" })
            #expect(own.string("show") == "chat")
            await other.disconnect()
        }
    }

    @Test("presence set sends what was asked, with the account's priority, to all or to one")
    func presenceSet() async throws {
        try await DaemonHarness.run { daemon in
            let away = try await daemon.call("presence.set", ["show": "away", "status": "lunch"])
            #expect(away.string("show") == "away")
            #expect(away.int("priority") == 0)
            let sent = try await daemon.server.firstElement(from: "juliet") { $0.localName == "presence" }
            let presence = try Presence(sent)
            #expect(presence.show == .away && presence.status == "lunch" && presence.to == nil)
            let directed = try await daemon.call(
                "presence.set", ["show": "dnd", "to": "nurse@example.org", "priority": 3])
            #expect(directed.string("to") == "nurse@example.org")
            let offline = try await daemon.call("presence.set", ["show": "offline"])
            #expect(offline["priority"] == nil)
            let last = try #require(await daemon.server.received(from: "juliet").last { $0.localName == "presence" })
            #expect(last["type"] == "unavailable")
        }
    }
}

extension DaemonHarness {
    /// `presence show` without an address, in a session of its own.
    static func own(_ daemon: DaemonHarness) async throws -> JSONObject {
        let other = try DaemonHarness(daemon.server)
        try await other.give(password: "secret")
        let result = try await other.call("presence.show")
        await other.end()
        return result
    }
}
