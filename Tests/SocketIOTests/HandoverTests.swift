// SPDX-License-Identifier: Apache-2.0

import Dispatch
import SocketIO
import Testing

@Suite("A value from one thread to one task", .timeLimit(.minutes(5)))
struct HandoverTests {
    @Test("The first value counts, given before it is waited for")
    func early() async {
        let handover = Handover<Int>()
        handover.give(1)
        handover.give(2)
        #expect(await handover.value() == 1)
        handover.give(3)
    }

    @Test("The first value counts, given while it is waited for or shortly before")
    func racing() async {
        for number in 0..<1_000 {
            let handover = Handover<[Int]>()
            DispatchQueue.global().async {
                handover.give([number])
                handover.give([-1])
            }
            #expect(await handover.value() == [number])
        }
    }

    @Test("A value that nobody takes goes with it, and one that was taken is not kept")
    func lifetime() async {
        final class Witness: Sendable {}
        weak var kept: Witness?
        weak var taken: Witness?
        let handover = Handover<Witness>()
        await {
            let forgotten = Handover<Witness>()
            let (first, second) = (Witness(), Witness())
            (kept, taken) = (first, second)
            forgotten.give(first)
            handover.give(second)
            #expect(await handover.value() === second)
        }()
        #expect(kept == nil && taken == nil)
        withExtendedLifetime(handover) {}
    }
}
