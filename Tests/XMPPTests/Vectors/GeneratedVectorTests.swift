// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPCore
import XMPPProtocol
import XMPPXML

@testable import XMPP

@Suite("Floods at some point of a session, in sizes that a test can afford", .serialized)
struct GeneratedVectorTests {
    private func start(_ row: GeneratedRow) throws -> MachineRun {
        try MachineRun.at(VectorRow(file: row.id, phase: row.phase, state: "auth SCRAM-SHA-1 sent", outcomes: []))
    }

    @Test("features larger than 16 KiB are refused before TLS")
    func features() throws {
        let row = try GeneratedRow.named("g-preauth-64k")
        let run = try start(row).reading(row.pieces(maximumUnits: .max), bringsHeader: true)
        guard case .violation(let error)? = run.outcome.end else {
            Issue.record("\(run.outcome)")
            return
        }
        #expect(error.condition == .policyViolation)
        #expect(run.outcome.sent == [error.element, nil])
    }

    @Test("a challenge of 64 KiB ends the exchange")
    func challenge() throws {
        let row = try GeneratedRow.named("g-sasl-challenge-64k")
        let run = try start(row).reading(row.pieces(maximumUnits: .max), bringsHeader: false)
        #expect(run.outcome.end != nil && !run.outcome.sentCredentials)
    }

    @Test("a challenge past 8 KiB ends the exchange, though the parser would take it", arguments: [2_731, 4_000])
    func challengeUnderParserLimit(units: Int) throws {
        let row = try GeneratedRow.named("g-sasl-challenge-64k")
        let run = try start(row).reading(row.pieces(maximumUnits: units), bringsHeader: false)
        guard case .serverNotAuthenticated(let reason, _)? = run.outcome.end else {
            Issue.record("\(run.outcome)")
            return
        }
        #expect(reason.contains("8192"), "the limit is named: \(reason)")
        #expect(!run.outcome.sentCredentials)
    }

    @Test("a header that never ends meets the deadline of the negotiation")
    func slowHeader() throws {
        let row = try GeneratedRow.named("g-slow-header")
        let bytes = Array((row.prefix + row.unit).utf8)
        var run = try start(row).reading(bytes.dropLast().indices.map { bytes[$0...$0] }, bringsHeader: true)
        #expect(run.outcome.end == nil)
        run.fire(.negotiation)
        #expect(run.outcome.end == .timedOut(.negotiation))
    }

    @Test("white space is passed over and kept nowhere")
    func whitespace() async throws {
        let row = try GeneratedRow.named("g-whitespace-100mb")
        let session = try await SessionRun()
        let outcome = await session.receive(row.pieces(maximumUnits: 2_000_000))
        #expect(outcome.isOnline && outcome.sent.isEmpty && outcome.handled == 0)
        #expect(await session.stream.bytesKept == 0)
        await session.end()
    }

    @Test("a flood of messages arrives whole, in order, and is counted")
    func messages() async throws {
        let row = try GeneratedRow.named("g-messages-10000")
        let session = try await SessionRun()
        let outcome = await session.receive(row.pieces(maximumUnits: 2_000))
        #expect(outcome.messages.map(\.body) == (0..<2_000).map { "m\($0)" })
        #expect(outcome.handled == 2_000 && outcome.isOnline)
        await session.end()
    }

    @Test("a sequence that nobody reads ends with an error, and the session goes on", .timeLimit(.minutes(5)))
    func stalledReader() async throws {
        let row = try GeneratedRow.named("g-messages-10000-stalled-reader")
        let session = try await SessionRun()
        let stalled = session.stream.events(limit: 100)
        let outcome = await session.receive(row.pieces(maximumUnits: 1_000))
        #expect(outcome.messages.count == 1_000 && outcome.isOnline)
        var read = 0
        await #expect(throws: XMPPError.self) {
            for try await _ in stalled { read += 1 }
        }
        #expect(read <= 100)
        #expect(await session.receive("<message><body>on</body></message>").messages.last?.body == "on")
        await session.end()
    }

    @Test("each request of a flood is answered once")
    func requests() async throws {
        let row = try GeneratedRow.named("g-iq-gets-10000")
        let session = try await SessionRun()
        let outcome = await session.receive(row.pieces(maximumUnits: 1_000))
        let answers = outcome.sent.filter { $0.localName == "iq" }
        #expect(answers.compactMap { $0["id"] } == (0..<1_000).map(String.init))
        await session.end()
    }

    @Test("presence of strangers is not kept")
    func presences() async throws {
        let row = try GeneratedRow.named("g-presence-100000")
        let session = try await SessionRun()
        let outcome = await session.receive(row.pieces(maximumUnits: 2_000))
        #expect(outcome.isOnline && outcome.buddies.isEmpty && outcome.sent.isEmpty)
        await session.end()
    }

    @Test("a contact has a bounded number of resources, and nobody is asked what they can do")
    func capabilities() async throws {
        let row = try GeneratedRow.named("g-caps-10000")
        let session = try await SessionRun()
        let outcome = await session.receive(row.pieces(maximumUnits: 1_000))
        #expect(outcome.buddies["juliet@example.com"]?.count == PresenceTracker.maximumResources)
        #expect(outcome.sent.isEmpty && outcome.isOnline)
        await session.end()
    }

    @Test("subscription requests are kept up to a limit and answered by nobody")
    func subscriptions() async throws {
        let row = try GeneratedRow.named("g-subscribe-10000")
        let session = try await SessionRun()
        let roster = RosterStore()
        let count = RosterStore.maximumSubscriptionRequests + 200
        let outcome = await session.receive(row.pieces(maximumUnits: count))
        for jid in outcome.subscriptionRequests {
            var request = Presence(.subscribe)
            request.from = jid
            await roster.stream(session.stream, didReceiveSubscriptionRequest: request)
        }
        #expect(outcome.subscriptionRequests.count == count && outcome.sent.isEmpty)
        #expect(roster.subscriptionRequests.count == RosterStore.maximumSubscriptionRequests)
        await session.end()
    }

    @Test("a stanza byte by byte is one stanza")
    func slowStanza() async throws {
        let row = try GeneratedRow.named("g-slowloris")
        let bytes = Array((row.prefix + row.unit).utf8)
        let session = try await SessionRun()
        #expect(await session.receive(bytes.dropLast().indices.map { bytes[$0...$0] }).messages.isEmpty)
        #expect(await session.receive([bytes[(bytes.count - 1)...]]).messages.count == 1)
        await session.end()
    }
}

extension XMPPStream {
    /// Bytes that the parser keeps.
    fileprivate var bytesKept: Int { parser.bufferedBytes }
}
