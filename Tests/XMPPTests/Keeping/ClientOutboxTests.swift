// SPDX-License-Identifier: Apache-2.0

import SocketIO
import Testing
import XMPP
import XMPPStorage
import XMPPTestSupport

/// An outbox with a message that it should not have taken, and that it does not let go of.
private struct StubbornOutbox: Outbox {
    let message: Message
    let notes = Locked<[DeliveryState]>([])

    func add(_ message: Message, of account: JID, expires: DateTime?) async throws -> OutboxEntry {
        throw OutboxError.anonymous
    }
    func waiting(of account: JID, passingOver addressees: Set<JID>, limit: Int) async throws -> [OutboxEntry] {
        [OutboxEntry(message: message, queuedAt: DateTime(millisecondsSinceEpoch: 0))]
    }
    func uncertain(of account: JID) async throws -> [OutboxEntry] { [] }
    func unreflected(of account: JID) async throws -> [OutboxEntry] { [] }
    func entry(_ id: String, to recipient: JID, of account: JID) async throws -> OutboxEntry? { nil }
    func entries(_ id: String, of account: JID) async throws -> [OutboxEntry] { [] }
    func latest(of account: JID, limit: Int) async throws -> [OutboxKey] { [] }
    func changes() -> AsyncStream<Void> { AsyncStream { $0.finish() } }
    func note(
        _ state: DeliveryState, of id: String, to recipient: JID, of account: JID, because reason: String?
    ) async throws -> OutboxEntry? {
        notes.withLock { $0.append(state) }
        return nil
    }
    func resolve(_ id: String, to recipient: JID, of account: JID, isAtServer: Bool?) async throws {}
}

@Suite("An outbox that a client sends from", .timeLimit(.minutes(5)))
struct ClientOutboxTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func scene() async throws -> (LoopbackServer, XMPPClient, DurableOutbox, JID) {
        let server = try await verona { $0.resumption = .kept(for: .seconds(60)) }
        let database = try await Database(at: folder.file("outbox/store.db"))
        let client = XMPPClient(
            try await server.configuration(for: "romeo", resource: "orchard"),
            store: DurableStreamStateStore(database))
        return (server, client, DurableOutbox(database), try JID("romeo@example.net"))
    }

    private func message(_ id: String) throws -> Message {
        Message(to: try JID("juliet@example.net/balcony"), body: id, id: id)
    }

    @Test("What waits is sent in order, once, however many ask for it, and is at the server when that says so")
    func order() async throws {
        let (server, client, outbox, romeo) = try await scene()
        let ids = (0..<30).map(String.init)
        for id in ids { _ = try await outbox.add(message(id), of: romeo, expires: nil) }
        try await client.start()
        let counts = try await withThrowingTaskGroup(returning: [Int].self) { group in
            for _ in 0..<4 { group.addTask { try await client.sendWaiting(in: outbox) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(counts.sorted() == [0, 0, 0, 30])
        try await client.waitUntilHandled()
        #expect(try await server.stanzas(for: "juliet").compactMap { $0["id"] } == ids)
        await client.stop()
        let juliet = try JID("juliet@example.net/balcony")
        #expect(try await outbox.entry("29", to: juliet, of: romeo)?.state == .server)
        await server.stop()
    }

    @Test("Without a session all goes on waiting, and is sent in the next")
    func offline() async throws {
        let (server, client, outbox, romeo) = try await scene()
        _ = try await outbox.add(message("waits"), of: romeo, expires: nil)
        await #expect(throws: XMPPError.self) { try await client.sendWaiting(in: outbox) }
        #expect(try await outbox.waiting(of: romeo, limit: 9).map(\.message.id) == ["waits"])
        try await client.start()
        #expect(try await client.sendWaiting(in: outbox) == 1)
        #expect(try await outbox.waiting(of: romeo, limit: 9).isEmpty)
        await client.stop()
        await server.stop()
    }

    @Test("A message without id has failed, and one that the outbox does not let go of is sent once")
    func stubborn() async throws {
        let (server, client, _, _) = try await scene()
        try await client.start()
        let juliet = try JID("juliet@example.net/balcony")
        let nameless = StubbornOutbox(message: Message(to: juliet, body: "x"))
        await #expect(throws: XMPPError.self) { try await client.sendWaiting(in: nameless) }
        #expect(nameless.notes.withLock { $0 } == [.failed])
        let kept = StubbornOutbox(message: try message("one"))
        await #expect(throws: XMPPError.self) { try await client.sendWaiting(in: kept) }
        try await client.waitUntilHandled()
        #expect(try await server.stanzas(for: "juliet").compactMap { $0["id"] } == ["one"])
        await client.stop()
        await server.stop()
    }

    @Test(
        "Beside a store that is not told of every step, a message is noted when the server has it, and waits until then"
    )
    func withoutProgress() async throws {
        let server = try await verona { $0.resumption = .kept(for: .seconds(60)) }
        let outbox = DurableOutbox(try await Database(at: folder.file("outbox/store.db")))
        let client = XMPPClient(try await server.configuration(for: "romeo", resource: "orchard"))
        let romeo = try JID("romeo@example.net")
        for id in ["1", "2"] { _ = try await outbox.add(message(id), of: romeo, expires: nil) }
        try await client.start()
        #expect(try await client.sendWaiting(in: outbox) == 2)
        for id in ["1", "2"] {
            #expect(
                try await outbox.entry(id, to: JID("juliet@example.net/balcony"), of: romeo)?.state == .server)
        }
        await client.stop()
        await server.stop()
    }
}
