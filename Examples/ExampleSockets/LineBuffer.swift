// SPDX-License-Identifier: Apache-2.0

/// Makes lines of bytes that come in pieces of any size. Text is made of whole lines only: a read may end in the middle of a
/// character.
package struct LineBuffer: Sendable {
    /// A line with more bytes than are allowed.
    package struct TooLong: Error, Hashable {}

    /// Bytes of a line at most, its end not counted.
    package let maximumBytes: Int
    /// What has come of the next line.
    private var rest: [UInt8] = []

    /// Makes an empty buffer.
    package init(maximumBytes: Int = 1_024) {
        self.maximumBytes = maximumBytes
    }

    /// Whether a line was begun and not ended.
    package var hasHalfLine: Bool { !rest.isEmpty }

    /// Takes bytes.
    ///
    /// - Returns: The lines that end in them, without their ends. What is no UTF-8 becomes U+FFFD.
    /// - Throws: ``TooLong``.
    package mutating func feed(_ bytes: [UInt8]) throws(TooLong) -> [String] {
        var lines: [String] = []
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                if rest.last == UInt8(ascii: "\r") { rest.removeLast() }
                lines.append(String(decoding: rest, as: UTF8.self))
                rest.removeAll(keepingCapacity: true)
            } else {
                guard rest.count < maximumBytes else { throw TooLong() }
                rest.append(byte)
            }
        }
        return lines
    }
}
