// SPDX-License-Identifier: Apache-2.0

package import SocketIO

/// Connects through a proxy. Nothing but the proxy's own name is looked up here: the proxy gets names, so that neither
/// name servers nor the network on the way learn which domain it is about, as Tor asks for.
package struct ProxyConnector: StreamConnector {
    /// How long the proxy may take to connect, once it is connected to itself; 20 s.
    package static let handshakeTimeout: Duration = .seconds(20)

    private let proxy: Proxy
    private let base: any StreamConnector
    private let clock: any StreamClock

    /// Makes a connector.
    ///
    /// - Parameters:
    ///   - proxy: Who connects in our place.
    ///   - base: How to connect to the proxy itself.
    ///   - clock: Where time comes from.
    package init(_ proxy: Proxy, over base: any StreamConnector, clock: any StreamClock = SystemClock()) {
        self.proxy = proxy
        self.base = base
        self.clock = clock
    }

    package var reachesWeb: Bool { base.reachesWeb }

    /// The place that the user names, or the domain itself, at the usual port for STARTTLS and then at that for direct
    /// TLS: there is no asking for SRV records through a proxy.
    package func targets(
        for domain: String, override: ConnectionTarget?
    ) async throws(ConnectError) -> [ConnectionTarget] {
        if let override { return [override] }
        return ConnectionPlanner.fallback(for: domain).flatMap {
            [$0, ConnectionTarget(host: $0.host, security: .directTLS)]
        }
    }

    /// Connects to the proxy and has it connect.
    ///
    /// - Throws: ``ConnectError/proxyFailed(proxy:target:_:)``, ``ConnectError/cancelled``.
    package func connect(
        to target: ConnectionTarget, on executor: StreamExecutor
    ) async throws(ConnectError) -> any ByteTransport {
        let transport: any ByteTransport
        do throws(ConnectError) {
            transport = try await base.connect(to: proxy.target, on: executor)
        } catch {
            if error == .cancelled { throw error }
            throw failure(ProxyError(.connecting, .unreachable("\(error)")), target)
        }
        let tunnel = ProxyTunnel(over: transport, proxy.dialogue(to: target))
        let outcome = Handover<ProxyError?>()
        let refusal = await withTaskCancellationHandler {
            executor.run { [clock] in
                tunnel.open(within: Self.handshakeTimeout, clock: clock) { outcome.give($0) }
            }
            return await outcome.value()
        } onCancel: {
            executor.run { tunnel.abort() }
        }
        guard !Task.isCancelled else {
            executor.run { tunnel.abort() }
            throw ConnectError.cancelled
        }
        if let refusal { throw failure(refusal, target) }
        return tunnel
    }

    private func failure(_ error: ProxyError, _ target: ConnectionTarget) -> ConnectError {
        .proxyFailed(proxy: proxy.description, target: target.authority, error)
    }
}
