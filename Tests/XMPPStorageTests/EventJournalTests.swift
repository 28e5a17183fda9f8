// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPCore
import XMPPTestSupport

@testable import XMPPStorage

@Suite("The journal of events", .timeLimit(.minutes(5)))
struct EventJournalTests {
    private let fixture: StorageFixture

    init() throws {
        fixture = try StorageFixture()
    }

    private func journal(events: Int = 100, age: Duration = .seconds(60)) async throws -> EventJournal {
        EventJournal(
            try await fixture.open(), limits: EventJournal.Limits(maximumEvents: events, maximumAge: age))
    }

    private func text(_ page: EventJournal.Page) -> [String] {
        page.events.map { String(decoding: $0.bytes, as: UTF8.self) }
    }

    private func bytes(_ texts: String...) -> [[UInt8]] { texts.map { Array($0.utf8) } }

    @Test("Cursors grow, also over a restart, and what came after one is given again")
    func cursors() async throws {
        let first = try await journal()
        let one = try await first.append(bytes("a"))
        let three = try await first.append(bytes("b", "c"))
        #expect(three == one + 2)
        let second = try await journal()
        #expect(try await second.append(bytes("d")) == three + 1)
        let page = try await second.events(after: one)
        #expect(text(page) == ["b", "c", "d"])
        #expect(!page.hasGap)
        #expect(try await text(second.events(after: one, limit: 2)) == ["b", "c"])
        #expect(try await second.events(after: three + 1).events.isEmpty)
        #expect(try await second.lastCursor == three + 1)
    }

    @Test("Cursors of a new file are greater than those of the one before")
    func newFile() async throws {
        let before = DateTime.now.millisecondsSinceEpoch * 1_000
        #expect(try await journal().append(bytes("a")) > before)
    }

    @Test("The oldest events make room, and the one who has not seen them hears of a gap")
    func bounded() async throws {
        let journal = try await journal(events: 3)
        let last = try await journal.append(bytes("a", "b", "c", "d", "e"))
        let page = try await journal.events(after: last - 4)
        #expect(text(page) == ["c", "d", "e"])
        #expect(page.hasGap && page.start == last - 3)
        #expect(try await !journal.events(after: last - 3).hasGap)
        let never = try await journal.events(after: last + 1)
        #expect(never.hasGap && text(never) == ["c", "d", "e"])
    }

    @Test("Events that are too old make room as well")
    func aged() async throws {
        let journal = try await journal(age: .seconds(10))
        let old = try await journal.append(bytes("a"), at: DateTime(millisecondsSinceEpoch: 1_000_000))
        try await journal.append(bytes("b"), at: DateTime(millisecondsSinceEpoch: 1_011_000))
        let page = try await journal.events(after: old - 1)
        #expect(page.hasGap && text(page) == ["b"])
    }

    @Test("A time stands for the cursor before the first event from then on")
    func time() async throws {
        let journal = try await journal()
        let first = try await journal.append(bytes("a"), at: DateTime(millisecondsSinceEpoch: 1_000))
        try await journal.append(bytes("b"), at: DateTime(millisecondsSinceEpoch: 2_000))
        #expect(try await journal.cursor(before: DateTime(millisecondsSinceEpoch: 1_500)) == first)
        #expect(try await journal.cursor(before: DateTime(millisecondsSinceEpoch: 0)) == first - 1)
        #expect(try await journal.cursor(before: DateTime(millisecondsSinceEpoch: 9_000)) == first + 1)
    }

    @Test("A named consumer's mark lasts, and only goes forward")
    func consumer() async throws {
        let first = try await journal()
        let last = try await first.append(bytes("a", "b"))
        #expect(try await first.position(of: "bot") == nil)
        try await first.acknowledge(last, by: "bot")
        try await first.acknowledge(last - 1, by: "bot")
        #expect(try await journal().position(of: "bot") == last)
        try await first.acknowledge(last + 100, by: "liar")
        #expect(try await first.position(of: "liar") == last)
    }

    @Test("The consumer that was not heard of for longest makes room")
    func consumers() async throws {
        let journal = try await journal()
        try await journal.append(bytes("a"))
        for number in 0...EventJournal.maximumConsumers {
            try await journal.acknowledge(
                1, by: "c\(number)", at: DateTime(millisecondsSinceEpoch: Int64(number) * 1_000))
        }
        #expect(try await journal.position(of: "c0") == nil)
        #expect(try await journal.position(of: "c1") != nil)
    }

    @Test("A journal that keeps for ever does so", arguments: [Int64.max, Int64.max / 1_000, Int64.max / 1_000 + 1])
    func endlessAge(_ seconds: Int64) async throws {
        let journal = EventJournal(
            try await fixture.open(), limits: EventJournal.Limits(maximumAge: .seconds(seconds)))
        try await journal.append([[1]], at: DateTime(millisecondsSinceEpoch: -1_000_000))
        #expect(try await journal.events(after: 0).events.count == 1)
    }
}
