// SPDX-License-Identifier: Apache-2.0

/// Bytes that wait until the system takes them, with marks that tell a producer to stop and to go on.
///
/// Small pieces are gathered, so that a burst of stanzas costs one system call and not one each.
package struct WriteQueue: Sendable {
    /// Bytes above which a producer should stop. Default 1 MiB.
    package static let defaultHighWaterMark = 1_048_576
    /// Bytes at which a stopped producer may go on. Default 256 KiB.
    package static let defaultLowWaterMark = 262_144
    /// Bytes up to which small pieces are gathered into one write.
    static let maximumGatheredBytes = 65_536

    /// Bytes above which a producer should stop.
    package let highWaterMark: Int
    /// Bytes at which a stopped producer may go on.
    package let lowWaterMark: Int
    /// Bytes that wait.
    package private(set) var count = 0
    /// Whether the queue has been above the high-water mark and not yet at the low-water mark again.
    package private(set) var isCongested = false

    private var chunks: [[UInt8]] = []
    /// Index of the first chunk that has bytes left; what is before it is empty.
    private var head = 0
    /// Bytes of the first chunk that are written.
    private var offset = 0

    /// Makes an empty queue.
    package init(
        highWaterMark: Int = WriteQueue.defaultHighWaterMark, lowWaterMark: Int = WriteQueue.defaultLowWaterMark
    ) {
        self.highWaterMark = max(0, highWaterMark)
        self.lowWaterMark = min(max(0, lowWaterMark), self.highWaterMark)
    }

    /// Whether nothing waits.
    package var isEmpty: Bool { count == 0 }

    /// Adds bytes at the end.
    package mutating func append(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        count += bytes.count
        if let last = chunks.indices.last, last >= head,
            chunks[last].count + bytes.count <= Self.maximumGatheredBytes
        {
            chunks[last].append(contentsOf: bytes)
        } else {
            chunks.append(bytes)
        }
        if count > highWaterMark { isCongested = true }
    }

    /// Lends the first run of bytes; `nil` when nothing waits.
    package func withFirst<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result? {
        guard head < chunks.count else { return nil }
        return chunks[head].withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0.dropFirst(offset))) }
    }

    /// Removes bytes that the system took.
    ///
    /// - Parameter written: How many; at most what ``withFirst(_:)`` lent.
    /// - Returns: Whether the queue has just fallen to its low-water mark after having been above the high one.
    package mutating func consume(_ written: Int) -> Bool {
        guard head < chunks.count else { return false }
        let taken = min(max(0, written), chunks[head].count - offset)
        count -= taken
        offset += taken
        if offset == chunks[head].count {
            chunks[head] = []
            head += 1
            offset = 0
            if head == chunks.count || head >= 64 {
                chunks.removeFirst(head)
                head = 0
            }
        }
        guard isCongested, count <= lowWaterMark else { return false }
        isCongested = false
        return true
    }

    /// Drops everything.
    package mutating func removeAll() {
        self = WriteQueue(highWaterMark: highWaterMark, lowWaterMark: lowWaterMark)
    }
}
