// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import XMPPCore

@Suite("The latest entries")
struct LatestEntriesTests {
    @Test("so many are remembered, and the oldest is forgotten for each further one")
    func limit() {
        var entries = LatestEntries<Int, String>(maximumCount: 3)
        for key in 1...3 { entries.store("\(key)", for: key) }
        #expect(entries[1] == "1")
        for key in 4...8 {
            entries.store("\(key)", for: key)
            #expect((key - 2...key).allSatisfy { entries[$0] == "\($0)" } && entries[key - 3] == nil, "\(key)")
        }
    }

    @Test("what is stored again has the new value and keeps its age")
    func again() {
        var entries = LatestEntries<String, Int>(maximumCount: 2)
        entries.store(1, for: "a")
        entries.store(2, for: "b")
        entries.store(3, for: "a")
        #expect(entries["a"] == 3)
        entries.store(4, for: "c")
        #expect(entries["a"] == nil && entries["b"] == 2 && entries["c"] == 4)
    }

    @Test("what is forgotten makes room, wherever the ring has come to", arguments: 0...4)
    func forgets(more: Int) {
        var entries = LatestEntries<Int, Int>(maximumCount: 3)
        for key in 0..<3 + more { entries.store(key, for: key) }
        entries.forget(1 + more)
        entries.forget(77)
        entries.store(100, for: 100)
        #expect(entries[more] == more && entries[1 + more] == nil && entries[2 + more] == 2 + more)
        entries.store(101, for: 101)
        #expect(entries[more] == nil && entries[2 + more] == 2 + more && entries[100] == 100)
    }

    @Test("one is remembered at least", arguments: [0, -1, 1])
    func least(count: Int) {
        var entries = LatestEntries<Int, Int>(maximumCount: count)
        entries.store(1, for: 1)
        entries.store(2, for: 2)
        #expect(entries[1] == nil && entries[2] == 2)
    }
}
