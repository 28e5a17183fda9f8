// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPCore
import XMPPTestSupport
import XMPPXML

@testable import XMPPStorage

@Suite("The archive of messages", .timeLimit(.minutes(5)))
struct MessageArchiveTests {
    private let fixture: StorageFixture

    init() throws {
        fixture = try StorageFixture()
    }

    private func archive() async throws -> MessageArchive {
        MessageArchive(try await fixture.open())
    }

    private func message(
        _ body: String, at: Int64 = 1_000, isOutgoing: Bool = false, originID: String? = nil, named: String? = nil,
        isUnread: Bool = false
    ) throws -> ArchivedMessage {
        ArchivedMessage(
            message: try fixture.message(body), peer: fixture.juliet, isOutgoing: isOutgoing,
            at: DateTime(millisecondsSinceEpoch: at), originID: originID,
            archiveID: named.map { ArchivedMessage.Name(by: fixture.romeo, id: $0) }, isUnread: isUnread)
    }

    private func bodies(_ archive: MessageArchive, _ query: ArchiveQuery = ArchiveQuery()) async throws -> [String?] {
        try await archive.messages(query, of: fixture.romeo).map(\.message.body)
    }

    @Test("A message is read back as it was, oldest first")
    func roundTrip() async throws {
        let archive = try await archive()
        let all = [
            try message("b", at: 2_000, isOutgoing: true, originID: "o"), try message("a", named: "n", isUnread: true),
        ]
        #expect(try await archive.add(all, of: fixture.romeo) == 2)
        #expect(try await archive.messages(ArchiveQuery(), of: fixture.romeo) == all.reversed())
        #expect(try await archive.messages(ArchiveQuery(), of: fixture.juliet).isEmpty)
    }

    @Test("Of a message whose extensions cannot be stored, who wrote it and its texts are")
    func withoutExtensions() async throws {
        let archive = try await archive()
        var element = try fixture.message("Hark").element
        element["id"] = "m1"
        element.language = "en"
        element.append(Element("subject", namespace: Namespace.client, text: "Night"))
        element.append(
            contentsOf: (0..<6_000).flatMap { _ in
                [Element("a", namespace: "urn:" + String(repeating: "A", count: 3_000)), Element("b", namespace: "u")]
            })
        let message = try Message(element)
        let entry = ArchivedMessage(
            message: message, peer: fixture.juliet, isOutgoing: false, at: DateTime(millisecondsSinceEpoch: 1_000))
        #expect(try await archive.add([entry], of: fixture.romeo) == 1)
        let read = try #require(try await archive.messages(ArchiveQuery(), of: fixture.romeo).first?.message)
        #expect(read.body == "Hark" && read.from == message.from && read.to == message.to && read.id == "m1")
        #expect(read.subject == "Night" && read.element.language == "en" && read.element.children.count == 2)
    }

    /// Something to be kept with a message that has so much of one thing.
    private static func heap(_ thing: String, _ count: Int) -> Element {
        var heap = Element("x", namespace: "u")
        switch thing {
        case "levels":
            for _ in 1..<count {
                var outer = Element("x", namespace: "u")
                outer.append(heap)
                heap = outer
            }
        case "attributes": for number in 0..<count { heap["a\(number)", namespace: "u\(number)"] = "" }
        default: heap.append(contentsOf: (1..<count).map { _ in Element("x", namespace: "u") })
        }
        return heap
    }

    @Test(
        "What could not be read back is not stored: of a message that holds it, who wrote it and its texts are",
        arguments: [("levels", 127, 129), ("attributes", 511, 512), ("elements", 99_998, 100_001)])
    func unreadable(thing: String, most: Int, tooMany: Int) async throws {
        let archive = try await archive()
        for (count, isWhole) in [(most, true), (tooMany, false)] {
            var element = try fixture.message("Hark").element
            element.append(Self.heap(thing, count))
            let entry = ArchivedMessage(
                message: try Message(element), peer: fixture.juliet, isOutgoing: false,
                at: DateTime(millisecondsSinceEpoch: 1_000))
            #expect(try await archive.add([entry], of: fixture.romeo) == 1)
            let read = try await archive.messages(ArchiveQuery(), of: fixture.romeo)
            #expect(read.last?.message.body == "Hark")
            #expect((read.last?.message.element == element) == isWhole)
        }
    }

    @Test("What an archive has named is there once, and so is an own message; a stranger's ids decide nothing")
    func unique() async throws {
        let archive = try await archive()
        let all = [
            try message("a", named: "1"), try message("a", named: "1"), try message("a", named: "2"),
            try message("b", isOutgoing: true, originID: "o"), try message("b", isOutgoing: true, originID: "o"),
            try message("c", originID: "same"), try message("d", originID: "same"), try message("e"), try message("e"),
        ]
        #expect(try await archive.add(all, of: fixture.romeo) == 7)
        #expect(try await bodies(archive) == ["a", "a", "b", "c", "d", "e", "e"])
    }

    @Test("How much there is is known without counting, whatever comes and goes, and what makes room without sorting")
    func totals() async throws {
        let database = try await fixture.open()
        let archive = MessageArchive(database)
        let account = fixture.romeo
        func counted() async throws -> [[Int64]] {
            try await database.read { connection throws(StorageError) in
                try ["SELECT count, bytes FROM message_total", "SELECT count(*), sum(length(stanza)) FROM message"].map
                {
                    sql throws(StorageError) in
                    try connection.first(sql) { [$0.integer(0), $0.integer(1)] } ?? []
                }
            }
        }
        try await archive.add([message("a", named: "1"), message("bb", named: "2")], of: account)
        try await archive.add([message("a", named: "1"), message("c", named: "3")], of: account)
        let before = try await counted()
        #expect(before[0] == before[1] && before[0][0] == 3)
        let plan = try await database.write { connection throws(StorageError) -> [String] in
            try MessageArchive.prune(account, messages: 1, bytes: .max / 2, on: connection)
            return try connection.rows("EXPLAIN QUERY PLAN " + MessageArchive.oldest, .text("x"), 1) {
                $0.text(3) ?? ""
            }
        }
        let after = try await counted()
        #expect(after[0] == after[1] && after[0][0] == 1)
        #expect(plan.count == 1 && plan.first?.contains("message_age") == true)
    }

    @Test(
        "What is too much makes room: the oldest of what was read first, and its words are found no more",
        arguments: [(5, ["a", "b", "c", "d", "e"]), (4, ["b", "c", "d", "e"]), (2, ["b", "e"]), (1, ["e"])])
    func limits(_ count: Int, _ left: [String]) async throws {
        let database = try await fixture.open()
        let archive = MessageArchive(database)
        for (place, body) in ["a", "b", "c", "d", "e"].enumerated() {
            let entry = try message(body, at: Int64(place) * 1_000, isUnread: body == "b" || body == "e")
            try await archive.add([entry], of: fixture.romeo)
        }
        let account = fixture.romeo
        for (messages, bytes) in [(count, Int.max / 2), (5, 1)] {
            try await database.write { connection throws(StorageError) in
                try MessageArchive.prune(account, messages: messages, bytes: bytes, on: connection)
            }
            let rest = bytes == 1 ? [] : left
            #expect(try await bodies(archive) == rest)
            for body in ["a", "b", "e"] {
                #expect(try await bodies(archive, ArchiveQuery(text: body)) == rest.filter { $0 == body })
            }
        }
    }

    @Test("An own message takes on the name that an archive has for it")
    func named() async throws {
        let archive = try await archive()
        try await archive.add([message("b", isOutgoing: true, originID: "o")], of: fixture.romeo)
        #expect(try await archive.lastNamed(by: fixture.romeo, of: fixture.romeo) == nil)
        try await archive.add([message("b", isOutgoing: true, originID: "o", named: "7")], of: fixture.romeo)
        #expect(try await bodies(archive) == ["b"])
        #expect(try await archive.lastNamed(by: fixture.romeo, of: fixture.romeo)?.name.id == "7")
    }

    @Test(
        "Words are found whatever their case and accents, all of them, the last one by its beginning",
        arguments: [
            ("grüße", ["Viele Grüße aus Zürich"]), ("GRUSSE", []), ("zurich", ["Viele Grüße aus Zürich"]),
            ("aus viele", ["Viele Grüße aus Zürich"]), ("viele hallo", []), ("hal", ["hallo OR welt", "halb"]),
            ("OR", ["hallo OR welt"]), ("\"", []), ("*", []), ("a\" OR \"b", []), ("   ", []), ("body:hallo", []),
            ("a\"\u{301}", ["Viele Grüße aus Zürich"]), ("hal\0lo", []), ("\0", []), ("\u{301}", []),
            ("hallo\r\nwelt", ["hallo OR welt"]),
        ])
    func search(_ text: String, _ found: [String]) async throws {
        let archive = try await archive()
        try await archive.add(
            [message("Viele Grüße aus Zürich"), message("hallo OR welt"), message("halb")], of: fixture.romeo)
        #expect(try await bodies(archive, ArchiveQuery(text: text)) == found)
    }

    @Test("A query is bounded by time and number, and gives the newest")
    func bounds() async throws {
        let archive = try await archive()
        try await archive.add(
            (1...9).map { try message("\($0)", at: Int64($0)) }, of: fixture.romeo)
        let time = { (number: Int64) in DateTime(millisecondsSinceEpoch: number) }
        #expect(try await bodies(archive, ArchiveQuery(since: time(3), before: time(6))) == ["3", "4", "5"])
        #expect(try await bodies(archive, ArchiveQuery(limit: 2)) == ["8", "9"])
        #expect(try await bodies(archive, ArchiveQuery(peer: fixture.romeo)) == [])
        #expect(try await bodies(archive, ArchiveQuery(peer: fixture.juliet, limit: 1)) == ["9"])
        #expect(try await bodies(archive, ArchiveQuery(limit: -1)) == [])
    }

    @Test("What was read up to a message is not unread any more, what came later is")
    func read() async throws {
        let archive = try await archive()
        try await archive.add(["a", "b", "c"].map { try message($0, isUnread: true) }, of: fixture.romeo)
        #expect(try await archive.unread(of: fixture.romeo).map(\.count) == [3])
        #expect(try await archive.markRead(fixture.juliet, upTo: "?", of: fixture.romeo) == nil)
        let read = try await archive.markRead(fixture.juliet, upTo: "b", of: fixture.romeo)
        #expect(read?.map(\.message.body) == ["a", "b"])
        #expect(try await bodies(archive, ArchiveQuery(isUnreadOnly: true)) == ["c"])
        #expect(try await archive.markRead(fixture.juliet, of: fixture.romeo)?.count == 1)
        #expect(try await archive.unread(of: fixture.romeo).isEmpty)
    }
}

@Suite("The cache of rosters", .timeLimit(.minutes(5)))
struct RosterCacheTests {
    @Test("A roster is read back as it was saved and changed; without a version it is forgotten (RFC 6121 §2.6)")
    func roundTrip() async throws {
        let fixture = try StorageFixture()
        let cache = RosterCache(try await fixture.open())
        let juliet = RosterItem(jid: fixture.juliet, name: "Juliet", subscription: .both, groups: ["a, b", "c"])
        let nurse = RosterItem(jid: try JID("nurse@example.net"), isAsking: true, isApproved: true)
        #expect(try await cache.roster(of: fixture.romeo) == nil)
        try await cache.save(RosterCache.Roster(version: "1", items: [juliet]), of: fixture.romeo)
        try await cache.note(.updated(nurse), version: "2", of: fixture.romeo)
        let kept = try #require(try await cache.roster(of: fixture.romeo))
        #expect(kept.version == "2" && Set(kept.items) == [juliet, nurse])
        try await cache.note(.removed(fixture.juliet), version: "3", of: fixture.romeo)
        #expect(try await cache.roster(of: fixture.romeo)?.items == [nurse])
        try await cache.note(.updated(juliet), version: nil, of: fixture.romeo)
        #expect(try await cache.roster(of: fixture.romeo) == nil)
        try await cache.note(.updated(juliet), version: "9", of: fixture.romeo)
        #expect(try await cache.roster(of: fixture.romeo) == nil)
    }

    @Test("All are marked as read, and the newest of them are returned, at the limit and one past it")
    func markedLimit() async throws {
        let fixture = try StorageFixture()
        let archive = MessageArchive(try await fixture.open())
        let count = MessageArchive.maximumMarked + 1
        let messages = try (1...count).map { number in
            ArchivedMessage(
                message: try fixture.message("\(number)"), peer: fixture.juliet, isOutgoing: false,
                at: DateTime(millisecondsSinceEpoch: Int64(number)), isUnread: true)
        }
        try await archive.add(messages, of: fixture.romeo)
        let marked = try await archive.markRead(fixture.juliet, of: fixture.romeo)
        #expect(marked?.count == count - 1 && marked?.last?.message.id == "\(count)")
        #expect(try await archive.unread(of: fixture.romeo).isEmpty)
    }
}
