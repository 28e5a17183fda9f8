// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPP
import XMPPTestSupport

@Suite("Messages and rooms on real servers", .serialized, .timeLimit(.minutes(5)))
struct RealMessagingTests {
    /// Runs a body with juliet and romeo, who see each other's presence, online.
    private func meeting(
        _ kind: ServerKind,
        _ body: (PrivateServer, (XMPPStream, EventTape), (XMPPStream, EventTape)) async throws -> Void
    ) async throws {
        let server = try await kind.start(accounts: ["juliet": "balcony", "romeo": "orchard"])
        var streams: [(XMPPStream, EventTape)] = []
        for name in ["juliet", "romeo"] {
            let tape = EventTape()
            var configuration = try server.configuration(for: name, resource: "one")
            configuration.observer = StreamObserver(event: { tape.note($0) })
            let stream = XMPPStream(configuration)
            try await stream.connect()
            try await stream.goOnline()
            streams.append((stream, tape))
        }
        try await body(server, streams[0], streams[1])
        for (stream, _) in streams { await stream.disconnect() }
        await server.stop()
    }

    private static let withBody: @Sendable (XMPPEvent) -> Message? = { event in
        if case .message(let message) = event, message.body != nil { message } else { nil }
    }

    @Test("receipts, markers, corrections, reactions, replies and retractions pass", arguments: ServerKind.expected)
    func messages(kind: ServerKind) async throws {
        try await meeting(kind) { server, juliet, romeo in
            let (account, his) = (try JID("juliet@\(server.domain)"), try #require(await romeo.0.jid))
            var message = Message(to: his, body: "teh", id: "m1")
            message.requestsReceipt = true
            message.isMarkable = true
            try await juliet.0.send(message)
            let got = try #require(await romeo.1.first(Self.withBody))
            let receipt = await juliet.1.first { if case .receipt(let id, _) = $0 { id } else { nil } }
            #expect(receipt == "m1")
            #expect(try await romeo.0.sendDisplayed(got))
            let marker = await juliet.1.first { if case .displayed(let id, _) = $0 { id } else { nil } }
            #expect(marker == "m1")
            try await juliet.0.send(message.corrected("the"))
            try await romeo.0.send(Message.reactions(["👍"], to: "m1", in: try #require(got.from)))
            try await romeo.0.send(got.quotingReply("indeed"))
            try await juliet.0.send(Message.retraction(of: "m1", to: his))
            await romeo.1.wait { $0.compactMap(Self.withBody).count == 3 }
            var transcript = ChatTranscript()
            for message in romeo.1.events.compactMap(Self.withBody) {
                transcript.add(ChatMessage(message, account: account))
            }
            #expect(transcript.entries.count == 1 && transcript.entries[0].isRetracted)
            let reaction = await juliet.1.first {
                if case .message(let message) = $0 { message.reactions } else { nil }
            }
            #expect(reaction == MessageReactions(to: "m1", ["👍"]))
            let reply = await juliet.1.first(Self.withBody)
            #expect(reply?.replyTo?.id == "m1" && reply?.text(withoutFallbackFor: [MessageReply.namespace]) == "indeed")
        }
    }

    @Test("the account's other client gets copies of both directions (XEP-0280)", arguments: ServerKind.expected)
    func carbons(kind: ServerKind) async throws {
        try await meeting(kind) { server, juliet, romeo in
            let tape = EventTape()
            var configuration = try server.configuration(for: "juliet", resource: "two")
            configuration.observer = StreamObserver(event: { tape.note($0) })
            let other = XMPPStream(configuration)
            try await other.connect()
            try await other.goOnline(Presence(priority: -1))
            try await other.enableCarbons()
            try await romeo.0.send(Message(to: await juliet.0.jid, body: "to her"))
            try await juliet.0.send(Message(to: await romeo.0.jid, body: "from her"))
            let carbon: @Sendable (XMPPEvent) -> MessageCarbon? = {
                if case .carbon(let carbon) = $0 { carbon } else { nil }
            }
            await tape.wait { $0.compactMap(carbon).count == 2 }
            let found = tape.events.compactMap(carbon)
            #expect(
                Set(found.map { "\($0.direction) \($0.message.body ?? "")" }) == ["received to her", "sent from her"])
            await other.disconnect()
        }
    }

    @Test("who is blocked is bounced, and heard again afterwards (XEP-0191)", arguments: ServerKind.expected)
    func blocking(kind: ServerKind) async throws {
        try await meeting(kind) { _, juliet, romeo in
            let (hers, his) = (try #require(await juliet.0.jid).bare, try #require(await romeo.0.jid).bare)
            try await juliet.0.block(his, report: AbuseReport(.spam))
            #expect(try await juliet.0.blockList() == [his])
            try await romeo.0.send(Message(to: hers, body: "x", id: "b1"))
            let bounced = await romeo.1.first {
                if case .messageBounced(let message, _) = $0 { message.id } else { nil }
            }
            #expect(bounced == "b1")
            try await juliet.0.unblock(his)
            #expect(try await juliet.0.blockList().isEmpty)
        }
    }

    @Test("servers tell their time and their age (XEP-0202, XEP-0012)", arguments: ServerKind.expected)
    func asking(kind: ServerKind) async throws {
        try await meeting(kind) { server, juliet, _ in
            let time = try await juliet.0.time(of: server.domain)
            #expect(time.moment.millisecondsSinceEpoch > 1_700_000_000_000)
            let age = try await juliet.0.lastActivity(of: server.domain)
            #expect(age.elapsed >= .zero)
            let information = try await juliet.0.knownInformation(of: server.domain)
            #expect(information.supports("urn:xmpp:ping"))
        }
    }

    @Test(
        "a room lets in, sends back, changes its subject, shows out and ends (XEP-0045)", arguments: ServerKind.expected
    )
    func rooms(kind: ServerKind) async throws {
        try await meeting(kind) { server, juliet, romeo in
            let address = try JID("coven@rooms.\(server.domain)")
            let his = try #require(await romeo.0.jid)
            let room = try await juliet.0.join(address, as: "witch")
            #expect(room.me?.affiliation == .owner)
            let sent = try await room.send("When shall we three meet again?")
            let echo = await juliet.1.first { event -> RoomMessage? in
                if case .room(_, .message(let line)) = event { line } else { nil }
            }
            #expect(echo?.isOwn == true && echo?.message.id == sent.id)
            let guest = try await romeo.0.join(address, as: "witch")
            #expect(guest.nickname == "witch_" && guest.occupants.count == 2)
            try await room.setSubject("Fire Burn")
            await romeo.1.wait {
                $0.contains { if case .room(_, .subject("Fire Burn", _)) = $0 { true } else { false } }
            }
            #expect(guest.subject == "Fire Burn")
            #expect(try await guest.isPresenceKnown() == true)
            let form = try await juliet.0.roomConfiguration(of: address)
            #expect(form.type == MultiUserChat.namespace + "#roomconfig")
            try await juliet.0.configure(form.filled(["muc#roomconfig_roomname": ["A Dark Cave"]]), of: address)
            try await room.kick(guest.nickname, reason: "Avaunt")
            let departure = await romeo.1.first {
                if case .room(_, .left(let departure)) = $0 { departure } else { nil }
            }
            #expect(departure?.cause == .kicked && !guest.isJoined)
            try await juliet.0.setAffiliation(.outcast, of: his, in: address)
            await #expect(throws: XMPPError.self) { try await romeo.0.join(address) }
            #expect(try await juliet.0.members(of: address, with: .outcast).count == 1)
            try await juliet.0.destroyRoom(address)
            #expect(!room.isJoined)
        }
    }
}
