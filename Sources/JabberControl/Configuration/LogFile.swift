// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import SocketIO

/// A text file that another program appends to, line by line.
package struct LogFile {
    /// How much of the end is looked through for the last lines, in bytes: 1 MiB.
    package static let maximumBytes = 1 << 20
    /// The longest line that is kept together, in bytes: 64 KiB.
    package static let maximumLineBytes = 64 << 10
    /// How long ``pause()`` sleeps, in microseconds.
    private static let pauseMicroseconds: UInt32 = 200_000

    private let path: String
    private let descriptor: Descriptor
    private var rest: [UInt8] = []

    /// Opens a file; `nil` when there is none.
    ///
    /// - Throws: `ControlError` with ``ControlErrorCode/inputOutput`` when it cannot be read.
    package init?(_ path: String) throws(ControlError) {
        let number = SystemCall.uninterrupted {
            open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK)
        }
        guard number >= 0 else {
            guard errno == ENOENT || errno == ENOTDIR else {
                throw ControlError(.inputOutput, "cannot read \(path): \(String(cString: strerror(errno)))")
            }
            return nil
        }
        self.path = path
        descriptor = Descriptor(owning: number)
    }

    /// The last lines, at most those of the last ``maximumBytes``; the file is read on from there.
    ///
    /// - Parameter count: How many.
    package mutating func last(_ count: Int) throws(ControlError) -> [String] {
        let size = lseek(descriptor.number, 0, SEEK_END)
        let start = max(0, size - Int(Self.maximumBytes))
        lseek(descriptor.number, start, SEEK_SET)
        var lines = try next()
        if start > 0, !lines.isEmpty { lines.removeFirst() }
        return Array(lines.suffix(max(0, count)))
    }

    /// The whole lines that came since.
    package mutating func next() throws(ControlError) -> [String] {
        while let piece = try FileDescriptor(descriptor.number).readSome(name: path) { rest += piece }
        var lines: [String] = []
        var begin = rest.startIndex
        while let end = rest[begin...].firstIndex(of: UInt8(ascii: "\n")) {
            lines.append(String(decoding: rest[begin..<end], as: UTF8.self))
            begin = end + 1
        }
        rest.removeFirst(begin)
        if rest.count > Self.maximumLineBytes {
            lines.append(String(decoding: rest, as: UTF8.self))
            rest = []
        }
        return lines
    }

    /// Whether another file has the name by now.
    package var isReplaced: Bool {
        var (mine, named) = (stat(), stat())
        guard fstat(descriptor.number, &mine) == 0, stat(path, &named) == 0 else { return false }
        return mine.st_ino != named.st_ino || mine.st_dev != named.st_dev
    }

    /// Sleeps for a moment: nothing tells when a file grows that would not cost more.
    package static func pause() {
        usleep(pauseMicroseconds)
    }
}
