// SPDX-License-Identifier: Apache-2.0

import SocketIO
import Testing
import XMPP
import XMPPTestSupport

@Suite("A client that runs", .timeLimit(.minutes(5)))
struct XMPPClientRunningTests {
    private let patience = ReconnectPolicy(firstDelay: .milliseconds(1), minimumDelay: .milliseconds(1))

    @Test("it ends with the failure that trying again cannot mend, and so do its sequences")
    func permanentFailure() async throws {
        let server = try await LoopbackServer.start(accounts: ["juliet": "secret"])
        let client = XMPPClient(try await server.configuration(for: "juliet", password: "wrong"), reconnect: patience)
        let messages = client.messages
        let error = await #expect(throws: XMPPError.self) { try await client.run() }
        #expect(error?.code == .authenticationRefused)
        for try await _ in messages { Issue.record("there is no message") }
        guard case .failed = await client.state else {
            Issue.record("the state tells of the failure")
            return
        }
        await server.stop()
    }

    @Test("it comes back when the connection is cut, and says goodbye when its task is cancelled")
    func cancelled() async throws {
        let server = try await LoopbackServer.start(accounts: ["juliet": "secret"])
        let client = XMPPClient(try await server.configuration(for: "juliet"), reconnect: patience)
        let events = client.events
        let life = Task { try await client.run() }
        var sessions = 0
        for try await case .authenticated in events {
            sessions += 1
            if sessions == 2 { break }
            await server.cutConnections(of: "juliet")
        }
        life.cancel()
        try await life.value
        #expect(await client.state == .stopped)
        #expect(await client.stream == nil)
        await server.stop()
    }

    @Test("when the network has changed, or the machine was asleep, one that waits tries at once (RFC 6120 §3.3)")
    func networkCameBack() async throws {
        let server = try await LoopbackServer.start(accounts: ["juliet": "secret"])
        await server.planNextConnection([.cut(afterBytes: 0)])
        let client = XMPPClient(
            try await server.configuration(for: "juliet"),
            reconnect: ReconnectPolicy(firstDelay: .seconds(3_600), minimumDelay: .seconds(3_600)))
        await #expect(throws: XMPPError.self) { try await client.start() }
        try await Patience.wait(for: "the client to wait") {
            if case .waiting = await client.state { true } else { false }
        }
        await client.networkChanged()
        try await client.start()
        await client.stop()
        await server.stop()
    }

    @Test("and one whose server has fallen silent unnoticed finds that out")
    func networkWentAway() async throws {
        let server = try await LoopbackServer.start(accounts: ["juliet": "secret"])
        var configuration = try await server.configuration(for: "juliet")
        configuration.keepalive = .off
        configuration.timeouts.answer = .milliseconds(50)
        await server.changeOptions { $0.answersAcknowledgementRequests = false }
        let client = XMPPClient(configuration, reconnect: patience)
        try await client.start()
        let before = await server.acceptedConnections
        await client.networkChanged()
        try await Patience.wait(for: "another connection") { await server.acceptedConnections > before }
        await server.changeOptions { $0.answersAcknowledgementRequests = true }
        await client.stop()
        await server.stop()
    }

    @Test("it ends when it is stopped")
    func stopped() async throws {
        let server = try await LoopbackServer.start(accounts: ["juliet": "secret"])
        let client = XMPPClient(try await server.configuration(for: "juliet"), reconnect: patience)
        let life = Task { try await client.run() }
        try await client.start()
        await client.stop()
        try await life.value
        #expect(await client.state == .stopped)
        await server.stop()
    }

    @Test("it ends when its task is cancelled before it begins, and while it waits to try again")
    func cancelledEarly() async throws {
        var configuration = XMPPConfiguration(jid: try JID("juliet@localhost"), password: "secret")
        // Nobody listens there.
        configuration.host = "127.0.0.1"
        configuration.port = 1
        let client = XMPPClient(
            configuration, reconnect: ReconnectPolicy(firstDelay: .seconds(600), minimumDelay: .seconds(600)))
        let first = Task { try await client.run() }
        first.cancel()
        try await first.value
        let second = Task { try await client.run() }
        await #expect(throws: XMPPError.self) { try await client.start() }
        second.cancel()
        try await second.value
        #expect(await client.state == .stopped)
    }

    @Test("it can be stopped while a stream is being prepared, and by who prepares it")
    func stoppedInPreparation() async throws {
        let server = try await LoopbackServer.start(accounts: ["juliet": "secret"])
        let place = Locked<XMPPClient?>(nil)
        let (stops, stopped) = AsyncStream.makeStream(of: Void.self)
        let client = XMPPClient(
            try await server.configuration(for: "juliet"), reconnect: patience,
            prepare: { _ in
                await place.withLock { $0 }?.stop()
                stopped.yield()
            })
        place.withLock { $0 = client }
        let error = await #expect(throws: XMPPError.self) { try await client.start() }
        #expect(error?.code == .cancelled)
        for await _ in stops { break }
        #expect(await client.state == .stopped)
        #expect(await client.stream == nil)
        #expect(await server.openConnections == 0, "nothing was connected")
        // The one that is left prepares without a word, and is online.
        place.withLock { $0 = nil }
        try await client.start()
        await client.stop()
        await server.stop()
    }

    @Test("a start that comes while the client is being stopped begins a session that nobody ends")
    func restarted() async throws {
        let server = try await LoopbackServer.start(accounts: ["juliet": "secret"])
        let client = XMPPClient(try await server.configuration(for: "juliet"), reconnect: patience)
        for _ in 0..<5 {
            try await client.start()
            async let end: Void = client.stop()
            async let beginning = client.start()
            await end
            let jid = try? await beginning
            // Whichever of the two came first, the client is as the last one left it.
            if let jid, await client.state == .online(jid) {
                try await client.send(Message(to: try JID("juliet@localhost"), body: "still here"))
            } else {
                #expect(await client.state == .stopped)
                #expect(await client.stream == nil)
            }
        }
        await client.stop()
        #expect(await client.state == .stopped)
        await server.stop()
    }

    @Test("waiting for the client can be called off; the client goes on")
    func impatient() async throws {
        let server = try await LoopbackServer.start(accounts: ["juliet": "secret"])
        await server.planNextConnection([.stall(afterBytes: 10)])
        let client = XMPPClient(try await server.configuration(for: "juliet"), reconnect: patience)
        let wait = Task { try await client.start() }
        _ = try? await server.firstRecord(within: .milliseconds(200)) { _ in false }
        wait.cancel()
        let error = await #expect(throws: XMPPError.self) { try await wait.value }
        #expect(error?.code == .cancelled)
        #expect(await client.state == .connecting)
        await client.stop()
        await server.stop()
    }

    @Test("a presence set without a session is the one that the next session begins with")
    func presenceBefore() async throws {
        let server = try await LoopbackServer.start(accounts: ["juliet": "secret"])
        let client = XMPPClient(try await server.configuration(for: "juliet"), reconnect: patience)
        try await client.setPresence(Presence(show: .dnd))
        try await client.start()
        let presence = try await server.firstElement(from: "juliet") { $0.localName == "presence" }
        #expect(try Presence(presence).show == .dnd)
        await client.stop()
        await server.stop()
    }

    @Test("the sequences of a client that was never started end when nobody refers to it")
    func released() async throws {
        let events = XMPPClient(XMPPConfiguration(jid: try JID("juliet@localhost"), password: "secret")).events
        for try await _ in events { Issue.record("nothing can have happened") }
    }
}
