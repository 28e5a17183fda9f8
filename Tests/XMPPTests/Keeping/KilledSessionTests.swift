// SPDX-License-Identifier: Apache-2.0

import SocketIO
import Testing
import XMPP
import XMPPProtocol
import XMPPTestSupport

@testable import XMPPStorage

/// A process that is killed at every step that it keeps, and the one after it that goes on with its session.
@Suite("A killed process loses nothing and doubles nothing", .timeLimit(.minutes(10)))
struct KilledSessionTests {
    private static let messages = 4

    struct Tally: Equatable, Sendable {
        var kills = 0
        var lost = 0
        /// What the other side got twice.
        var doubled = 0
        /// What was kept twice of what the other side sent.
        var keptTwice = 0
        var resumed = 0
    }

    /// How the server takes a session up, whether it has an archive, and what may come twice then: where a session is
    /// gone, the server sends again what was not acknowledged, and only an archive gives it a name to be known by.
    struct Case: Sendable, CustomTestStringConvertible {
        var resumption: LoopbackOptions.Resumption
        var hasArchive = false
        var mayDouble = false
        var mayKeepTwice = false
        var testDescription: String { "\(resumption)\(hasArchive ? ", with an archive" : "")" }
    }

    @Test(
        "What was reported as sent arrives once, what arrived is kept once, wherever the process was killed",
        arguments: [
            Case(resumption: .kept(for: .seconds(60))), Case(resumption: .refusedWithCount, mayKeepTwice: true),
            Case(resumption: .refused, hasArchive: true),
            Case(resumption: .refused, mayDouble: true, mayKeepTwice: true),
        ])
    func sweep(_ test: Case) async throws {
        var options = LoopbackOptions()
        options.mechanisms = ["PLAIN"]
        options.resumption = test.resumption
        options.offersArchive = test.hasArchive
        options.requestsAcknowledgementEvery = 2
        let server = try await LoopbackServer.start(
            domain: "example.net", accounts: ["romeo": "secret"], options: options)
        try await server.add(LoopbackBuddy("juliet", resource: "balcony"))
        var tally = Tally()
        for call in 1... {
            var hasDied = false
            for isAfterCommit in [false, true] {
                let death = MortalStore.Death(call: call, isAfterCommit: isAfterCommit)
                let before = tally
                let run = KilledRun(server, name: "\(call)-\(isAfterCommit)", messages: Self.messages)
                hasDied = try await run.run(death, &tally)
                if tally.lost > before.lost || tally.doubled > before.doubled && !test.mayDouble
                    || tally.keptTwice > before.keptTwice && !test.mayKeepTwice
                {
                    Issue.record("killed \(death.testDescription): \(tally)")
                }
            }
            if !hasDied { break }
        }
        print(
            "\(test.testDescription): kills \(tally.kills) lost \(tally.lost) doubled \(tally.doubled + tally.keptTwice)"
        )
        #expect(tally.kills > 10)
        #expect(tally.lost == 0)
        if !test.mayDouble { #expect(tally.doubled == 0) }
        if !test.mayKeepTwice { #expect(tally.keptTwice == 0) }
        if case .kept = test.resumption { #expect(tally.resumed > tally.kills / 2) }
        await server.stop()
    }
}

/// One process that is killed, and the next.
private struct KilledRun {
    private static let patience = ReconnectPolicy(firstDelay: .milliseconds(1), minimumDelay: .milliseconds(1))

    private static let executor = StreamExecutor(label: "killed run")

    let server: LoopbackServer
    let name: String
    let ids: [String]
    let fixture: TemporaryFolder

    init(_ server: LoopbackServer, name: String, messages: Int) {
        self.server = server
        self.name = name
        ids = (1...messages).map { "\(name)-\($0)" }
        guard let folder = try? TemporaryFolder(prefix: "swift-xmpp-killed") else { preconditionFailure("no folder") }
        fixture = folder
    }

    /// - Returns: Whether the process lived long enough to be killed.
    func run(_ death: MortalStore.Death, _ tally: inout KilledSessionTests.Tally) async throws -> Bool {
        let reported = Locked<[String]>([])
        let (commits, commit) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let store = MortalStore(try await durableStore(commit), death)
        let first = try await client(store)
        let juliet = try JID("juliet@example.net/balcony")
        let life = Task {
            try? await Patience.wait(for: "the first run to be online") { (try? await first.start()) != nil }
            for id in ids where !Task.isCancelled {
                guard (try? await first.send(Message(to: juliet, body: id, id: id))) != nil else { continue }
                reported.withLock { $0.append(id) }
            }
            await echoes(of: ids, commits)
        }
        let isDead = await store.dies(before: life)
        if isDead {
            tally.kills += 1
            await server.cutConnections(of: "romeo")
            let (commits, commit) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
            let second = try await client(MortalStore(try await durableStore(commit), nil))
            let timer = SystemClock().schedule(after: .seconds(10), on: Self.executor) { commit.finish() }
            try await Patience.wait(for: "the second run to be online") { (try? await second.start()) != nil }
            if await second.stream?.isResumed == true { tally.resumed += 1 }
            await echoes(of: reported.withLock { $0 }, commits)
            timer.cancel()
            await second.stop()
        }
        // The dead must not rise: the client ends before its store lets go of it.
        life.cancel()
        async let end: Void = first.stop()
        store.bury()
        await end
        await life.value
        let sent = try await server.stanzas(for: "juliet").compactMap { $0["id"] }.filter { $0.hasPrefix("\(name)-") }
        try await count(sent, reported.withLock { $0 }, &tally)
        return isDead
    }

    /// What arrived at the other side, and what of that came back and was kept.
    private func count(
        _ sent: [String], _ reported: [String], _ tally: inout KilledSessionTests.Tally
    ) async throws {
        tally.lost += reported.count { !sent.contains($0) }
        tally.doubled += sent.count - Set(sent).count
        let database = try await Database(at: fixture.file("store.db"))
        let kept = try await EventJournal(database).events(after: 0).events
            .map { String(decoding: $0.bytes, as: UTF8.self) }.filter { $0.hasPrefix("echo-\(name)-") }
        await database.close()
        tally.lost += Set(sent).count { !kept.contains("echo-\($0)") }
        tally.keptTwice += kept.count - Set(kept).count
    }

    private func durableStore(_ commit: AsyncStream<Void>.Continuation) async throws -> DurableStreamStateStore {
        let database = try await Database(at: fixture.file("store.db"))
        let journal = EventJournal(database)
        return DurableStreamStateStore(
            database,
            arrived: { connection, account, stanzas throws(StorageError) in
                for message in stanzas.compactMap({ try? Message($0) }) {
                    let name = message.payload("stanza-id", namespace: "urn:xmpp:sid:0")?["id"]
                    let entry = ArchivedMessage(
                        message: message, peer: message.from ?? account, isOutgoing: false, at: .now,
                        archiveID: name.map { ArchivedMessage.Name(by: account, id: $0) })
                    guard try MessageArchive.add([entry], of: account, on: connection) > 0 else { continue }
                    try journal.append([Array((message.id ?? "").utf8)], on: connection)
                }
            }, committed: { commit.yield() })
    }

    private func client(_ store: MortalStore) async throws -> XMPPClient {
        XMPPClient(
            try await server.configuration(for: "romeo", resource: "orchard", directTLS: true),
            reconnect: Self.patience, store: store)
    }

    /// Waits until what was sent has come back and was acknowledged, or until nothing more is to be expected.
    private func echoes(of ids: [String], _ commits: AsyncStream<Void>) async {
        guard let database = try? await Database(at: fixture.file("store.db")) else { return }
        let wanted = Set(ids.map { "echo-\($0)" })
        for await _ in commits {
            let kept = (try? await EventJournal(database).events(after: 0))?.events ?? []
            let state = try? await DurableStreamStateStore(database).state(of: JID("romeo@example.net"))
            if Set(kept.map { String(decoding: $0.bytes, as: UTF8.self) }).isSuperset(of: wanted),
                state?.unacknowledged.isEmpty != false
            {
                break
            }
        }
        await database.close()
    }
}
