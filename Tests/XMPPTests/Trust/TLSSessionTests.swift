// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPTestSupport

@testable import XMPP

@Suite("Streams that resume the TLS session of the one before", .timeLimit(.minutes(5)))
struct TLSSessionTests {
    /// Logs in and out again.
    private func login(_ configuration: XMPPConfiguration) async throws -> (isResumed: Bool?, binding: String?) {
        let stream = XMPPStream(configuration)
        try await stream.connect()
        // What the server sends behind the handshake has come with it.
        try await stream.ping()
        let result = await (stream.security?.isResumed, stream.channelBinding)
        await stream.disconnect()
        return result
    }

    @Test("the second login resumes, and is bound to its own channel (RFC 9266)", arguments: [false, true])
    func second(directTLS: Bool) async throws {
        let server = try await verona { $0 = .modern }
        var configuration = try await server.configuration(for: "romeo", directTLS: directTLS)
        configuration.usesTokens = false
        #expect(try await login(configuration) == (false, "tls-exporter"))
        for _ in 0..<2 { #expect(try await login(configuration) == (true, "tls-exporter")) }
        configuration.resumesTLS = false
        #expect(try await login(configuration) == (false, "tls-exporter"))
        await server.stop()
    }

    @Test("so does one over a WebSocket, and one whose server is known by its key")
    func others() async throws {
        let server = try await verona()
        let webSocket = try await server.webSocketConfiguration(for: "romeo")
        #expect(try await login(webSocket).isResumed == false)
        #expect(try await login(webSocket).isResumed == true)
        var pinned = try await server.configuration(for: "romeo")
        let stream = XMPPStream(pinned)
        try await stream.connect()
        pinned.trust = .keys([try #require(await stream.security?.keyFingerprint)])
        await stream.disconnect()
        #expect(try await login(pinned).isResumed == false, "another trust is another session")
        #expect(try await login(pinned).isResumed == true)
        await server.stop()
    }

    @Test("after a login that failed the next handshake is a whole one")
    func failure() async throws {
        let server = try await verona()
        let configuration = try await server.configuration(for: "romeo")
        _ = try await login(configuration)
        var wrong = configuration
        wrong.password = "wrong"
        await #expect(throws: XMPPError.self) { _ = try await login(wrong) }
        #expect(try await login(configuration).isResumed == false)
        #expect(try await login(configuration).isResumed == true)
        await server.stop()
    }

    @Test(
        "a server that takes offence at a session of before is met again at once, without one",
        arguments: [true, false])
    func offence(isKnown: Bool) async throws {
        let server = try await verona()
        let configuration = try await server.configuration(for: "romeo", directTLS: true)
        if isKnown { _ = try await login(configuration) }
        let before = await server.acceptedConnections
        await server.planNextConnection([.cut(afterBytes: 100)])
        if isKnown {
            #expect(try await login(configuration).isResumed == false)
            #expect(await server.acceptedConnections == before + 2)
        } else {
            await #expect(throws: XMPPError.self) { _ = try await login(configuration) }
            #expect(
                await server.acceptedConnections == before + 1, "nothing was offered that could have been the reason")
        }
        await server.stop()
    }

    @Test("a connection that is lost without a goodbye is resumed at once by the next one")
    func lost() async throws {
        let server = try await verona()
        let configuration = try await server.configuration(for: "romeo")
        let stream = XMPPStream(configuration)
        try await stream.connect()
        try await stream.ping()
        await stream.cut()
        #expect(try await login(configuration).isResumed == true)
        await server.stop()
    }

    // ejabberd gives no tickets.
    @Test("real servers resume where they are told to, and logins are bound as before", arguments: ServerKind.expected)
    func real(kind: ServerKind) async throws {
        let server = try await kind.start(accounts: ["romeo": "orchard"])
        let configuration = try server.configuration(for: "romeo")
        let first = try await login(configuration)
        let second = try await login(configuration)
        #expect(first.isResumed == false && second.isResumed == (kind == .prosody))
        #expect(first.binding == second.binding)
        await server.stop()
    }
}
