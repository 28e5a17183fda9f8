// SPDX-License-Identifier: Apache-2.0

import JabberControl
import SocketIO
import Testing
import XMPP
import XMPPTestSupport

@testable import JabberDaemon

@Suite("Events for slow readers")
struct StateBacklogTests {
    private func event(_ type: String, _ from: String, _ text: String = "") -> JSONObject {
        ["type": .string(type), "from": .string(from), "status": .string(text)]
    }

    @Test("Of presence and of who types only the latest of each address is kept, in the order in which they came")
    func merges() {
        var backlog = StateBacklog()
        backlog.put(event("presence", "a", "1"))
        backlog.put(event("state", "a", "2"))
        backlog.put(event("presence", "b", "3"))
        backlog.put(event("room", "a", "4"))
        backlog.put(event("room", "a", "5"))
        backlog.put(event("presence", "a", "6"))
        let (events, isIncomplete) = backlog.takeAll()
        #expect(events.map { $0.string("status") } == ["2", "3", "4", "5", "6"])
        #expect(!isIncomplete && backlog.isBeingTold)
        #expect(backlog.takeAll().events.isEmpty && !backlog.isBeingTold)
    }

    @Test("More than 1,000 do not wait, and that some are missing is known", arguments: [0, 1])
    func limit(_ over: Int) {
        var backlog = StateBacklog()
        for number in 0..<(StateBacklog.maximumWaiting + over) { backlog.put(event("room", "\(number)")) }
        // Those that take the place of another need none.
        let (events, isIncomplete) = backlog.takeAll()
        #expect(events.count == StateBacklog.maximumWaiting)
        #expect(isIncomplete == (over > 0))
    }

    @Test("A reader that falls behind gets every message, and of each contact's presence the latest")
    func slowReader() async throws {
        let events = Events()
        let hasRoom = Locked(false)
        let room = Signal()
        let turns = Locked(0)
        let session = try AccountSession(
            AccountConfiguration(name: "x", jid: "x@example.org"), environment: DaemonEnvironment(variables: [:]))
        let sink = events.sink
        let listener = Listener(
            session, EventFilter(kinds: ["presence"], from: nil), from: .now, most: nil,
            emit: { _ = sink(.object($0)) },
            room: {
                await room.next(
                    after: turns.withLock { turns in
                        defer { turns += 1 }
                        return turns
                    })
                return true
            }, hasRoom: { hasRoom.withLock { $0 } })
        for number in 1...500 { listener.tell(event("presence", "a", "\(number)")) }
        listener.tell(event("presence", "b", "only"))
        room.raise()
        #expect(await events.first(2).map { $0.string("status") } == ["500", "only"])
        room.raise()
        try await Patience.wait(for: "an empty backlog") { !listener.isBehind }
        hasRoom.withLock { $0 = true }
        listener.tell(event("presence", "a", "at once"))
        #expect(await events.first(3).last?.string("status") == "at once")
        await session.close()
    }
}
