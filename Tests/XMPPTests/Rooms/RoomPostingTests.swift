// SPDX-License-Identifier: Apache-2.0

import SocketIO
import Testing
import XMPPCore
import XMPPProtocol
import XMPPTestSupport
import XMPPXML

@testable import XMPP

@Suite("Messages to rooms that are posted", .timeLimit(.minutes(3)))
struct RoomPostingTests {
    private static let coven = Somebody.address("coven@rooms.example.net")

    private func scene(
        _ change: (inout LoopbackOptions) -> Void = { _ in }
    ) async throws -> (LoopbackServer, XMPPClient) {
        let server = try await verona { options in
            options.offersArchive = true
            change(&options)
        }
        let client = XMPPClient(
            try await server.configuration(for: "romeo", resource: "orchard"),
            reconnect: ReconnectPolicy(firstDelay: .zero, baseDelay: .zero, minimumDelay: .zero, resumptionDelay: .zero)
        )
        return (server, client)
    }

    private func message(_ id: String) -> Message { Message(to: Self.coven, kind: .groupchat, body: id, id: id) }

    private func writes(_ id: String, _ server: LoopbackServer) async -> Int {
        await server.received(from: "romeo").count { $0["id"] == id }
    }

    @Test(
        "A message to a room waits for the user to be there, holds up nothing else, and arrives when it comes back (§7.4)"
    )
    func waiting() async throws {
        let (server, client) = try await scene()
        try await client.start()
        let line = try await client.post(message("m"))
        let other = try await client.post(Message(to: try JID("juliet@example.net/balcony"), body: "x"))
        #expect(try await client.waitUntil(.server, of: other).state == .server)
        #expect(await writes("m", server) == 0)
        await server.changeOptions { $0.reflectsRoomMessages = false }
        try await client.join(Self.coven)
        #expect(try await client.waitUntil(.sent, of: line).state == .sent)
        try await client.waitUntilHandled()
        let known = try await client.outbox.entry("m", to: Self.coven, of: client.configuration.jid)
        #expect(known?.state == .sent, "the server has it, the room has not said so")
        await server.changeOptions { $0.reflectsRoomMessages = true }
        let next = try await client.post(message("n"))
        #expect(try await client.waitUntil(.server, of: next).state == .server)
        let sent = await server.received(from: "romeo").first { $0["id"] == "n" }
        #expect(sent?.firstChild("origin-id", namespace: StanzaID.namespace)?["id"] == "n")
        await client.stop()
        await server.stop()
    }

    @Test(
        "What was on its way to a room is said again where its archive lacks it, and only there (XEP-0313 §6.2)",
        arguments: [true, false], [true, false])
    func asking(_ isLost: Bool, _ acknowledges: Bool) async throws {
        let (server, client) = try await scene { $0.answersAcknowledgementRequests = acknowledges }
        try await client.start()
        let room = try await client.join(Self.coven)
        await server.changeOptions { options in
            options.losesRoomMessages = isLost
            options.reflectsRoomMessages = false
        }
        let entry = try await client.post(message("m"))
        _ = try await server.firstElement(from: "romeo") { $0["id"] == "m" }
        await server.changeOptions { options in
            options.answersAcknowledgementRequests = true
            options.losesRoomMessages = false
            options.reflectsRoomMessages = true
        }
        await server.cutConnections(of: "romeo")
        #expect(try await client.waitUntil(.server, of: entry, timeout: .seconds(30)).state == .server)
        #expect(await writes("m", server) == (isLost ? 2 : 1))
        try await Patience.wait(for: "romeo to be in the room again") { room.isJoined }
        await client.stop()
        await server.stop()
    }
}
