// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Glibc

/// Listens on 127.0.0.1 and hands over every connection.
package final class Listener {
    /// Connections that may wait to be taken up; further ones are closed.
    package static let maximumWaiting = 64

    /// The port; the system's choice when none was asked for.
    package let port: UInt16
    /// The connections, in the order in which they came; ends with ``stop()``.
    package let connections: AsyncStream<Descriptor>
    private let source: any DispatchSourceRead

    /// Begins to listen.
    ///
    /// - Parameter port: The port; 0 lets the system choose.
    /// - Throws: ``SocketError``.
    package init(port: UInt16 = 0) throws(SocketError) {
        let socket = try Descriptor(family: AF_INET)
        var on: Int32 = 1
        setsockopt(socket.number, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        let bytes = withUnsafeBytes(of: address) { Array($0) }
        guard SocketAddress(family: AF_INET, bytes: bytes).with({ bind(socket.number, $0, $1) }) == 0,
            listen(socket.number, 64) == 0
        else { throw SocketError(errno, "listen") }
        self.port = Self.port(of: socket)

        let (connections, connection) = AsyncStream.makeStream(
            of: Descriptor.self, bufferingPolicy: .bufferingOldest(Self.maximumWaiting))
        self.connections = connections
        source = DispatchSource.makeReadSource(
            fileDescriptor: socket.number, queue: DispatchQueue(label: "example.listener"))
        source.setEventHandler {
            // All that wait, not only one: the next event may never come.
            while let accepted = socket.accept() { connection.yield(accepted) }
        }
        // The socket is closed when the event loop has let go of it.
        source.setCancelHandler { withExtendedLifetime(socket) { connection.finish() } }
        source.activate()
    }

    deinit { stop() }

    /// Listens no more. Connections that were handed over stay.
    package func stop() {
        source.cancel()
    }

    private static func port(of socket: Descriptor) -> UInt16 {
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutableBytes(of: &address) {
            $0.assumingMemoryBound(to: sockaddr.self).baseAddress.map { getsockname(socket.number, $0, &size) }
        }
        return UInt16(bigEndian: address.sin_port)
    }
}
