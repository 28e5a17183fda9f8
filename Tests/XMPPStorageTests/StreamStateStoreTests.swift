// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPCore
import XMPPProtocol
import XMPPTestSupport
import XMPPXML

@testable import XMPPStorage

@Suite("A durable stream state", .timeLimit(.minutes(5)))
struct StreamStateStoreTests {
    private let fixture: StorageFixture

    init() throws {
        fixture = try StorageFixture()
    }

    private func stanza(_ body: String, at time: Int64? = 1_700_000_000_123) throws -> UnacknowledgedStanza {
        UnacknowledgedStanza(
            try fixture.message(body).element, sentAt: time.map { DateTime(millisecondsSinceEpoch: $0) })
    }

    private func state(_ bodies: String..., handled: UInt32 = 0, acknowledged: UInt32 = 0) throws -> StreamState {
        StreamState(
            jid: try JID("romeo@example.net/orchard"), id: "session", handled: handled, acknowledged: acknowledged,
            unacknowledged: try bodies.map { try stanza($0) }, location: "[::1]:5222", maximumDuration: .seconds(300))
    }

    private func store() async throws -> DurableStreamStateStore {
        DurableStreamStateStore(try await fixture.open())
    }

    @Test("A state is read back as it was saved, also by another process")
    func roundTrip() async throws {
        var saved = try state("a", "b <&> \u{1F600}", handled: .max, acknowledged: .max - 1)
        saved.unsettled = [try stanza("before"), try stanza("earlier", at: nil)]
        try await store().save(saved, of: fixture.romeo)
        #expect(try await store().state(of: JID("romeo@example.net/other")) == saved)
        #expect(try await store().state(of: fixture.juliet) == nil)
    }

    @Test("Any element is read back: foreign namespaces, languages, white space, line ends")
    func elements() async throws {
        var saved = try state()
        var message = Element("message", namespace: "jabber:client", attributes: ["id": "x", "to": "a@b"])
        message.append(Element("body", namespace: "jabber:client", text: " a\r\n\tb "))
        var odd = Element("x", namespace: "urn:\"quoted\"&odd")
        odd["lang", namespace: "http://www.w3.org/XML/1998/namespace"] = "de"
        odd["a", namespace: "urn:b"] = "1"
        odd.append(Element("y", namespace: ""))
        message.append(odd)
        saved.unacknowledged = [
            UnacknowledgedStanza(message), UnacknowledgedStanza(Element("presence", namespace: "jabber:client")),
        ]
        try await store().save(saved, of: fixture.romeo)
        #expect(try await store().state(of: fixture.romeo) == saved)
    }

    @Test("Step by step the state is what the session's own would be")
    func steps() async throws {
        let store = try await store()
        var expected = try state("a")
        expected.id = nil
        expected.location = nil
        expected.maximumDuration = nil
        try await store.keep([.began(expected)], of: fixture.romeo)
        try await store.keep(
            [
                .named(id: "n", location: nil, maximumDuration: .seconds(60)), .sent([stanza("b"), stanza("c")]),
                .received([], handled: 3), .acknowledged(2), .sent([stanza("d")]),
            ], of: fixture.romeo)
        expected.id = "n"
        expected.maximumDuration = .seconds(60)
        expected.handled = 3
        expected.acknowledged = 2
        expected.unacknowledged = [try stanza("c"), try stanza("d")]
        #expect(try await store.state(of: fixture.romeo) == expected)
    }

    @Test("A new session takes the place of the one before, and the end removes it")
    func replaced() async throws {
        let store = try await store()
        try await store.keep([.began(state("a")), .began(state("b"))], of: fixture.romeo)
        #expect(try await store.state(of: fixture.romeo) == state("b"))
        try await store.save(nil, of: fixture.romeo)
        #expect(try await store.state(of: fixture.romeo) == nil)
    }

    @Test(
        "Acknowledgements count modulo 2^32; one that says nothing new changes nothing (XEP-0198 §4)",
        arguments: [
            (UInt32.max - 1, UInt32.max, 1), (UInt32.max - 1, 0, 2), (UInt32.max - 1, 1, 3), (5, 5, 0), (5, 4, 0),
            (5, 7, 2),
        ] as [(UInt32, UInt32, Int)])
    func acknowledged(_ before: UInt32, _ h: UInt32, _ count: Int) async throws {
        let store = try await store()
        try await store.keep(
            [.began(state("1", "2", "3", acknowledged: before)), .acknowledged(h)], of: fixture.romeo)
        let state = try #require(try await store.state(of: fixture.romeo))
        #expect(state.unacknowledged.count == 3 - count)
        #expect(state.acknowledged == (count == 0 ? before : h))
    }

    @Test("A message of the outbox is sent with its stanza and at the server with its acknowledgement")
    func outbox() async throws {
        let database = try await fixture.open()
        let store = DurableStreamStateStore(database)
        let outbox = DurableOutbox(database)
        _ = try await outbox.add(fixture.message("m"), of: fixture.romeo, expires: nil)
        func delivery() async throws -> DeliveryState? {
            try await outbox.entry("m", to: fixture.juliet, of: fixture.romeo)?.state
        }
        #expect(try await delivery() == .queued)
        try await store.keep([.began(state()), .sent([stanza("m")])], of: fixture.romeo)
        #expect(try await delivery() == .sent)
        try await store.keep([.acknowledged(1)], of: fixture.romeo)
        #expect(try await delivery() == .server)
    }

    @Test("What a session had under way when another began is uncertain, and nothing else")
    func uncertain() async throws {
        let database = try await fixture.open()
        let store = DurableStreamStateStore(database)
        let outbox = DurableOutbox(database)
        for id in ["acknowledged", "open", "waiting"] {
            _ = try await outbox.add(fixture.message(id), of: fixture.romeo, expires: nil)
        }
        try await store.keep(
            [.began(state()), .sent([stanza("acknowledged"), stanza("open")]), .acknowledged(1), .began(state())],
            of: fixture.romeo)
        #expect(try await outbox.uncertain(of: fixture.romeo).map(\.message.id) == ["open"])
        #expect(try await outbox.waiting(of: fixture.romeo, limit: 9).map(\.message.id) == ["waiting"])
    }

    @Test("What is unsettled is so until it is sent again or known to be at the server")
    func unsettled() async throws {
        let database = try await fixture.open()
        let store = DurableStreamStateStore(database)
        let outbox = DurableOutbox(database)
        _ = try await outbox.add(fixture.message("c"), of: fixture.romeo, expires: nil)
        var next = try state()
        next.unsettled = [try stanza("a"), try stanza("b"), try stanza("c")]
        try await store.keep(
            [.began(state("a", "b", "c")), .began(next), .sent([stanza("b")]), .settled([stanza("c")])],
            of: fixture.romeo)
        let kept = try #require(try await store.state(of: fixture.romeo))
        #expect(kept.unsettled == [try stanza("a")])
        #expect(kept.unacknowledged == [try stanza("b")])
        #expect(try await outbox.entry("c", to: fixture.juliet, of: fixture.romeo)?.state == .server)
    }

    @Test("What arrives is kept in the transaction that counts it, or not counted")
    func arrived() async throws {
        let database = try await fixture.open()
        let romeo = fixture.romeo
        let store = DurableStreamStateStore(
            database,
            arrived: { connection, account, stanzas throws(StorageError) in
                #expect(account == romeo)
                for stanza in stanzas {
                    guard stanza["id"] != "refused" else { throw StorageError(.full, file: "f", "full") }
                    try connection.execute(
                        "INSERT INTO event (at, text) VALUES (0, ?)", .text(stanza["id"] ?? ""))
                }
            })
        try await store.keep([.began(state()), .received([stanza("a").element], handled: 1)], of: romeo)
        await #expect(throws: StorageError.self) {
            try await store.keep(
                [.received([stanza("b").element, stanza("refused").element], handled: 3)], of: romeo)
        }
        #expect(try await store.state(of: romeo)?.handled == 1)
        #expect(try await EventJournal(database).events(after: 0).events.map(\.bytes) == [Array("a".utf8)])
    }

    private func nested(_ levels: Int) -> UnacknowledgedStanza {
        var element = Element("x", namespace: "urn:x")
        for _ in 2..<levels {
            var outer = Element("x", namespace: "urn:x")
            outer.append(element)
            element = outer
        }
        var message = Element("message", namespace: "jabber:client")
        message.append(element)
        return UnacknowledgedStanza(message)
    }

    @Test("What could not be read back is not written: 128 levels are kept, one more is refused")
    func tooDeep() async throws {
        let store = try await store()
        try await store.keep([.began(state()), .sent([nested(128)])], of: fixture.romeo)
        #expect(try await store.state(of: fixture.romeo)?.unacknowledged.count == 1)
        await #expect(throws: StorageError.self) { try await store.keep([.sent([nested(129)])], of: fixture.romeo) }
        #expect(try await store.state(of: fixture.romeo)?.unacknowledged.count == 1)
    }

    @Test("A message that cannot be sent again has failed, and is unsettled no more")
    func refused() async throws {
        let database = try await fixture.open()
        let store = DurableStreamStateStore(database)
        let outbox = DurableOutbox(database)
        _ = try await outbox.add(fixture.message("m"), of: fixture.romeo, expires: nil)
        var began = try state()
        began.unsettled = [try stanza("m")]
        try await store.keep([.began(began), .refused(began.unsettled, because: "too large")], of: fixture.romeo)
        #expect(try await store.state(of: fixture.romeo)?.unsettled == [])
        let entry = try await outbox.entry("m", to: fixture.juliet, of: fixture.romeo)
        #expect(entry?.state == .failed && entry?.reason == "too large")
    }
}
