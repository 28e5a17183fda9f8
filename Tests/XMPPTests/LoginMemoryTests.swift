// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPTestSupport

@testable import XMPP

@Suite("What one login leaves for the next (XEP-0484, XEP-0474)", .timeLimit(.minutes(5)))
struct LoginMemoryTests {
    private func modern(_ change: (inout LoopbackOptions) -> Void = { _ in }) async throws -> LoopbackServer {
        try await verona { options in
            options = .modern
            change(&options)
        }
    }

    /// Logs in and out again.
    ///
    /// - Returns: The mechanism.
    private func login(_ configuration: XMPPConfiguration) async throws -> String? {
        let stream = XMPPStream(configuration)
        try await stream.connect()
        let mechanism = await stream.mechanism
        await stream.disconnect()
        return mechanism
    }

    private func memory(_ configuration: XMPPConfiguration) async throws -> LoginMemory {
        try #require(await configuration.loginMemory.memory(of: configuration.jid.bare))
    }

    @Test("a token is had for the password, counted before each use, and replaced (XEP-0484 §3)")
    func token() async throws {
        let server = try await modern()
        let configuration = try await server.configuration(for: "romeo")
        #expect(try await login(configuration) == "SCRAM-SHA-512-PLUS")
        let first = try #require(try await memory(configuration).token)
        #expect(first.mechanism.rawValue == "HT-SHA-256-EXPR" && first.count == 0)
        #expect(try await login(configuration) == "HT-SHA-256-EXPR")
        let second = try #require(try await memory(configuration).token)
        #expect(second.bytes != first.bytes && second.count == 0)
        await server.changeOptions { $0.rotatesTokens = false }
        #expect(try await login(configuration) == "HT-SHA-256-EXPR")
        #expect(try await login(configuration) == "HT-SHA-256-EXPR")
        let last = try #require(try await memory(configuration).token)
        #expect(last.bytes == second.bytes && last.count == 2, "the number rises with each login")
        await server.stop()
    }

    @Test("a token that the server has forgotten is given up for the password, on the same connection (XEP-0484 §4.1)")
    func revoked() async throws {
        let server = try await modern()
        let configuration = try await server.configuration(for: "romeo")
        _ = try await login(configuration)
        try await server.revokeTokens(of: "romeo")
        let old = try #require(try await memory(configuration).token)
        #expect(try await login(configuration) == "SCRAM-SHA-512-PLUS")
        #expect(try #require(try await memory(configuration).token).bytes != old.bytes)
        #expect(await server.transcript.map(\.connection).max() == 2)
        await server.stop()
    }

    @Test("a token that the server has ended is good for nobody, and no session ends with it (XEP-0484 §3.6)")
    func invalidated() async throws {
        let server = try await modern()
        let configuration = try await server.configuration(for: "romeo")
        let stream = XMPPStream(configuration)
        try await stream.connect()
        var kept = try await memory(configuration)
        // Not refused for a number that was used.
        kept.token?.count += 10
        #expect(try await XMPPStream.invalidateToken(configuration))
        #expect(try await memory(configuration).token == nil)
        #expect(try await !XMPPStream.invalidateToken(configuration), "there is none any more")
        try await stream.send(Presence())
        try await stream.waitUntilHandled()
        #expect(await stream.isEstablished, "the session goes on")
        await stream.forgetToken()
        await stream.disconnect()
        #expect(try await memory(configuration).token == nil)
        // Somebody has a copy.
        await configuration.loginMemory.save(kept, of: configuration.jid.bare)
        #expect(try await !XMPPStream.invalidateToken(configuration), "the server takes it no more")
        #expect(try await memory(configuration).token == nil)
        await configuration.loginMemory.save(kept, of: configuration.jid.bare)
        #expect(try await login(configuration) == "SCRAM-SHA-512-PLUS")
        await server.stop()
    }

    @Test("a token stays where the server cannot be told to end it")
    func untold() async throws {
        let server = try await modern()
        let configuration = try await server.configuration(for: "romeo")
        _ = try await login(configuration)
        await server.changeOptions { $0.offersTokens = false }
        await #expect {
            _ = try await XMPPStream.invalidateToken(configuration)
        } throws: {
            ($0 as? XMPPError)?.code == .noMechanism
        }
        #expect(try await memory(configuration).token != nil)
        await server.stop()
    }

    @Test("a token that has ended is not tried")
    func expired() async throws {
        let server = try await modern { $0.tokenLifetime = .seconds(-3_600) }
        let configuration = try await server.configuration(for: "romeo")
        _ = try await login(configuration)
        #expect(try await memory(configuration).token == nil)
        #expect(try await login(configuration) == "SCRAM-SHA-512-PLUS")
        await server.stop()
    }

    @Test("who wants no tokens gets none")
    func unwanted() async throws {
        let server = try await modern()
        var configuration = try await server.configuration(for: "romeo")
        configuration.usesTokens = false
        _ = try await login(configuration)
        #expect(try await memory(configuration).token == nil)
        await server.stop()
    }

    @Test("what an account has proven is not weakened silently: PLAIN after SCRAM, unbound after bound (XEP-0474)")
    func pinned() async throws {
        let server = try await modern { $0.offersTokens = false }
        var configuration = try await server.configuration(for: "romeo")
        #expect(try await login(configuration) == "SCRAM-SHA-512-PLUS")
        await server.changeOptions { $0.mechanisms = ["SCRAM-SHA-256", "PLAIN"] }
        await #expect {
            try await login(configuration)
        } throws: {
            guard let error = $0 as? XMPPError else { return false }
            return error.code == .channelBindingFailed && error.message.contains("not bound to the TLS channel")
        }
        configuration.allowsWeakerLogin = true
        #expect(try await login(configuration) == "SCRAM-SHA-256")
        configuration.allowsWeakerLogin = false
        await server.changeOptions { $0.mechanisms = ["PLAIN"] }
        await #expect {
            try await login(configuration)
        } throws: {
            guard let error = $0 as? XMPPError else { return false }
            return error.code == .noMechanism && error.message.contains("weaker than what this account used before")
        }
        await server.stop()
    }
}
