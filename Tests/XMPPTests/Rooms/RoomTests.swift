// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPCore
import XMPPProtocol
import XMPPTestSupport
import XMPPXML

@testable import XMPP

@Suite("Rooms (XEP-0045)", .timeLimit(.minutes(3)))
struct RoomTests {
    private static let coven = Somebody.address("coven@rooms.example.net")

    /// A server with romeo, juliet and mercutio, each with a client.
    private func meeting(
        _ body: (LoopbackServer, XMPPStream, XMPPStream) async throws -> Void
    ) async throws {
        let server = try await LoopbackServer.start(
            domain: "example.net", accounts: ["romeo": "secret", "juliet": "secret"])
        var streams: [XMPPStream] = []
        for name in ["romeo", "juliet"] {
            let stream = XMPPStream(try await server.configuration(for: name, resource: "here"))
            try await stream.connect()
            try await stream.goOnline()
            streams.append(stream)
        }
        try await body(server, streams[0], streams[1])
        for stream in streams { await stream.disconnect() }
        await server.stop()
    }

    @Test("who enters sees who is there, and speaks when let in; the room sends everything back, marked as one's own")
    func talking() async throws {
        try await meeting { _, romeo, juliet in
            let first = try await romeo.join(Self.coven)
            #expect(first.me?.affiliation == .owner && first.nickname == "romeo")
            let events = first.events
            let second = try await juliet.join(Self.coven, as: "Juliet")
            #expect(second.occupants.map(\.nickname) == ["Juliet", "romeo"])
            var iterator = events.makeAsyncIterator()
            guard case .occupantJoined(let guest)? = try await iterator.next() else { return #expect(Bool(false)) }
            #expect(guest.nickname == "Juliet" && guest.occupantID != nil && guest.realJID?.localpart == "juliet")
            let (mine, theirs) = (first.messages, second.messages)
            let sent = try await first.send("But soft")
            var own = mine.makeAsyncIterator()
            let echo = try await own.next()
            #expect(echo?.isOwn == true && echo?.message.id == sent.id && echo?.message.stanzaID(by: Self.coven) != nil)
            var other = theirs.makeAsyncIterator()
            let heard = try await other.next()
            #expect(heard?.isOwn == false && heard?.nickname == "romeo" && heard?.message.body == "But soft")
            try await first.leave()
            #expect(!first.isJoined && first.occupants.isEmpty)
            await #expect(throws: XMPPError.self) { try await first.send("gone") }
        }
    }

    @Test(
        "what is not a room's address is refused before anything is sent",
        arguments: ["rooms.example.net", "coven@rooms.example.net/nick"])
    func addresses(_ address: String) async throws {
        try await meeting { server, romeo, _ in
            let before = await server.received(from: "romeo").count
            let jid = try JID(address)
            await #expect(throws: XMPPError.self) { try await romeo.join(jid) }
            await #expect(throws: XMPPError.self) { try await romeo.join(Self.coven, as: "") }
            #expect(await server.received(from: "romeo").count == before)
        }
    }

    @Test("a nickname that is taken becomes another one (§7.2.8)")
    func nicknames() async throws {
        try await meeting { _, romeo, juliet in
            try await romeo.join(Self.coven, as: "witch")
            let room = try await juliet.join(Self.coven, as: "witch")
            #expect(room.nickname == "witch_" && room.isJoined)
            try await room.changeNickname(to: "hag")
            let events = room.events
            var iterator = events.makeAsyncIterator()
            if room.nickname != "hag" { _ = try await iterator.next() }
            #expect(room.nickname == "hag")
        }
    }

    @Test("a room tells why it does not let somebody in (§7.2.5 to §7.2.7)")
    func doors() async throws {
        try await meeting { _, romeo, juliet in
            try await romeo.join(Self.coven)
            let form = try await romeo.roomConfiguration(of: Self.coven)
            try await romeo.configure(form.filled(["muc#roomconfig_roomsecret": ["cauldron"]]), of: Self.coven)
            func condition(_ body: () async throws -> Void) async -> StanzaError.Condition? {
                do {
                    try await body()
                    return nil
                } catch {
                    return (error as? XMPPError)?.stanzaError?.condition
                }
            }
            #expect(await condition { try await juliet.join(Self.coven) } == .notAuthorized)
            #expect(await condition { try await juliet.join(Self.coven, password: "cauldron") } == nil)
            try await romeo.setAffiliation(.outcast, of: JID("juliet@example.net"), in: Self.coven, reason: "Avaunt")
            try await juliet.ping()
            #expect(await condition { try await juliet.join(Self.coven, password: "cauldron") } == .forbidden)
            let banned = try await romeo.members(of: Self.coven, with: .outcast)
            #expect(banned.map(\.jid.description) == ["juliet@example.net"])
            #expect(await condition { _ = try await juliet.roomConfiguration(of: Self.coven) } == .forbidden)
        }
    }

    @Test("owners show out, change roles, the subject and invite; rooms end with a word (§8, §10.9, §7.8.2)")
    func owning() async throws {
        try await meeting { _, romeo, juliet in
            let room = try await romeo.join(Self.coven)
            let invitations = juliet.events
            try await room.invite(JID("juliet@example.net"), reason: "Come")
            for try await event in invitations {
                guard case .invitation(let invitation) = event else { continue }
                #expect(invitation.room == Self.coven && invitation.from?.description == "romeo@example.net")
                #expect(invitation.reason == "Come")
                break
            }
            let other = try await juliet.join(Self.coven)
            try await room.setSubject("Fire Burn")
            // Each ping shows that what was said before it has been dealt with.
            try await romeo.ping()
            try await juliet.ping()
            #expect(other.subject == "Fire Burn")
            try await room.setRole(.visitor, of: "juliet")
            try await juliet.ping()
            #expect(other.me?.role == .visitor)
            var events = other.events.makeAsyncIterator()
            try await room.kick("juliet", reason: "Avaunt")
            guard case .left(let kicked)? = try await events.next() else { return #expect(Bool(false)) }
            #expect(kicked.cause == .kicked && kicked.reason == "Avaunt" && !other.isJoined)
            try await juliet.join(Self.coven)
            var later = other.events.makeAsyncIterator()
            try await romeo.destroyRoom(Self.coven, reason: "Over", alternative: JID("new@rooms.example.net"))
            while let event = try await later.next() {
                guard case .left(let end) = event else { continue }
                #expect(end.cause == .destroyed && end.alternative?.localpart == "new")
                break
            }
        }
    }

    @Test("private messages are conversations with the occupant; markers count from within (§7.5)")
    func whispering() async throws {
        try await meeting { _, romeo, juliet in
            let room = try await romeo.join(Self.coven)
            try await juliet.join(Self.coven)
            let messages = juliet.messages
            try await room.whisper("psst", to: "juliet")
            var iterator = messages.makeAsyncIterator()
            let message = try #require(try await iterator.next())
            let chat = ChatMessage(message, account: try JID("juliet@example.net"))
            #expect(chat.text == "psst" && chat.conversation.description == "coven@rooms.example.net/romeo")
            #expect(await juliet.mayKnowOfUser(try #require(message.from)))
            #expect(await !juliet.mayKnowOfUser(try JID("other@rooms.example.net/romeo")))
        }
    }

    @Test("a room that has forgotten the user is entered again (XEP-0410)")
    func selfPing() async throws {
        try await meeting { server, romeo, _ in
            let room = try await romeo.join(Self.coven)
            #expect(try await room.isPresenceKnown() == true)
            await server.forgetRooms()
            #expect(try await room.isPresenceKnown() == false)
            let events = room.events
            #expect(await romeo.checkRooms() == [room])
            for try await event in events { if case .joined = event { break } }
            #expect(room.isJoined)
        }
    }

    @Test("a client enters its rooms again in a new session, and shows nothing twice (BR-U07)")
    func rejoining() async throws {
        let server = try await LoopbackServer.start(
            domain: "example.net", accounts: ["romeo": "secret", "juliet": "secret"])
        let client = XMPPClient(
            try await server.configuration(for: "romeo", resource: "here"),
            reconnect: ReconnectPolicy(firstDelay: .zero, minimumDelay: .zero, resumptionDelay: .zero))
        let juliet = XMPPStream(try await server.configuration(for: "juliet", resource: "there"))
        try await juliet.connect()
        try await juliet.goOnline()
        try await client.start()
        let room = try await client.join(Self.coven)
        #expect(await client.joinedRooms == [room])
        let other = try await juliet.join(Self.coven)
        let (events, messages) = (room.events, room.messages)
        try await other.send("one")
        var lines = messages.makeAsyncIterator()
        #expect(try await lines.next()?.message.body == "one")
        await server.cutConnections(of: "romeo")
        var iterator = events.makeAsyncIterator()
        var seen: [String] = []
        while let event = try await iterator.next() {
            if case .left(let departure) = event { seen.append(departure.cause.rawValue) }
            if case .joined = event {
                seen.append("joined")
                break
            }
        }
        #expect(seen == ["disconnected", "joined"])
        try await other.send("two")
        #expect(try await lines.next()?.message.body == "two", "what was said before is not said again")
        await client.stop()
        await juliet.disconnect()
        await server.stop()
    }

    @Test("of a thousand rooms those are forgotten that the user has left; in more than a thousand nobody can be")
    func directory() async throws {
        let stream = XMPPStream(XMPPConfiguration(jid: try JID("romeo@example.net"), password: "secret"))
        let (hub, directory) = (EventHub(), RoomDirectory())
        func room(_ number: Int) throws -> Room? {
            directory.room(try JID("r\(number)@rooms.example.net"), nickname: "romeo", hub: hub)
        }
        let wish = Room.Wish(nickname: "romeo", password: nil, history: .none, unlocks: false)
        let kept = try #require(try room(0))
        kept.join(wish, on: stream)
        for number in 1..<RoomDirectory.maximumRooms { #expect(try room(number) != nil) }
        #expect(directory.all.count == RoomDirectory.maximumRooms)
        let next = try #require(try room(RoomDirectory.maximumRooms))
        #expect(Set(directory.all) == [kept, next])
        next.join(wish, on: stream)
        for number in 1..<RoomDirectory.maximumRooms - 1 { try room(number)?.join(wish, on: stream) }
        #expect(directory.all.count == RoomDirectory.maximumRooms)
        #expect(try room(5_000) == nil)
        #expect(try room(0) === kept)
    }

    @Test(
        "nor is anything that the room had got, although nobody heard it sent back: the room is asked first (XEP-0045 §7.2.15)",
        arguments: [LoopbackOptions.Resumption.refused, .refusedStrangely])
    func repeatingUnheard(_ resumption: LoopbackOptions.Resumption) async throws {
        var options = LoopbackOptions()
        options.resumption = resumption
        options.answersAcknowledgementRequests = false
        let server = try await LoopbackServer.start(
            domain: "example.net", accounts: ["romeo": "secret"], options: options)
        let proxy = try await FaultProxy.start(to: server.port)
        var configuration = try await server.configuration(for: "romeo", resource: "here")
        configuration.port = proxy.port
        let client = XMPPClient(
            configuration,
            reconnect: ReconnectPolicy(
                firstDelay: .zero, baseDelay: .zero, minimumDelay: .zero, resumptionDelay: .zero))
        try await client.start()
        let stream = try #require(await client.stream)
        let room = try await stream.join(Self.coven, history: .none)
        let events = client.events
        await proxy.hush()
        try await room.send(Message(to: Self.coven, kind: .groupchat, body: "once", id: "once"))
        _ = try await server.firstElement(from: "romeo") { $0["id"] == "once" }
        await server.changeOptions { $0.answersAcknowledgementRequests = true }
        await proxy.cutConnections()
        // Behind the beginning of the new session, and whatever is repeated there.
        for try await case .authenticated in events { break }
        try await client.start()
        try await client.waitUntilHandled()
        #expect(await server.received(from: "romeo").count { $0["id"] == "once" } == 1)
        await client.stop()
        await proxy.stop()
        await server.stop()
    }

    @Test("in a new session nothing is said again that the room has sent back, the rest when the user is there (§7.4)")
    func repeating() async throws {
        var options = LoopbackOptions()
        // The server never says what it has: all that was sent is in doubt when the connection is lost.
        options.answersAcknowledgementRequests = false
        let server = try await LoopbackServer.start(
            domain: "example.net", accounts: ["romeo": "secret", "juliet": "secret"], options: options)
        let client = XMPPClient(
            try await server.configuration(for: "romeo", resource: "here"),
            reconnect: ReconnectPolicy(firstDelay: .zero, minimumDelay: .zero, resumptionDelay: .zero))
        let juliet = XMPPStream(try await server.configuration(for: "juliet", resource: "there"))
        try await juliet.connect()
        try await juliet.goOnline()
        let other = try await juliet.join(Self.coven)
        try await client.start()
        let stream = try #require(await client.stream)
        let room = try await stream.join(Self.coven)
        var heard = other.messages.makeAsyncIterator()
        var own = room.messages.makeAsyncIterator()
        try await room.send("one")
        #expect(try await own.next()?.isOwn == true)
        await stream.owe(Message(to: Self.coven, kind: .groupchat, body: "two", id: "lost").element)
        var events = room.events.makeAsyncIterator()
        await server.cutConnections(of: "romeo")
        while let event = try await events.next() { if case .joined = event { break } }
        #expect(try await own.next()?.message.id == "lost")
        try await room.send("three")
        for text in ["one", "two", "three"] { #expect(try await heard.next()?.message.body == text) }
        let bounces = await server.transcript.filter {
            $0.direction == .toClient && $0.element.localName == "message" && $0.element["type"] == "error"
        }
        #expect(bounces.isEmpty, "nothing was said outside of the room")
        await client.stop()
        await juliet.disconnect()
        await server.stop()
    }
}

extension XMPPStream {
    /// Takes a stanza for one that an earlier session has left.
    fileprivate func owe(_ element: Element) {
        unsettled.append(UnacknowledgedStanza(element))
    }
}
