// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPTestSupport

@testable import XMPP

@Suite("Round trips from the open connection to the session", .timeLimit(.minutes(5)))
struct RoundTripTests {
    /// Logs in and out again.
    ///
    /// - Returns: The round trips that it took.
    private func login(_ configuration: XMPPConfiguration) async throws -> Int? {
        let stream = XMPPStream(configuration)
        try await stream.connect()
        try await stream.goOnline()
        let count = await stream.loginRoundTrips
        try await stream.waitUntilHandled()
        await stream.disconnect()
        return count
    }

    private func server(_ options: LoopbackOptions) async throws -> LoopbackServer {
        try await verona { $0 = options }
    }

    @Test("STARTTLS with SCRAM: eight at first, five when the server is known")
    func startTLS() async throws {
        let server = try await server(LoopbackOptions())
        let configuration = try await server.configuration(for: "romeo")
        #expect(try await login(configuration) == 8)
        #expect(try await login(configuration) == 5)
        await server.stop()
    }

    @Test("direct TLS with SASL2, Bind 2 and SCRAM: four at first, three when the server is known")
    func directTLS() async throws {
        let server = try await server(.modern)
        var configuration = try await server.configuration(for: "romeo", directTLS: true)
        configuration.usesTokens = false
        #expect(try await login(configuration) == 4)
        #expect(try await login(configuration) == 3)
        await server.stop()
    }

    @Test("with a token: two (XEP-0484)")
    func token() async throws {
        let server = try await server(.modern)
        let configuration = try await server.configuration(for: "romeo", directTLS: true)
        #expect(try await login(configuration) == 4)
        #expect(try await login(configuration) == 2)
        #expect(try await login(configuration) == 2)
        await server.stop()
    }

    @Test("a session that is resumed with a token: two (XEP-0198 §9.2)")
    func resumed() async throws {
        let server = try await server(.modern)
        let client = XMPPClient(
            try await server.configuration(for: "romeo", directTLS: true),
            reconnect: ReconnectPolicy(firstDelay: .milliseconds(1), minimumDelay: .milliseconds(1)))
        let recorder = Recorder()
        client.add(chatDelegate: recorder)
        try await client.start()
        await recorder.heard("online Juliet")
        await server.cutConnections(of: "romeo")
        await recorder.heard("resumed")
        #expect(await client.stream?.loginRoundTrips == 2)
        await client.stop()
        await server.stop()
    }

    @Test("who is told to wait for every offer does")
    func cautious() async throws {
        let server = try await server(LoopbackOptions())
        var configuration = try await server.configuration(for: "romeo")
        configuration.anticipatesFeatures = false
        #expect(try await login(configuration) == 8)
        #expect(try await login(configuration) == 8)
        await server.stop()
    }

    @Test(
        "a server that has changed in between is logged in to all the same, and known again the next time",
        arguments: [
            { @Sendable (options: inout LoopbackOptions) in options.mechanisms = ["SCRAM-SHA-256"] },
            { @Sendable options in options.mechanisms.insert("SCRAM-SHA-256-PLUS", at: 0) },
            { @Sendable options in options = .modern },
            { @Sendable options in options.offersStreamManagement = false },
            { @Sendable options in options.legacySession = .required },
        ])
    func changed(change: @escaping @Sendable (inout LoopbackOptions) -> Void) async throws {
        let server = try await server(LoopbackOptions())
        let configuration = try await server.configuration(for: "romeo")
        _ = try await login(configuration)
        await server.changeOptions(change)
        let stream = XMPPStream(configuration)
        try await stream.connect()
        #expect(await server.transcript.map(\.connection).max() == 3, "the second one was given up")
        await stream.disconnect()
        _ = try await login(configuration)
        #expect(await server.transcript.map(\.connection).max() == 4)
        await server.stop()
    }

    @Test("a server that names its configuration refuses an outdated login without a new connection (XEP-0509)")
    func configurationVersion() async throws {
        var options = LoopbackOptions.modern
        options.configurationVersion = "one"
        options.offersTokens = false
        let server = try await server(options)
        let configuration = try await server.configuration(for: "romeo", directTLS: true)
        #expect(try await login(configuration) == 4)
        #expect(try await login(configuration) == 3)
        await server.changeOptions { options in
            options.configurationVersion = "two"
            options.offersRosterVersioning = false
        }
        #expect(try await login(configuration) == 4)
        #expect(try await login(configuration) == 3)
        #expect(await server.transcript.map(\.connection).max() == 4)
        await server.stop()
    }

    @Test("a wrong password is tried once, also where the server is known")
    func wrongPassword() async throws {
        let server = try await server(LoopbackOptions())
        var configuration = try await server.configuration(for: "romeo")
        _ = try await login(configuration)
        configuration.password = "wrong"
        await #expect {
            try await login(configuration)
        } throws: {
            ($0 as? XMPPError)?.code == .authenticationRefused
        }
        #expect(await server.transcript.count { $0.element.localName == "auth" } == 2)
        await server.stop()
    }
}
