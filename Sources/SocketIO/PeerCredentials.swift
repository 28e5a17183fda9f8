// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Who is at the other end of a Unix socket, as the kernel knows it (SO_PEERCRED).
package struct PeerCredentials: Sendable, Hashable {
    /// The peer's process.
    package let processID: Int32
    /// The peer's effective user when it connected.
    package let userID: UInt32
    /// The peer's effective group when it connected.
    package let groupID: UInt32
}

extension PeerCredentials {
    /// Asks the kernel who is at the other end of a connected Unix socket; of one that listens, who made it listen
    /// (unix(7), SO_PEERCRED).
    ///
    /// - Throws: `SystemError` when it is no such socket.
    package init(of descriptor: Int32) throws(SystemError) {
        // The kernel writes three 32-bit numbers: process, user, group.
        var numbers: (Int32, UInt32, UInt32) = (0, 0, 0)
        var size = socklen_t(12)
        guard getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &numbers, &size) == 0, size == 12 else {
            throw SystemError.last("getsockopt")
        }
        self.init(processID: numbers.0, userID: numbers.1, groupID: numbers.2)
    }
}

extension SocketTransport {
    /// Asks the kernel who is at the other end. Only a Unix socket has an answer.
    ///
    /// - Throws: `SystemError` when the transport is closed or the socket is not a Unix socket.
    package func peerCredentials() throws(SystemError) -> PeerCredentials {
        checkQueue()
        guard let descriptor else { throw SystemError(EBADF, "getsockopt") }
        guard peerAddress?.isUnix == true else { throw SystemError(EOPNOTSUPP, "getsockopt") }
        return try PeerCredentials(of: descriptor.number)
    }
}
