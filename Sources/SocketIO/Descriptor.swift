// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// An open file descriptor that is closed when its last user lets go of it.
///
/// Whoever uses the number holds this object, so that it cannot be given to another file meanwhile.
package final class Descriptor: Sendable {
    /// The number the system knows the file by. Valid as long as this object lives.
    package let number: Int32

    /// Takes over an open descriptor.
    package init(owning number: Int32) {
        self.number = number
    }

    deinit {
        _ = Glibc.close(number)
    }

    /// Makes a stream socket that does not block and is not inherited by child processes.
    static func socket(family: Int32) throws(SystemError) -> Descriptor {
        let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let number = Glibc.socket(family, type, 0)
        guard number >= 0 else { throw SystemError.last("socket") }
        return Descriptor(owning: number)
    }

    /// Makes reads and writes return instead of waiting, and closes the descriptor in child processes.
    func prepare() throws(SystemError) {
        let flags = fcntl(number, F_GETFL)
        guard flags >= 0, fcntl(number, F_SETFL, flags | O_NONBLOCK) >= 0 else { throw SystemError.last("fcntl") }
        let descriptorFlags = fcntl(number, F_GETFD)
        guard descriptorFlags >= 0, fcntl(number, F_SETFD, descriptorFlags | FD_CLOEXEC) >= 0 else {
            throw SystemError.last("fcntl")
        }
    }

    /// Sends small writes at once: a chat is made of them (TCP_NODELAY). Does nothing on other sockets.
    func disableDelay() {
        var on: Int32 = 1
        _ = setsockopt(number, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    /// The error that a connection attempt in progress ended with; 0 when it succeeded.
    func pendingError() -> Int32 {
        var code: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(number, SOL_SOCKET, SO_ERROR, &code, &size) == 0 ? code : errno
    }
}
