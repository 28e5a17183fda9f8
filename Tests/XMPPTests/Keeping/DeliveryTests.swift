// SPDX-License-Identifier: Apache-2.0

import SocketIO
import Testing
import XMPP
import XMPPStorage
import XMPPTestSupport

@Suite("Messages that are posted, and what becomes of them", .timeLimit(.minutes(5)))
struct DeliveryTests {
    private static let patience = ReconnectPolicy(
        firstDelay: .milliseconds(1), baseDelay: .milliseconds(1), minimumDelay: .milliseconds(1))

    private let romeo: JID
    private let juliet: JID
    private let folder: TemporaryFolder

    init() throws {
        romeo = try JID("romeo@example.net")
        juliet = try JID("juliet@example.net/balcony")
        folder = try TemporaryFolder()
    }

    private func scene(
        outbox: (any Outbox)? = nil, store: any StreamStateStore = InMemoryStreamStateStore(),
        _ change: (inout LoopbackOptions) -> Void = { $0.resumption = .kept(for: .seconds(60)) }
    ) async throws -> (server: LoopbackServer, client: XMPPClient) {
        let server = try await verona(change)
        return (server, try await client(server, outbox: outbox, store: store))
    }

    private func client(
        _ server: LoopbackServer, outbox: (any Outbox)? = nil,
        store: any StreamStateStore = InMemoryStreamStateStore()
    ) async throws -> XMPPClient {
        XMPPClient(
            try await server.configuration(for: "romeo", resource: "orchard"), reconnect: Self.patience, store: store,
            outbox: outbox)
    }

    private func message(_ id: String?, to jid: JID? = nil) -> Message {
        Message(to: jid ?? juliet, body: "text", id: id)
    }

    /// Lets juliet say that a message is there, or that she has seen it.
    private func say(_ word: String, _ namespace: String, of id: String, on server: LoopbackServer) async throws {
        var message = Message(to: romeo)
        message.append(Element(word, namespace: namespace, attributes: ["id": id]))
        try await server.send(message, as: "juliet")
    }

    private func isThere(_ id: String, on server: LoopbackServer) async throws -> Int {
        try await server.stanzas(for: "juliet").count { $0["id"] == id }
    }

    @Test(
        "A message is at the server, with a client, and read, in that order, as those say who can know (XEP-0184, XEP-0333)"
    )
    func levels() async throws {
        let (server, client) = try await scene()
        try await client.start()
        let entry = try await client.post(message(nil))
        #expect(entry.state == .queued)
        let id = try #require(entry.message.id)
        #expect(try await client.waitUntil(.server, of: entry).state == .server)
        #expect(try await isThere(id, on: server) == 1)
        async let device = client.waitUntil(.device, of: entry)
        try await say("received", "urn:xmpp:receipts", of: id, on: server)
        #expect(try await device.state == .device)
        try await say("displayed", "urn:xmpp:chat-markers:0", of: id, on: server)
        #expect(try await client.waitUntil(.read, of: entry).state == .read)
        // Who has read it has got it.
        #expect(try await client.waitUntil(.server, of: entry).state == .read)
        await client.stop()
        await server.stop()
    }

    @Test("What is posted without a session goes when there is one, in order")
    func offline() async throws {
        let (server, client) = try await scene()
        var entries: [OutboxEntry] = []
        for id in ["1", "2", "3"] { entries.append(try await client.post(message(id))) }
        #expect(try await client.waitUntil(.queued, of: entries[0]).state == .queued)
        try await client.start()
        for entry in entries { #expect(try await client.waitUntil(.server, of: entry).state == .server) }
        #expect(try await server.stanzas(for: "juliet").compactMap { $0["id"] } == ["1", "2", "3"])
        await client.stop()
        await server.stop()
    }

    @Test("A message that comes back has failed; a receipt that comes later overrules that")
    func bounce() async throws {
        let (server, client) = try await scene { $0.storesOfflineMessages = false }
        try await client.start()
        let nurse = try JID("nurse@example.net")
        let entry = try await client.post(message("m", to: nurse))
        let end = try await client.waitUntil(.device, of: entry)
        #expect(end.state == .failed)
        #expect(end.reason?.contains("service-unavailable") == true)
        try await server.set(Presence(), of: "nurse")
        var receipt = Message(to: romeo)
        receipt.append(Element("received", namespace: "urn:xmpp:receipts", attributes: ["id": "m"]))
        try await server.send(receipt, as: "nurse")
        try await Patience.wait(for: "the receipt") {
            try await client.outbox.entry("m", to: nurse, of: romeo)?.state == .device
        }
        await client.stop()
        await server.stop()
    }

    @Test("What somebody else than the addressee says of a message is not noted (XEP-0184 §8)")
    func stranger() async throws {
        let (server, client) = try await scene()
        try await server.set(Presence(), of: "nurse")
        try await client.start()
        let entry = try await client.post(message("m"))
        _ = try await client.waitUntil(.server, of: entry)
        var receipt = Message(to: romeo)
        receipt.append(Element("received", namespace: "urn:xmpp:receipts", attributes: ["id": "m"]))
        try await server.send(receipt, as: "nurse")
        try await client.request(IQ(.get, payload: Element("ping", namespace: Namespace.ping)))
        #expect(try await client.outbox.entry("m", to: juliet, of: romeo)?.state == .server)
        await client.stop()
        await server.stop()
    }

    @Test("A message whose time runs out while it waits is expired, and not sent any more")
    func expiry() async throws {
        let (server, client) = try await scene()
        let now = DateTime.now.millisecondsSinceEpoch
        let late = try await client.post(message("late"), expires: DateTime(millisecondsSinceEpoch: now - 1))
        #expect(try await client.waitUntil(.server, of: late).state == .expired)
        let soon = try await client.post(message("soon"), expires: DateTime(millisecondsSinceEpoch: now + 100))
        #expect(try await client.waitUntil(.server, of: soon).state == .expired)
        try await client.start()
        let kept = try await client.post(message("kept"), expires: DateTime(millisecondsSinceEpoch: now + 3_600_000))
        #expect(try await client.waitUntil(.server, of: kept).state == .server)
        #expect(try await server.stanzas(for: "juliet").compactMap { $0["id"] } == ["kept"])
        await client.stop()
        await server.stop()
    }

    @Test("A message that is called off before it is sent is not sent; one that was sent goes on")
    func cancelled() async throws {
        let (server, client) = try await scene()
        let first = try await client.post(message("first"))
        #expect(try await client.cancel(first).state == .failed)
        try await client.start()
        let second = try await client.post(message("second"))
        _ = try await client.waitUntil(.server, of: second)
        #expect(try await client.cancel(second).state == .server)
        #expect(try await isThere("first", on: server) == 0)
        #expect(try await isThere("second", on: server) == 1)
        await client.stop()
        await server.stop()
    }

    @Test("Waiting ends when the time is up, and with the task; the message goes on")
    func impatient() async throws {
        let (server, client) = try await scene()
        let entry = try await client.post(message("m"))
        let late = await #expect(throws: XMPPError.self) {
            try await client.waitUntil(.server, of: entry, timeout: .milliseconds(20))
        }
        #expect(late?.code == .timedOut)
        let task = Task { try await client.waitUntil(.server, of: entry) }
        task.cancel()
        let off = await #expect(throws: XMPPError.self) { try await task.value }
        #expect(off?.code == .cancelled)
        try await client.start()
        #expect(try await client.waitUntil(.server, of: entry).state == .server)
        await client.stop()
        await server.stop()
    }

    @Test(
        "A session that is lost with its messages says in the end that they are at the server, whether it is resumed or not",
        arguments: [LoopbackOptions.Resumption.kept(for: .seconds(60)), .refused, .refusedStrangely, .notOffered])
    func lostSession(_ resumption: LoopbackOptions.Resumption) async throws {
        let (server, client) = try await scene {
            $0.resumption = resumption
            $0.offersArchive = true
            $0.answersAcknowledgementRequests = false
        }
        try await client.start()
        let entry = try await client.post(message("m"))
        _ = try await server.firstElement(from: "romeo") { $0["id"] == "m" }
        await server.changeOptions { $0.answersAcknowledgementRequests = true }
        await server.cutConnections(of: "romeo")
        #expect(try await client.waitUntil(.server, of: entry).state == .server)
        #expect(try await isThere("m", on: server) == 1)
        await client.stop()
        await server.stop()
    }

    @Test(
        "What the server still has in its hands when the session goes on, or another one begins, is not sent twice (XEP-0198 §5)",
        arguments: [LoopbackOptions.Resumption.kept(for: .seconds(60)), .notOffered], [false, true])
    func slowServer(_ resumption: LoopbackOptions.Resumption, isDurable: Bool) async throws {
        let database = try await Database(at: folder.file("slow/store.db"))
        let (server, client) = try await scene(
            outbox: isDurable ? DurableOutbox(database) : nil,
            store: isDurable ? DurableStreamStateStore(database) : InMemoryStreamStateStore()
        ) {
            $0.mechanisms = ["PLAIN"]
            $0.resumption = resumption
            $0.offersArchive = true
        }
        try await client.start()
        await server.changeOptions { $0.holdsMessages = true }
        var entries: [OutboxEntry] = []
        for id in ["1", "2", "3", "4"] { entries.append(try await client.post(message(id))) }
        _ = try await server.firstElement(from: "romeo") { $0["id"] == "4" }
        await server.changeOptions { $0.holdsMessages = false }
        await server.cutConnections(of: "romeo")
        entries.append(try await client.post(message("5")))
        for entry in entries { #expect(try await client.waitUntil(.server, of: entry).state == .server) }
        try await Patience.wait(for: "the last message") { try await isThere("5", on: server) > 0 }
        #expect(try await server.stanzas(for: "juliet").compactMap { $0["id"] } == ["1", "2", "3", "4", "5"])
        await client.stop()
        await server.stop()
        await database.close()
    }

    @Test("Receipts for what an earlier run of the program has sent are taken (XEP-0184 §8)")
    func restart() async throws {
        let database = try await Database(at: folder.file("outbox/store.db"))
        let outbox = DurableOutbox(database)
        let (server, first) = try await scene(outbox: outbox, store: DurableStreamStateStore(database))
        try await first.start()
        _ = try await first.waitUntil(.server, of: first.post(message("m")))
        await first.stop()
        let second = try await client(server, outbox: outbox, store: DurableStreamStateStore(database))
        try await second.start()
        try await say("received", "urn:xmpp:receipts", of: "m", on: server)
        let entry = try #require(try await outbox.entry("m", to: juliet, of: romeo))
        #expect(try await second.waitUntil(.device, of: entry).state == .device)
        await second.stop()
        await server.stop()
    }

    @Test("And those for what an earlier session of the same client has sent, past the outbox too")
    func nextSession() async throws {
        let (server, client) = try await scene { $0.resumption = .notOffered }
        let recorder = Recorder()
        client.add(messageDelegate: recorder)
        try await client.start()
        try await client.send(message("m"))
        try await client.waitUntilHandled()
        await server.cutConnections(of: "romeo")
        try await Patience.wait(for: "another session") {
            _ = try? await client.start()
            return await server.acceptedConnections == 2
        }
        try await client.start()
        try await say("received", "urn:xmpp:receipts", of: "m", on: server)
        await recorder.heard("receipt m \(juliet)")
        await client.stop()
        await server.stop()
    }
}

/// The outbox in memory keeps the promises of the protocol, as the one on the disk does.
@Suite("An outbox in memory", .timeLimit(.minutes(5)))
struct InMemoryOutboxTests {
    private let romeo: JID
    private let juliet: JID

    init() throws {
        romeo = try JID("romeo@example.net")
        juliet = try JID("juliet@example.net")
    }

    private func message(_ id: String?) -> Message { Message(to: juliet, body: id, id: id) }

    @Test("Messages wait in the order in which they came; the same id to the same addressee is one message")
    func order() async throws {
        let outbox = InMemoryOutbox()
        for id in ["b", "a", "b"] { _ = try await outbox.add(message(id), of: romeo.withResource("x"), expires: nil) }
        #expect(try await outbox.waiting(of: romeo, limit: 9).map(\.message.id) == ["b", "a"])
        #expect(try await outbox.waiting(of: romeo, limit: 1).map(\.message.id) == ["b"])
        #expect(try await outbox.waiting(of: juliet, limit: 9).isEmpty)
        #expect(try await outbox.latest(of: romeo, limit: 9).map(\.id) == ["a", "b"])
        #expect(try await outbox.entries("a", of: romeo).map(\.message.id) == ["a"])
        await #expect(throws: OutboxError.anonymous) { try await outbox.add(message(nil), of: romeo, expires: nil) }
    }

    @Test("News that do not lead on change nothing; who listens is told of those that do")
    func states() async throws {
        let outbox = InMemoryOutbox()
        _ = try await outbox.add(message("m"), of: romeo, expires: nil)
        var changes = outbox.changes().makeAsyncIterator()
        func note(_ state: DeliveryState) async throws -> DeliveryState? {
            try await outbox.note(state, of: "m", to: juliet, of: romeo, because: "why")?.state
        }
        #expect(try await note(.server) == .server)
        #expect(await changes.next() != nil)
        #expect(try await note(.sent) == .server)
        #expect(try await note(.failed) == .failed)
        #expect(try await note(.device) == .device)
        #expect(try await outbox.note(.server, of: "?", to: juliet, of: romeo, because: nil) == nil)
        #expect(try await outbox.waiting(of: romeo, limit: 9).isEmpty)
    }

    @Test(
        "At most so many messages wait; of those that are done the newest are remembered, and none that waits is forgotten"
    )
    func limits() async throws {
        let outbox = InMemoryOutbox()
        _ = try await outbox.add(message("waits"), of: romeo, expires: nil)
        for number in 0..<2 * InMemoryOutbox.maximumRemembered + 1 {
            _ = try await outbox.add(message("\(number)"), of: romeo, expires: nil)
            try await outbox.note(.server, of: "\(number)", to: juliet, of: romeo, because: nil)
        }
        #expect(try await outbox.entry("0", to: juliet, of: romeo) == nil)
        #expect(try await outbox.entry("\(InMemoryOutbox.maximumRemembered * 2)", to: juliet, of: romeo) != nil)
        #expect(try await outbox.waiting(of: romeo, limit: 9).map(\.message.id) == ["waits"])
        for number in 1..<InMemoryOutbox.maximumWaiting {
            _ = try await outbox.add(message("w\(number)"), of: romeo, expires: nil)
        }
        await #expect(throws: OutboxError.full(InMemoryOutbox.maximumWaiting)) {
            try await outbox.add(message("one more"), of: romeo, expires: nil)
        }
        // A known one is no more.
        #expect(try await outbox.add(message("waits"), of: romeo, expires: nil).state == .queued)
    }
}
