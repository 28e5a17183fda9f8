// SPDX-License-Identifier: Apache-2.0

import JabberControl
import Synchronization
import Testing
import XMPP
import XMPPTestSupport

@testable import JabberDaemon

@Suite("Waiting for a bounded time")
struct WaitingTests {
    private let presence = XMPPEvent.presence(Presence())

    @Test("Work that does not heed anything is answered for when its time is up")
    func limit() async throws {
        let isOver = Flag()
        defer { isOver.raise() }
        let error = try await #require(throws: ControlError.self) {
            try await Race.run(within: .milliseconds(20)) { () throws(ControlError) in
                // Deaf to cancellation, until the test lets go.
                try? await Patience.wait(for: "the test") { isOver.isUp }
            }
        }
        #expect(error.code == .timedOut)
    }

    @Test("What the work gives or throws is passed on")
    func outcome() async throws {
        #expect(try await Race.run(within: nil) { () throws(ControlError) in 7 } == 7)
        let error = try await #require(throws: ControlError.self) {
            try await Race.run(within: .seconds(5)) { () throws(ControlError) -> Int in
                throw ControlError(.refused, "no")
            }
        }
        #expect(error.code == .refused)
    }

    @Test("A cancelled request is answered at once")
    func cancelled() async throws {
        let task = Task {
            do throws(ControlError) {
                try await Race.run(within: nil) { () throws(ControlError) in await Race.pause(.seconds(60)) }
                return ControlErrorCode.internalError
            } catch {
                return error.code
            }
        }
        task.cancel()
        #expect(await task.value == .cancelled)
    }

    @Test("A wait that has ended leaves no timer behind")
    func noTimerLeft() async {
        let clock = TestClock()
        let feed = EventFeed(clock: clock)
        for _ in 0..<3 {
            let seen = feed.count
            async let wait: Void = feed.next(after: seen, atMost: .seconds(60))
            await clock.waitForTimers()
            feed.publish(presence)
            await wait
            #expect(clock.timerCount == 0)
        }
    }

    @Test("An event between looking and waiting is not lost")
    func noLostEvent() async {
        let feed = EventFeed()
        let seen = feed.count
        feed.publish(presence)
        await feed.next(after: seen, atMost: .seconds(60))
        #expect(feed.count == seen + 1)
    }

    @Test("A condition is looked at again after each event, and given up in time")
    func condition() async {
        let feed = EventFeed()
        let looks = Counter()
        async let holds = feed.wait(atMost: .seconds(60)) {
            looks.add()
            return feed.count >= 3
        }
        for _ in 0..<3 { feed.publish(presence) }
        #expect(await holds)
        #expect(looks.count <= 4)
        #expect(await feed.wait(atMost: .milliseconds(10)) { false } == false)
    }

    @Test("Quiet counts from the last presence, and ends at the deadline whatever comes")
    func quiet() async {
        let feed = EventFeed()
        let start = feed.now
        feed.publish(presence)
        await feed.waitForQuiet(.milliseconds(30), since: start, until: start + .seconds(60))
        #expect(feed.now - start >= .milliseconds(30))
        let again = feed.now
        feed.publish(presence)
        await feed.waitForQuiet(.seconds(60), since: again, until: again + .milliseconds(30))
        #expect(feed.now - again < .seconds(30))
    }

    @Test("Handlers hear of each event until they are cancelled")
    func subscriptions() {
        let feed = EventFeed()
        let heard = Counter()
        let subscription = feed.subscribe { _ in heard.add() }
        feed.publish(presence)
        feed.cancel(subscription)
        feed.publish(presence)
        #expect(heard.count == 1)
    }
}

private final class Flag: Sendable {
    private let value = Atomic(false)

    var isUp: Bool { value.load(ordering: .relaxed) }

    func raise() { value.store(true, ordering: .relaxed) }
}

private final class Counter: Sendable {
    private let value = Atomic(0)

    var count: Int { value.load(ordering: .relaxed) }

    func add() { value.wrappingAdd(1, ordering: .relaxed) }
}
