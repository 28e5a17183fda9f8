// SPDX-License-Identifier: Apache-2.0

package import SocketIO

/// A daemon for one command: serves one connection and ends with it.
package struct PrivateDaemon: Sendable {
    private let daemon: Daemon

    /// Makes a private daemon.
    package init(environment: DaemonEnvironment) {
        daemon = Daemon(environment: environment)
    }

    /// Serves the connection until its client has gone, and ends every session in good order.
    ///
    /// - Parameter transport: One end of a socket pair, not started yet.
    package func run(over transport: any ByteTransport) async {
        await daemon.serve(transport)
        await daemon.stop()
    }

    /// Ends the sessions now; methods that run fail.
    package func stop() async {
        await daemon.stop()
    }
}
