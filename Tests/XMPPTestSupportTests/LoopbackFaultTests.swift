// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPP
import XMPPTestSupport

@Suite("LoopbackServer with faults")
struct LoopbackFaultTests {
    private func server() async throws -> LoopbackServer {
        try await LoopbackServer.start(domain: "example.org", accounts: ["juliet": "balcony"])
    }

    @Test(
        "delivers everything in pieces of any size, below and inside TLS",
        arguments: [1, 7, 1_000], LoopbackFault.Layer.allCases)
    func slices(size: Int, layer: LoopbackFault.Layer) async throws {
        let server = try await server()
        await server.planNextConnection([.slice(bytes: size)], on: layer)
        let stream = XMPPStream(try await server.configuration(for: "juliet"))
        try await stream.connect()
        await stream.disconnect()
        await server.stop()
    }

    @Test(
        "cuts the connection at any byte of the opening, and the client notices",
        arguments: [0, 1, 100, 400, 700, 1_500], [LoopbackFault.Ending.close, .reset])
    func cuts(count: Int, ending: LoopbackFault.Ending) async throws {
        let server = try await server()
        await server.planNextConnection([.cut(afterBytes: count, .toClient, ending)])
        let stream = XMPPStream(try await server.configuration(for: "juliet"))
        await #expect(throws: XMPPError.self) { try await stream.connect() }
        await server.stop()
    }

    @Test("cuts the client's bytes too")
    func cutsClient() async throws {
        let server = try await server()
        await server.planNextConnection([.cut(afterBytes: 300, .fromClient, .reset)])
        let stream = XMPPStream(try await server.configuration(for: "juliet"))
        await #expect(throws: XMPPError.self) { try await stream.connect() }
        await server.stop()
    }

    @Test("stalls, so that the client runs into its own time-out")
    func stalls() async throws {
        let server = try await server()
        await server.planNextConnection([.stall(afterBytes: 200)], on: .stream)
        var configuration = try await server.configuration(for: "juliet")
        configuration.timeouts.negotiation = .milliseconds(300)
        let stream = XMPPStream(configuration)
        let error = await #expect(throws: XMPPError.self) { try await stream.connect() }
        #expect(error?.code == .timedOut)
        await server.stop()
    }

    @Test("a plan is for one connection: the next is whole again")
    func plansOnce() async throws {
        let server = try await server()
        await server.planNextConnection([.cut(afterBytes: 0)])
        let first = XMPPStream(try await server.configuration(for: "juliet"))
        await #expect(throws: XMPPError.self) { try await first.connect() }
        let second = XMPPStream(try await server.configuration(for: "juliet"))
        try await second.connect()
        await second.disconnect()
        await server.stop()
    }

    @Test("ends streams with an error of the test's choice (RFC 6120 §4.9)")
    func endsStreams() async throws {
        let server = try await server()
        let stream = XMPPStream(try await server.configuration(for: "juliet"))
        var events = stream.events.makeAsyncIterator()
        try await stream.connect()
        await server.endStreams(of: "juliet", with: StreamError(.resourceConstraint))
        var end: XMPPError??
        while end == nil, let event = try await events.next() {
            if case .disconnected(let error) = event { end = .some(error) }
        }
        #expect((end ?? nil)?.streamError?.condition == .resourceConstraint)
        await server.stop()
    }

    @Test("refuses every log-in with the failure of the test's choice (RFC 6120 §6.5)")
    func refusesAuthentication() async throws {
        let server = try await server()
        await server.changeOptions { $0.authenticationFailure = .accountDisabled }
        let stream = XMPPStream(try await server.configuration(for: "juliet"))
        let error = await #expect(throws: XMPPError.self) { try await stream.connect() }
        #expect(error?.saslFailure?.condition == .accountDisabled)
        await server.stop()
    }
}
