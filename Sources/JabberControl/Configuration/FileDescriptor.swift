// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Blocking reads and writes of whole texts on a descriptor that somebody else owns.
package struct FileDescriptor: Sendable {
    /// The number.
    package let number: Int32

    /// Wraps a descriptor; it is not closed by this value.
    package init(_ number: Int32) {
        self.number = number
    }

    /// Makes sure that descriptors 0 to 2 are taken, once and first of all.
    ///
    /// Whoever starts a program with one of them closed makes its next socket that very number: what it prints would go
    /// to a peer. Each is taken in the direction in which it is not used, so that using it fails as on a closed one.
    package static func occupyStandard() {
        for (number, mode) in [(Int32(0), O_WRONLY), (1, O_RDONLY), (2, O_RDONLY)] where fcntl(number, F_GETFD) < 0 {
            // The lowest number that is free, which is this one.
            _ = open("/dev/null", mode)
        }
    }

    /// Reads until the end.
    ///
    /// - Parameters:
    ///   - limit: The most bytes that are accepted.
    ///   - name: What is read, for the error's text.
    /// - Throws: `ControlError` with ``ControlErrorCode/inputOutput``, or ``ControlErrorCode/badData`` beyond the
    ///   limit.
    package func readAll(limit: Int, name: String) throws(ControlError) -> [UInt8] {
        var bytes: [UInt8] = []
        while let piece = try readSome(name: name) {
            bytes += piece
            guard bytes.count <= limit else {
                throw ControlError(.badData, "\(name) is longer than \(limit) bytes")
            }
        }
        return bytes
    }

    /// Reads what is there, at most 64 KiB, waiting for the first byte; `nil` at the end.
    ///
    /// - Throws: `ControlError` with ``ControlErrorCode/inputOutput``.
    package func readSome(name: String) throws(ControlError) -> [UInt8]? {
        while true {
            var count = 0
            let piece = [UInt8](unsafeUninitializedCapacity: 64 << 10) { buffer, size in
                count = Glibc.read(number, buffer.baseAddress, buffer.count)
                size = max(0, count)
            }
            if count > 0 { return piece }
            if count == 0 { return nil }
            if errno == EAGAIN {
                var wait = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
                poll(&wait, 1, -1)
                continue
            }
            guard errno == EINTR else {
                throw ControlError(.inputOutput, "cannot read \(name): \(String(cString: strerror(errno)))")
            }
        }
    }

    /// Writes everything.
    ///
    /// - Throws: `ControlError` with ``ControlErrorCode/inputOutput``.
    package func writeAll(_ bytes: some Collection<UInt8>, name: String) throws(ControlError) {
        let bytes = Array(bytes)
        var start = 0
        while start < bytes.count {
            let count = bytes[start...].withUnsafeBytes { Glibc.write(number, $0.baseAddress, $0.count) }
            if count >= 0 {
                start += count
            } else if errno == EAGAIN {
                var wait = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
                poll(&wait, 1, -1)
            } else if errno != EINTR {
                throw ControlError(.inputOutput, "cannot write \(name): \(String(cString: strerror(errno)))")
            }
        }
    }
}
