// SPDX-License-Identifier: Apache-2.0

import SocketIO
import Testing

@Suite("A value behind a lock")
struct LockedTests {
    private struct Refusal: Error {}

    private final class Witness: Sendable {
        private let ends: Locked<Int>
        init(_ ends: Locked<Int>) { self.ends = ends }
        deinit { ends.withLock { $0 += 1 } }
    }

    @Test("Many who change it at a time lose no change")
    func manyAtOnce() async {
        let pair = Locked((first: 0, second: 0))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<2_000 {
                        pair.withLock { pair in
                            pair.first += 1
                            pair.second = pair.first
                        }
                    }
                }
            }
        }
        #expect(pair.withLock { $0 } == (16_000, 16_000))
    }

    @Test("What the body returns or throws comes out, and the lock is free again")
    func outcome() {
        let value = Locked([1])
        #expect(
            value.withLock { value in
                value.append(2)
                return value.count
            } == 2)
        #expect(throws: Refusal.self) {
            try value.withLock { value throws(Refusal) in
                value.append(3)
                throw Refusal()
            }
        }
        #expect(value.withLock { $0 } == [1, 2, 3])
    }

    @Test("The value goes with the lock, once")
    func end() async {
        let ends = Locked(0)
        do {
            let holder = Locked(Witness(ends))
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<4 { group.addTask { holder.withLock { $0 = Witness(ends) } } }
            }
            #expect(ends.withLock { $0 } == 4)
        }
        #expect(ends.withLock { $0 } == 5)
    }

    @Test("It holds what cannot be copied")
    func nonCopyable() {
        struct Single: ~Copyable { var count = 0 }
        let single = Locked(Single())
        single.withLock { $0.count += 1 }
        #expect(single.withLock { $0.count } == 1)
    }
}
