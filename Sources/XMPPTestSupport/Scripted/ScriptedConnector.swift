// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
public import XMPP
internal import XMPPTransport

/// Where clients come in to a ``ScriptedServer``; it outlives the server, and then leads nowhere.
final class Doorway: Sendable {
    typealias Accept = @Sendable (ScriptedTransport) async -> Void

    private let accept = Locked<Accept?>(nil)

    func open(_ accept: @escaping Accept) {
        self.accept.withLock { $0 = accept }
    }

    func enter(_ wire: ScriptedTransport) async {
        if let accept = accept.withLock({ $0 }) { await accept(wire) }
    }
}

/// Connects to a ``ScriptedServer`` instead of the network.
struct ScriptedConnector: StreamConnector {
    let doorway: Doorway

    func targets(
        for domain: String, override: ConnectionTarget?
    ) async throws(ConnectError) -> [ConnectionTarget] {
        [override ?? ConnectionTarget(host: "127.0.0.1")]
    }

    func connect(
        to target: ConnectionTarget, on executor: StreamExecutor
    ) async throws(ConnectError) -> any ByteTransport {
        let (client, server) = ScriptedTransport.pair(on: executor, and: StreamExecutor(label: "swift-xmpp.scripted"))
        await doorway.enter(server)
        return client
    }
}

extension XMPPConfiguration {
    /// Takes time from a test's clock.
    public mutating func use(_ clock: TestClock) {
        self.clock = clock
    }

    /// Takes ids and nonces from a generator that is the same in every run. Never outside of tests.
    public mutating func use(_ generator: SeededGenerator) {
        random = generator
    }

    /// Comes to a scripted server; the account, the password and the trust are the server's.
    public mutating func use(_ server: ScriptedServer) {
        jid = server.configuration.jid
        password = server.configuration.password
        certificateAuthorityFile = server.configuration.certificateAuthorityFile
        securityPolicy = server.configuration.securityPolicy
        connector = server.configuration.connector
    }
}
