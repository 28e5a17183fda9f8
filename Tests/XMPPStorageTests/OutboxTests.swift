// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPCore
import XMPPProtocol
import XMPPTestSupport

@testable import XMPPStorage

@Suite("A durable outbox", .timeLimit(.minutes(5)))
struct OutboxTests {
    private let fixture: StorageFixture

    init() throws {
        fixture = try StorageFixture()
    }

    private func outbox() async throws -> DurableOutbox {
        DurableOutbox(try await fixture.open())
    }

    private func waiting(_ outbox: DurableOutbox) async throws -> [String?] {
        try await outbox.waiting(of: fixture.romeo, limit: 100).map(\.message.id)
    }

    @Test("Messages wait in the order in which they came, also for another process")
    func order() async throws {
        let first = try await outbox()
        for id in ["b", "a", "c"] { _ = try await first.add(fixture.message(id), of: fixture.romeo, expires: nil) }
        _ = try await first.add(fixture.message("z"), of: fixture.juliet, expires: nil)
        #expect(try await waiting(outbox()) == ["b", "a", "c"])
        #expect(try await first.waiting(of: fixture.romeo, limit: 2).map(\.message.id) == ["b", "a"])
    }

    @Test("The same id to the same addressee is one message, whatever it says the second time")
    func once() async throws {
        let outbox = try await outbox()
        let first = try await outbox.add(fixture.message("one", id: "id"), of: fixture.romeo, expires: nil)
        let again = try await outbox.add(fixture.message("two", id: "id"), of: fixture.romeo, expires: nil)
        #expect(again.message.body == "one")
        #expect(again.queuedAt == first.queuedAt)
        _ = try await outbox.add(
            fixture.message("three", id: "id", to: "nurse@example.net"), of: fixture.romeo, expires: nil)
        #expect(try await waiting(outbox) == ["id", "id"])
    }

    @Test("A message without id or addressee is refused")
    func anonymous() async throws {
        let outbox = try await outbox()
        for message in [Message(to: fixture.juliet, body: "x"), Message(to: nil, body: "x", id: "x")] {
            await #expect(throws: OutboxError.anonymous) {
                try await outbox.add(message, of: fixture.romeo, expires: nil)
            }
        }
    }

    @Test("A message whose time has run out is not sent any more")
    func expiry() async throws {
        let outbox = try await outbox()
        let now = DateTime.now.millisecondsSinceEpoch
        _ = try await outbox.add(
            fixture.message("late"), of: fixture.romeo, expires: DateTime(millisecondsSinceEpoch: now - 1))
        _ = try await outbox.add(
            fixture.message("in time"), of: fixture.romeo, expires: DateTime(millisecondsSinceEpoch: now + 3_600_000))
        #expect(try await waiting(outbox) == ["in time"])
        #expect(try await outbox.entry("late", to: fixture.juliet, of: fixture.romeo)?.state == .expired)
    }

    @Test("News that do not lead on change nothing; a late receipt overrules an error")
    func states() async throws {
        let outbox = try await outbox()
        _ = try await outbox.add(fixture.message("m"), of: fixture.romeo, expires: nil)
        func note(_ state: DeliveryState, _ reason: String? = nil) async throws -> OutboxEntry? {
            try await outbox.note(state, of: "m", to: fixture.juliet, of: fixture.romeo, because: reason)
        }
        #expect(try await note(.server)?.state == .server)
        #expect(try await note(.sent)?.state == .server)
        #expect(try await note(.failed, "gone")?.reason == "gone")
        #expect(try await note(.device)?.state == .device)
        #expect(try await note(.failed)?.state == .device)
        #expect(try await note(.read)?.state == .read)
        #expect(
            try await outbox.note(.server, of: "?", to: fixture.juliet, of: fixture.romeo, because: nil) == nil)
    }

    @Test(
        "Messages with an id are found whoever they go to; the latest are known by id and addressee, the newest first")
    func latest() async throws {
        let outbox = try await outbox()
        for (id, to) in [("a", "juliet@example.net"), ("b", "juliet@example.net"), ("a", "nurse@example.net")] {
            _ = try await outbox.add(fixture.message(id, to: to), of: fixture.romeo, expires: nil)
        }
        _ = try await outbox.add(fixture.message("z"), of: fixture.juliet, expires: nil)
        let nurse = try JID("nurse@example.net")
        #expect(try await outbox.entries("a", of: fixture.romeo).map(\.message.to) == [fixture.juliet, nurse])
        #expect(
            try await outbox.latest(of: fixture.romeo, limit: 2)
                == [OutboxKey(id: "a", recipient: nurse), OutboxKey(id: "b", recipient: fixture.juliet)])
    }

    @Test("Who listens hears of each transaction, and of the end")
    func changes() async throws {
        let database = try await fixture.open()
        let outbox = DurableOutbox(database)
        var changes = outbox.changes().makeAsyncIterator()
        _ = try await outbox.add(fixture.message("m"), of: fixture.romeo, expires: nil)
        #expect(await changes.next() != nil)
        await database.close()
        #expect(await changes.next() == nil)
    }

    @Test("A doubt is resolved once: the message waits again, or is at the server", arguments: [true, false])
    func doubt(_ isAtServer: Bool) async throws {
        let database = try await fixture.open()
        let outbox = DurableOutbox(database)
        let store = DurableStreamStateStore(database)
        let message = try fixture.message("m")
        _ = try await outbox.add(message, of: fixture.romeo, expires: nil)
        let state = StreamState(jid: try JID("romeo@example.net/o"), id: "s")
        try await store.keep(
            [.began(state), .sent([UnacknowledgedStanza(message.element)]), .began(state)], of: fixture.romeo)
        #expect(try await waiting(outbox) == [])
        for _ in 0..<2 {
            try await outbox.resolve("m", to: fixture.juliet, of: fixture.romeo, isAtServer: isAtServer)
            let entry = try await outbox.entry("m", to: fixture.juliet, of: fixture.romeo)
            #expect(entry?.state == (isAtServer ? .server : .queued))
            #expect(entry?.isUncertain == false)
        }
    }

    @Test("At most so many messages wait, a known one is still known, and there is room again afterwards")
    func full() async throws {
        let database = try await fixture.open()
        let answers = try await database.write { connection throws(StorageError) -> [Bool] in
            let table = OutboxTable(connection, fixture.romeo)
            var answers: [Bool] = []
            for id in ["a", "b", "c"] {
                answers.append(try table.isFull(2))
                _ = try table.add(
                    Message(to: fixture.juliet, body: "x", id: id), id, fixture.juliet.description, expires: nil)
            }
            answers.append(try table.isFull(3))
            try table.set(.server, "b", fixture.juliet.description, reason: nil)
            answers.append(try table.isFull(3))
            return answers
        }
        #expect(answers == [false, false, true, true, false])
    }

    @Test("What became of old messages is forgotten; those that wait or are under way never are")
    func pruned() async throws {
        let database = try await fixture.open()
        let left = try await database.write { connection throws(StorageError) -> [String?] in
            let table = OutboxTable(connection, fixture.romeo)
            for (id, state) in [
                ("a", DeliveryState.queued), ("b", .server), ("c", .sent), ("d", .read), ("e", .failed),
            ] {
                _ = try table.add(
                    Message(to: fixture.juliet, body: "x", id: id), id, fixture.juliet.description, expires: nil)
                try table.set(state, id, fixture.juliet.description, reason: nil)
            }
            try table.prune(keeping: 2)
            return try connection.rows("SELECT id FROM outbox ORDER BY place") { $0.text(0) }
        }
        #expect(left == ["a", "c", "d", "e"])
    }
}

@Suite("How far a message has come")
struct DeliveryStateTests {
    @Test(
        "It goes forward only, and nothing overrules the addressee",
        arguments: [
            (DeliveryState.queued, [DeliveryState.sent, .server, .device, .read, .failed, .expired]),
            (.sent, [.server, .device, .read, .failed]), (.server, [.device, .read, .failed]), (.device, [.read]),
            (.read, []), (.failed, [.device, .read]), (.expired, []),
        ])
    func leads(_ state: DeliveryState, _ news: [DeliveryState]) {
        #expect(DeliveryState.allCases.filter { state.leads(to: $0) } == news)
    }

    @Test("A level is reached by what lies behind it, not by an end without the addressee")
    func reaches() {
        #expect(DeliveryState.device.reaches(.server))
        #expect(DeliveryState.server.reaches(.server))
        #expect(!DeliveryState.sent.reaches(.server))
        #expect(!DeliveryState.failed.reaches(.queued))
        #expect(!DeliveryState.expired.reaches(.sent))
    }

    @Test("What became of messages is forgotten for every account, whoever adds the next one")
    func pruning() async throws {
        let fixture = try StorageFixture()
        let database = try await fixture.open()
        let outbox = DurableOutbox(database)
        for (account, other) in [(fixture.romeo, fixture.juliet), (fixture.juliet, fixture.romeo)] {
            for id in ["1", "2", "3"] {
                _ = try await outbox.add(
                    Message(to: other, body: id, id: id), of: account, expires: nil)
                try await outbox.note(.failed, of: id, to: other, of: account, because: nil)
            }
        }
        try await database.write { connection throws(StorageError) in
            try OutboxTable.pruneAll(connection, keeping: 1)
        }
        #expect(try await outbox.entry("1", to: fixture.juliet, of: fixture.romeo) == nil)
        #expect(try await outbox.entry("1", to: fixture.romeo, of: fixture.juliet) == nil)
        #expect(try await outbox.entry("3", to: fixture.romeo, of: fixture.juliet) != nil)
    }
}
