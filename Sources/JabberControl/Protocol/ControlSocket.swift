// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Glibc
package import SocketIO

/// The way to the control socket of a running daemon.
package enum ControlSocket {
    /// How long a daemon may take to accept; 2 seconds.
    package static let maximumWait: Duration = .seconds(2)

    /// Connects to a daemon of this user.
    ///
    /// - Parameter path: The path of the socket.
    /// - Returns: A transport that was not started yet.
    /// - Throws: `ControlError` with ``ControlErrorCode/daemonNotRunning`` when nobody listens there, or somebody else:
    ///   passwords may go there.
    package static func connect(to path: String) async throws(ControlError) -> SocketTransport {
        guard let address = SocketAddress(unixPath: path) else {
            throw ControlError(.daemonNotRunning, "\(TerminalText.line(path)) cannot be the path of a socket")
        }
        let executor = StreamExecutor(label: "jabberctl.control")
        let transport: SocketTransport
        do throws(SystemError) {
            transport = try await SocketTransport.connect(to: address, on: executor, timeout: maximumWait)
        } catch {
            throw ControlError(.daemonNotRunning, "no daemon answers at \(path)")
        }
        let peer = try? executor.queue.sync { () throws(SystemError) in try transport.peerCredentials() }
        guard peer?.userID == geteuid() else {
            executor.queue.async { transport.abort() }
            throw ControlError(.daemonNotRunning, "the daemon at \(path) is another user's")
        }
        return transport
    }

    /// Where programs look that name no socket: `$JABBERCTL_SOCKET`, then the place of the user's daemon.
    package static var usualPath: String {
        var variables: [String: String] = [:]
        for name in ["HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "JABBERCTL_SOCKET"] {
            variables[name] = getenv(name).map { String(cString: $0) }
        }
        if let socket = variables["JABBERCTL_SOCKET"], !socket.isEmpty { return socket }
        return RuntimePaths(environment: variables).controlSocket
    }
}
