// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SocketIO

@Suite struct WriteQueueTests {
    @Test("small pieces are gathered into one run of bytes")
    func gathers() {
        var queue = WriteQueue()
        for byte in 0..<100 { queue.append([UInt8(byte)]) }
        #expect(queue.count == 100)
        #expect(queue.withFirst { Array($0) } == (0..<100).map { UInt8($0) })
    }

    @Test(
        "bytes leave in the order in which they came, however they are taken",
        arguments: [1, 7, 1000, 65_536, 1_000_000])
    func keepsOrder(step: Int) {
        var queue = WriteQueue()
        let bytes = pattern(300_000)
        var index = 0
        for size in [1, 5, 70_000, 3, 60_000, 60_000, 109_991] {
            queue.append(Array(bytes[index..<index + size]))
            index += size
        }
        #expect(index == bytes.count)
        var taken: [UInt8] = []
        while let piece = queue.withFirst({ Array($0.prefix(step)) }) {
            taken += piece
            _ = queue.consume(piece.count)
        }
        #expect(taken == bytes)
        #expect(queue.isEmpty)
    }

    @Test("the low-water mark is reported once, and only after the high-water mark was passed")
    func marks() {
        var queue = WriteQueue(highWaterMark: 100, lowWaterMark: 20)
        func consume(_ count: Int) -> Bool { queue.consume(count) }
        queue.append(pattern(100))
        #expect(!queue.isCongested)
        #expect(!consume(100))
        queue.append(pattern(101))
        #expect(queue.isCongested)
        #expect(!consume(80))
        #expect(consume(1))
        #expect(!queue.isCongested)
        #expect(!consume(20))
    }

    @Test("taking more than there is takes what there is")
    func consumesTooMuch() {
        var queue = WriteQueue()
        queue.append([1, 2, 3])
        _ = queue.consume(10)
        #expect(queue.isEmpty)
        _ = queue.consume(1)
        _ = queue.consume(-1)
        #expect(queue.isEmpty)
        #expect(queue.count == 0)
    }
}
