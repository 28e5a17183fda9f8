// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPP
import XMPPTestSupport

@Suite("The roster (RFC 6121 §2)")
struct RosterTests {
    @Test("contacts are added, renamed, grouped and removed, and the store follows by pushes")
    func changes() async throws {
        let server = try await verona()
        let (stream, recorder) = try await romeo(server)
        let roster = RosterStore()
        stream.add(chatDelegate: roster)
        try await stream.goOnline()
        let paris = try JID("paris@example.com")
        try await stream.setRosterItem(paris, name: "Paris", groups: ["Rivals", "Verona"])
        await recorder.heard("item paris@example.com")
        #expect(try await server.roster(of: "romeo").first { $0.jid == paris }?.groups == ["Rivals", "Verona"])
        try await stream.removeRosterItem(paris)
        await recorder.heard("removed paris@example.com")
        await stream.disconnect()
        await recorder.heard("disconnected ")
        #expect(roster.hasArrived)
        #expect(roster.items.map(\.displayName) == ["Juliet", "Nurse"])
        await server.stop()
    }

    @Test("a roster kept from before is not sent again while it is right (RFC 6121 §2.6.3)")
    func versioning() async throws {
        let server = try await verona()
        let (first, heard) = try await romeo(server)
        let roster = RosterStore()
        first.add(chatDelegate: roster)
        try await first.requestRoster()
        await first.disconnect()
        await heard.heard("disconnected ")
        let known = try #require(roster.known)
        let (second, recorder) = try await romeo(server)
        #expect(try await second.goOnline(known: known) == .unchanged(version: known.version))
        await recorder.heard("online Juliet")
        await second.disconnect()
        await server.stop()
    }

    @Test("the buddy list shows who is online, best resource first")
    func buddyList() async throws {
        let server = try await verona()
        let (stream, recorder) = try await romeo(server)
        let buddies = BuddyList()
        stream.add(chatDelegate: buddies)
        try await stream.goOnline()
        await recorder.heard("online Juliet")
        await server.inject(
            "<presence from='juliet@example.net/phone'><show>away</show><priority>9</priority></presence>",
            into: "romeo")
        await recorder.heard("changed Juliet away")
        await server.inject("<presence from='stranger@example.com/x'/>", into: "romeo")
        await server.inject("<presence from='romeo@example.net/other'/>", into: "romeo")
        try await stream.ping()
        let juliet = await stream.buddy(try JID("juliet@example.net"))
        #expect(juliet.resources.map(\.name) == ["phone", "balcony"])
        #expect(await stream.buddies.map(\.displayName) == ["Juliet"], "neither strangers nor the own account")
        await server.inject("<presence type='unavailable' from='juliet@example.net/phone'/>", into: "romeo")
        await recorder.heard("changed Juliet available")
        #expect(!recorder.lines.contains("offline Juliet"), "one resource is left")
        await stream.disconnect()
        await recorder.heard("disconnected ")
        await server.stop()
    }
}

@Suite("A client that comes back")
struct ClientTests {
    @Test("a lost connection is made again, with roster and presence", .timeLimit(.minutes(5)))
    func comesBack() async throws {
        let server = try await verona()
        let client = XMPPClient(
            try await server.configuration(for: "romeo"),
            reconnect: ReconnectPolicy(firstDelay: .milliseconds(1), minimumDelay: .milliseconds(1)))
        let recorder = Recorder()
        client.add(chatDelegate: recorder)
        client.add(messageDelegate: recorder)
        try await client.start()
        await recorder.heard("online Juliet")
        await server.cutConnections(of: "romeo")
        await recorder.heard("disconnected connectionLost")
        await recorder.heard("roster unchanged")
        try await server.send(Message(to: try JID("romeo@example.net"), body: "again"), as: "juliet")
        await recorder.heard("message juliet@example.net/balcony again")
        #expect(client.roster.items.count == 2)
        await client.stop()
        #expect(await client.state == .stopped)
        await server.stop()
    }

    @Test("a refused password and a conflict stop it and say why", .timeLimit(.minutes(5)))
    func permanent() async throws {
        let server = try await verona()
        let refused = XMPPClient(try await server.configuration(for: "romeo", password: "wrong"))
        let error = await #expect(throws: XMPPError.self) { try await refused.start() }
        #expect(error?.code == .authenticationRefused)
        guard case .failed = await refused.state else {
            Issue.record("\(await refused.state)")
            return
        }
        let client = XMPPClient(try await server.configuration(for: "romeo"))
        let events = client.events
        try await client.start()
        await server.endStreams(of: "romeo", with: StreamError(.conflict))
        for try await event in events {
            if case .disconnected = event { break }
        }
        try await Patience.wait(for: "the client to be offline") {
            if case .online = await client.state { false } else { true }
        }
        guard case .failed(let reason) = await client.state else {
            Issue.record("\(await client.state)")
            return
        }
        #expect(reason.streamError?.condition == .conflict)
        await client.stop()
        await server.stop()
    }
}
