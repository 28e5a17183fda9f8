// SPDX-License-Identifier: Apache-2.0

/// Makes lines of bytes that come in pieces of any size. Text is made of whole lines only: a read may end in the
/// middle of a character.
package struct LineBuffer: Sendable {
    /// What a line turned out to be.
    package enum Line: Sendable, Hashable {
        /// A line, without its end; what is no UTF-8 has become U+FFFD.
        case text(String)
        /// One with more bytes than are allowed. It is passed over to its end.
        case tooLong
    }

    /// Bytes of a line at most, its end not counted.
    package let maximumBytes: Int
    /// What has come of the next line.
    private var rest: [UInt8] = []
    private var isPassingOver = false

    /// Makes an empty buffer.
    package init(maximumBytes: Int = 1_024) {
        self.maximumBytes = maximumBytes
    }

    /// Whether a line was begun and not ended.
    package var hasHalfLine: Bool { !rest.isEmpty || isPassingOver }

    /// Takes bytes.
    ///
    /// - Returns: The lines that end in them, and those that prove too long.
    package mutating func feed(_ bytes: [UInt8]) -> [Line] {
        var lines: [Line] = []
        for byte in bytes {
            switch (byte, isPassingOver) {
            case (UInt8(ascii: "\n"), true):
                isPassingOver = false
            case (UInt8(ascii: "\n"), false):
                if rest.last == UInt8(ascii: "\r") { rest.removeLast() }
                lines.append(.text(String(decoding: rest, as: UTF8.self)))
                rest.removeAll(keepingCapacity: true)
            case (_, true):
                break
            case (_, false) where rest.count < maximumBytes:
                rest.append(byte)
            case (_, false):
                lines.append(.tooLong)
                rest.removeAll(keepingCapacity: true)
                isPassingOver = true
            }
        }
        return lines
    }
}
