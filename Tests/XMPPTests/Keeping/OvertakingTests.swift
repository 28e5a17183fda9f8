// SPDX-License-Identifier: Apache-2.0

import SocketIO
import Testing
import XMPPCore
import XMPPProtocol
import XMPPTestSupport

@testable import XMPP

/// A store in which a session has left something, and that keeps what it is told.
private struct Legacy: StreamStateStore {
    let found: StreamState

    var keepsProgress: Bool { true }
    func state(of account: JID) async throws -> StreamState? { found }
    func save(_ state: StreamState?, of account: JID) async throws {}
    func keep(_ steps: [StreamProgress], of account: JID) async throws {}
}

/// Sends something as soon as there is a session, before the client is online.
private final class Hasty: ChatDelegate {
    let isDone = Handover<Void>()
    private let to: JID

    init(_ to: JID) {
        self.to = to
    }

    func stream(_ stream: XMPPStream, didAuthenticateAs jid: JID) async {
        _ = try? await stream.send(Message(to: to, body: "new", id: "new"))
        isDone.give(())
    }
}

@Suite("What an earlier connection has left", .timeLimit(.minutes(3)))
struct OvertakingTests {
    @Test("Nothing that is sent directly overtakes what is to be sent again to the same addressee (XEP-0198 §5)")
    func order() async throws {
        let server = try await verona()
        let juliet = try JID("juliet@example.net/balcony")
        var left = StreamState(jid: try JID("romeo@example.net/orchard"), id: nil)
        left.unacknowledged = (1...3).map { number in
            UnacknowledgedStanza(Message(to: juliet, body: "old", id: "old-\(number)").element, sentAt: .now)
        }
        let client = XMPPClient(
            try await server.configuration(for: "romeo", resource: "orchard"), store: Legacy(found: left))
        let hasty = Hasty(juliet)
        client.add(chatDelegate: hasty)
        try await client.start()
        await hasty.isDone.value()
        try await client.waitUntilHandled()
        let sent = await server.received(from: "romeo").filter { $0.localName == "message" }.map { $0["id"] }
        #expect(sent == ["old-1", "old-2", "old-3", "new"])
        await client.stop()
        await server.stop()
    }

    @Test("Who waits for room to send is told when the connection is lost, and the others with it (XEP-0198 §4)")
    func waitingSender() async throws {
        let server = try await verona { options in
            options.resumption = .kept(for: .seconds(60))
            options.answersAcknowledgementRequests = false
        }
        var configuration = try await server.configuration(for: "romeo", resource: "orchard")
        configuration.timeouts.answer = .seconds(600)
        let client = XMPPClient(
            configuration,
            reconnect: ReconnectPolicy(
                firstDelay: .seconds(60), minimumDelay: .seconds(60), resumptionDelay: .seconds(60)))
        try await client.start()
        let juliet = try JID("juliet@example.net/balcony")
        let stream = try #require(await client.stream)
        while await stream.unacknowledgedCount < StreamManagement.maximumUnacknowledged {
            try await stream.send(Message(to: juliet, body: "x"))
        }
        let late = (1...2).map { number in
            Task { try await stream.send(Message(to: juliet, body: "late", id: "late-\(number)")) }
        }
        try await Patience.wait(for: "both to wait") { await stream.waitList.count { $0.awaited == .room } == 2 }
        await server.cutConnections(of: "romeo")
        for task in late { await #expect(throws: XMPPError.self) { try await task.value } }
        #expect(await stream.waitList.allSatisfy { $0.awaited != .room })
        await client.stop()
        await server.stop()
    }

    @Test("What an old connection still says reaches no session on a newer one (RFC 6120 §4.4)")
    func generations() async throws {
        let server = try await verona()
        let (stream, recorder) = try await romeo(server)
        let present = await stream.generation
        func say(_ text: String, _ generation: Int) async {
            let word = "<message from='juliet@example.net/balcony' id='\(text)'><body>\(text)</body></message>"
            await stream.transportEvent(.received(Array(word.utf8)), generation: generation)
        }
        await say("old", present - 1)
        await stream.transportEvent(.closed(nil), generation: present - 1)
        #expect(await stream.isEstablished)
        await say("new", present)
        await recorder.heard("message juliet@example.net/balcony new")
        #expect(!recorder.lines.contains("message juliet@example.net/balcony old"))
        await stream.disconnect()
        await server.stop()
    }
}

extension XMPPStream {
    fileprivate var unacknowledgedCount: UInt32 { machine.management.unacknowledged }
}
