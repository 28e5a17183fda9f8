// SPDX-License-Identifier: Apache-2.0

import SocketIO
import Testing
import XMPPTestSupport

@Suite("TestClock and SeededGenerator")
struct TestClockTests {
    /// Notes, in order, what ran.
    private final class Journal: Sendable {
        private let entries = Locked<[String]>([])

        func note(_ entry: String) { entries.withLock { $0.append(entry) } }

        var all: [String] { entries.withLock { $0 } }
    }

    @Test("fires timers in the order of their deadlines, and only when they are due")
    func firesInOrder() async {
        let clock = TestClock()
        let executor = StreamExecutor()
        let journal = Journal()
        _ = clock.schedule(after: .seconds(2), on: executor) { journal.note("two") }
        _ = clock.schedule(after: .seconds(1), on: executor) { journal.note("one") }
        await clock.advance(by: .milliseconds(999))
        #expect(journal.all.isEmpty)
        await clock.advance(by: .seconds(2))
        #expect(journal.all == ["one", "two"])
        #expect(clock.now == .milliseconds(2_999))
    }

    @Test("fires what a timer sets, when it falls into the same step")
    func firesWhatTimersSet() async {
        let clock = TestClock()
        let executor = StreamExecutor()
        let journal = Journal()
        _ = clock.schedule(after: .seconds(1), on: executor) {
            journal.note("first at \(clock.now.components.seconds)")
            _ = clock.schedule(after: .seconds(1), on: executor) {
                journal.note("second at \(clock.now.components.seconds)")
            }
        }
        await clock.advance(by: .seconds(5))
        #expect(journal.all == ["first at 1", "second at 2"])
        #expect(clock.timerCount == 0)
    }

    @Test("does not fire a timer that was called off")
    func cancels() async {
        let clock = TestClock()
        let journal = Journal()
        let timer = clock.schedule(after: .seconds(1), on: StreamExecutor()) { journal.note("fired") }
        timer.cancel()
        timer.cancel()
        await clock.advance(by: .seconds(2))
        #expect(journal.all.isEmpty)
    }

    @Test("lets a test wait until a timer is set")
    func waitsForTimers() async {
        let clock = TestClock()
        let executor = StreamExecutor()
        executor.run { _ = clock.schedule(after: .seconds(3), on: executor) {} }
        await clock.waitForTimers()
        #expect(clock.untilNextTimer == .seconds(3))
    }

    @Test("gives the same numbers for the same seed, and others for another")
    func isReproducible() {
        let numbers = { (seed: UInt64) in
            let generator = SeededGenerator(seed: seed)
            return (0..<8).map { _ in generator.next() }
        }
        #expect(numbers(7) == numbers(7))
        #expect(numbers(7) != numbers(8))
        #expect(Set(numbers(7)).count == 8)
    }
}
