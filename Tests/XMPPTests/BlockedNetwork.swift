// SPDX-License-Identifier: Apache-2.0

import SocketIO
import XMPPTransport

/// A network on which nothing listens where DNS points to; the web server is at a port of the test's own.
struct BlockedNetwork: StreamConnector {
    let network = NetworkConnector()
    var reachesWeb = true
    /// Where the web server is; a port that nobody listens at stands for none.
    var webPort: UInt16
    var targets = [ConnectionTarget(host: "127.0.0.1", port: 1)]
    /// How often DNS was asked, and which places were gone to.
    let lookups = Locked(0)
    let visits = Locked<[ConnectionTarget]>([])

    init(webPort: UInt16) {
        self.webPort = webPort
    }

    func targets(
        for domain: String, override: ConnectionTarget?
    ) async throws(ConnectError) -> [ConnectionTarget] {
        lookups.withLock { $0 += 1 }
        return override.map { [$0] } ?? targets
    }

    func connect(
        to target: ConnectionTarget, on executor: StreamExecutor
    ) async throws(ConnectError) -> any ByteTransport {
        visits.withLock { $0.append(target) }
        let port = target.port == 443 ? webPort : target.port
        return try await network.connect(
            to: ConnectionTarget(host: "127.0.0.1", port: port, security: target.security), on: executor)
    }
}
