// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import XMPPXML

@Suite struct GrowingBufferTests {
    @Test("what is appended is there in order, however often the buffer had to grow")
    func growing() {
        var buffer = GrowingBuffer<UInt8>(capacity: 1)
        var expected: [UInt8] = []
        for length in 0..<300 {
            let piece = (0..<length).map { UInt8(truncatingIfNeeded: $0 &+ length) }
            piece.withUnsafeBufferPointer { buffer.append(contentsOf: $0) }
            buffer.append(UInt8(truncatingIfNeeded: length))
            expected += piece + [UInt8(truncatingIfNeeded: length)]
        }
        #expect(Array(buffer.contents) == expected)
        #expect(buffer.count == expected.count)
    }

    @Test("a place can be written again")
    func replacing() {
        var buffer = GrowingBuffer<UInt32>()
        for value in 0..<100 { buffer.append(UInt32(value)) }
        buffer[7] = 1_000
        #expect(buffer[7] == 1_000)
        #expect(buffer[8] == 8)
    }

    @Test("an emptied buffer is empty, with its room kept or given back", arguments: [1, 1_000])
    func emptying(kept: Int) {
        var buffer = GrowingBuffer<UInt8>(capacity: 1)
        for value in 0..<100 { buffer.append(UInt8(value)) }
        buffer.removeAll(keepingCapacity: kept)
        #expect(buffer.contents.isEmpty)
        buffer.append(5)
        #expect(Array(buffer.contents) == [5])
    }
}
