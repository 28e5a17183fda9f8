// SPDX-License-Identifier: Apache-2.0

import JabberControl
import SocketIO
import Testing

@testable import JabberDaemon

@Suite("The ring of events")
struct EventRingTests {
    /// What a subscription gives at once.
    private func replay(_ ring: EventRing, after cursor: Int64) -> [JSONObject] {
        let seen = Locked<[JSONObject]>([])
        ring.cancel(ring.subscribe(after: cursor) { event in seen.withLock { $0.append(event) } })
        return seen.withLock { $0 }
    }

    private func filled(_ count: Int, events: Int = 3, bytes: Int = 1 << 20, text: String = "x") -> EventRing {
        let ring = EventRing(after: 100, events: events, bytes: bytes)
        for number in 0..<count { ring.append(["type": "message", "body": .string("\(text)\(number)")]) }
        return ring
    }

    @Test("Cursors grow, and what came after one is given again")
    func cursors() {
        let ring = filled(3)
        #expect(replay(ring, after: 100).map { $0.string("cursor") } == ["101", "102", "103"])
        #expect(replay(ring, after: 102).map { $0.string("body") } == ["x2"])
        #expect(replay(ring, after: 103).isEmpty)
    }

    @Test(
        "What is kept no more, and what never was, is one gap with the cursor to read on from",
        arguments: [3, 104, 999])
    func gap(_ cursor: Int64) {
        let events = replay(filled(5, events: 3), after: cursor == 104 ? 101 : cursor)
        #expect(events.map { $0.string("type") } == ["gap", "message", "message", "message"])
        #expect(events[0].string("cursor") == "102")
        #expect(events.dropFirst().map { $0.string("body") } == ["x2", "x3", "x4"])
    }

    @Test("As many events are kept as the limit says, and after many more as well")
    func count() {
        #expect(replay(filled(3, events: 3), after: 100).count == 3)
        #expect(replay(filled(4, events: 3), after: 101).count == 3)
        #expect(replay(filled(1_000, events: 3), after: 1_097).map { $0.string("cursor") } == ["1098", "1099", "1100"])
    }

    @Test("Large events leave room for fewer, the last one always stays")
    func bytes() {
        let text = String(repeating: "x", count: 1_000)
        let few = replay(filled(10, events: 100, bytes: 3_500, text: text), after: 0)
        #expect(few.map { $0.string("type") } == ["gap", "message", "message"])
        #expect(replay(filled(10, events: 100, bytes: 1, text: text), after: 109).count == 1)
    }

    @Test("A cursor is digits only", arguments: ["", "-1", "1x", "+5", "99999999999999999999", "1.0"])
    func strange(_ text: String) {
        #expect(EventRing.cursor(text) == nil)
    }
}
