// SPDX-License-Identifier: Apache-2.0

import Dispatch
import SocketIO
import Testing

@Suite("The system's clock", .timeLimit(.minutes(5)))
struct StreamClockTests {
    /// Something that a timer holds.
    private final class Burden: Sendable {}

    @Test("a timer fires once, in its turn, though nobody keeps it")
    func fires() async {
        let executor = StreamExecutor()
        let fired = Locked(0)
        await withCheckedContinuation { continuation in
            for delay in [Duration.seconds(-1), .zero, .milliseconds(1)] {
                _ = SystemClock().schedule(after: delay, on: executor) { fired.withLock { $0 += 1 } }
            }
            _ = SystemClock().schedule(after: .milliseconds(20), on: executor) { continuation.resume() }
        }
        executor.queue.sync {}
        #expect(fired.withLock { $0 } == 3)
    }

    @Test("a timer that was called off on its queue never fires")
    func cancelled() {
        let executor = StreamExecutor()
        let fired = Locked(0)
        executor.queue.sync {
            let timers = (0..<100).map { _ in
                SystemClock().schedule(after: .zero, on: executor) { fired.withLock { $0 += 1 } }
            }
            // Due by now, and cancelled before its turn.
            let start = ContinuousClock.now
            while ContinuousClock.now - start < .milliseconds(5) {}
            for timer in timers {
                timer.cancel()
                timer.cancel()
            }
        }
        for _ in 0..<3 { executor.queue.sync {} }
        #expect(fired.withLock { $0 } == 0)
    }

    @Test("what a timer holds is let go when it is called off, and not when it would have been due", arguments: [0, 1])
    func letsGo(ending: Int) async {
        let executor = StreamExecutor()
        weak var burden: Burden?
        do {
            let held = Burden()
            burden = held
            let delay: Duration = ending == 0 ? .seconds(3_600) : .zero
            let timer = SystemClock().schedule(after: delay, on: executor) { withExtendedLifetime(held) {} }
            if ending == 0 { timer.cancel() }
        }
        while burden != nil { await Task.yield() }
    }
}
