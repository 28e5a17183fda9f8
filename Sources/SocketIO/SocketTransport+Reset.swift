// SPDX-License-Identifier: Apache-2.0

internal import Glibc

extension SocketTransport {
    /// Closes now, and tells the peer with a reset (RST) instead of an orderly end, as a crashed machine would.
    package func reset() {
        checkQueue()
        if let descriptor {
            var immediately = linger(l_onoff: 1, l_linger: 0)
            _ = setsockopt(
                descriptor.number, SOL_SOCKET, SO_LINGER, &immediately, socklen_t(MemoryLayout<linger>.size))
        }
        abort()
    }
}
