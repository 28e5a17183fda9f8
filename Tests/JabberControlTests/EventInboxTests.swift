// SPDX-License-Identifier: Apache-2.0

import SocketIO
import Testing

@testable import JabberControl

@Suite("Events that wait for their reader")
struct EventInboxTests {
    private func event(_ number: Int) -> ControlEvent {
        ControlEvent(json: ["type": "message", "cursor": .string(String(number))])
    }

    @Test("The gap that a stanza left says how large that was; other events and gaps have no size")
    func unread() {
        #expect(ControlEvent(json: ["type": "gap", "bytes": 2_000_000]).unreadBytes == 2_000_000)
        #expect(ControlEvent(json: ["type": "gap", "after": "1"]).unreadBytes == nil)
        #expect(ControlEvent(json: ["type": "message", "bytes": 2_000_000]).unreadBytes == nil)
    }

    @Test("With 1,000 events that wait nothing more is read, until 200 are left")
    func bounds() async throws {
        let inbox = EventInbox()
        let readsOn = Locked(0)
        let more: @Sendable () -> Void = { readsOn.withLock { $0 += 1 } }
        for number in 1..<EventInbox.maximumWaiting { #expect(!inbox.put(event(number), readOn: more)) }
        #expect(inbox.put(event(EventInbox.maximumWaiting), readOn: more))
        for number in 1...EventInbox.maximumWaiting - EventInbox.comfortableWaiting - 1 {
            #expect(try await inbox.next()?.cursor == String(number))
        }
        #expect(readsOn.withLock { $0 } == 0)
        _ = try await inbox.next()
        #expect(readsOn.withLock { $0 } == 1)
        _ = try await inbox.next()
        #expect(readsOn.withLock { $0 } == 1, "once")
        #expect(inbox.lastCursor == String(EventInbox.maximumWaiting))
    }

    @Test("What was put in before the end is taken before it, and the end stays")
    func end() async throws {
        let inbox = EventInbox()
        _ = inbox.put(event(1)) {}
        inbox.finish(ControlError(.notFound, "gone"))
        inbox.finish()
        #expect(try await inbox.next()?.cursor == "1")
        for _ in 1...2 {
            let error = await #expect(throws: ControlError.self) { try await inbox.next() }
            #expect(error?.code == .notFound)
        }
    }
}
