// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPP
import XMPPTestSupport

@Suite("A client that runs", .timeLimit(.minutes(1)))
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
}
