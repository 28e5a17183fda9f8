// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Two connected Unix sockets: one to keep, one for a child process or for the other end of a test.
package struct SocketPair: Sendable {
    /// One end.
    package let first: Descriptor
    /// The other end.
    package let second: Descriptor

    /// Makes a connected pair; both ends are closed in child processes unless handed over on purpose.
    package init() throws(SystemError) {
        var numbers: (Int32, Int32) = (-1, -1)
        let result = withUnsafeMutableBytes(of: &numbers) { bytes in
            let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
            guard let base = bytes.bindMemory(to: Int32.self).baseAddress else { return Int32(-1) }
            return socketpair(AF_UNIX, type, 0, base)
        }
        guard result == 0 else { throw SystemError.last("socketpair") }
        first = Descriptor(owning: numbers.0)
        second = Descriptor(owning: numbers.1)
    }

    /// Makes a connected pair of transports.
    package static func transports(
        on firstExecutor: StreamExecutor, and secondExecutor: StreamExecutor
    ) throws(SystemError) -> (SocketTransport, SocketTransport) {
        let pair = try SocketPair()
        return (
            try SocketTransport(pair.first, on: firstExecutor), try SocketTransport(pair.second, on: secondExecutor)
        )
    }
}
