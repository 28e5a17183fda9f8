// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A socket that never blocks, closed with its last owner. Reading and writing take and give what is possible now.
package final class Descriptor: Sendable {
    /// The number that system calls know it by.
    package let number: Int32

    /// Takes over a descriptor.
    package init(owning number: Int32) {
        self.number = number
    }

    /// Makes a TCP socket for addresses of a family (`AF_INET`, `AF_INET6`).
    ///
    /// - Throws: ``SocketError``.
    package init(family: Int32) throws(SocketError) {
        let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        number = socket(family, type, 0)
        guard number >= 0 else { throw SocketError(errno, "socket") }
    }

    deinit { close(number) }

    /// Takes up a connection that waits at this listening socket; `nil` when none does.
    func accept() -> Descriptor? {
        let accepted = Glibc.accept(number, nil, nil)
        guard accepted >= 0 else { return nil }
        _ = fcntl(accepted, F_SETFL, O_NONBLOCK)
        _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
        return Descriptor(owning: accepted)
    }

    /// Makes the send buffer small, so that it is soon full.
    package func limitSendBuffer(toBytes bytes: Int32) {
        var bytes = bytes
        setsockopt(number, SOL_SOCKET, SO_SNDBUF, &bytes, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Reads at most `maximumBytes`.
    ///
    /// - Returns: What came; nothing at the end of the stream; `nil` when there is nothing to read yet.
    /// - Throws: ``SocketError``.
    package func read(maximumBytes: Int = 4_096) throws(SocketError) -> [UInt8]? {
        var count = 0
        var code: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: maximumBytes) { buffer, filled in
            repeat {
                count = recv(number, buffer.baseAddress, buffer.count, 0)
                code = errno
            } while count < 0 && code == EINTR
            filled = max(0, count)
        }
        if count < 0, code == EAGAIN { return nil }
        guard count >= 0 else { throw SocketError(code, "read") }
        return bytes
    }

    /// Writes as much as fits into the socket's send buffer.
    ///
    /// - Returns: How many bytes were taken; fewer than there are when the buffer is full.
    /// - Throws: ``SocketError``.
    package func write(_ bytes: some Sequence<UInt8>) throws(SocketError) -> Int {
        let bytes = Array(bytes)
        var written = 0
        while written < bytes.count {
            // MSG_NOSIGNAL: that the peer has gone is an error here, not a signal that ends the process.
            let count = bytes.withUnsafeBytes {
                send(number, $0.baseAddress?.advanced(by: written), $0.count - written, Int32(MSG_NOSIGNAL))
            }
            if count >= 0 {
                written += count
            } else if errno == EAGAIN {
                break
            } else if errno != EINTR {
                throw SocketError(errno, "write")
            }
        }
        return written
    }
}

/// A call that the system refused.
package struct SocketError: Error, Hashable, CustomStringConvertible {
    /// The system's number for the reason: `errno`.
    package let code: Int32
    package let description: String

    package init(_ code: Int32, _ call: String) {
        self.code = code
        description = "\(call): \(String(cString: strerror(code)).lowercased())"
    }

    /// A reason that is not of `errno`.
    package init(_ description: String) {
        code = 0
        self.description = description
    }

    /// There was no answer in time.
    package static let timedOut = SocketError(ETIMEDOUT, "connect")

    /// Nobody listens at the port.
    package var isRefusal: Bool { code == ECONNREFUSED }
    /// There was no answer in time.
    package var isTimeout: Bool { code == ETIMEDOUT }
}
