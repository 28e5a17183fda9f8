// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import XMPP

@Suite struct RandomReserveTests {
    @Test(
        "as many octets as asked for, none for a count that is none",
        arguments: [.min, -1, 0, 1, 16, 64, 65, 5_000] as [Int])
    func counts(count: Int) {
        #expect(RandomReserve().bytes(count).count == max(0, count))
    }

    @Test("nothing is handed out twice, to however many at once")
    func freshness() async {
        let reserve = RandomReserve()
        let drawn = await withTaskGroup(of: [[UInt8]].self) { group in
            for _ in 0..<8 {
                group.addTask { (0..<1_000).map { reserve.bytes(8 + $0 % 40) } }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        #expect(Set(drawn.map { $0.prefix(8) }).count == drawn.count)
        #expect(!drawn.contains { $0.suffix(8) == [0, 0, 0, 0, 0, 0, 0, 0] })
    }
}
