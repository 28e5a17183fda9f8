// SPDX-License-Identifier: Apache-2.0

import SocketIO
import Testing
import XMPPTestSupport

@testable import XMPPTransport

/// Writes down what it is asked, and knows this machine alone.
private final class NoteTaker: ServiceResolver, AddressResolver {
    let asked = Locked<[String]>([])

    func records(for name: String) async -> SRVAnswer {
        asked.withLock { $0.append(name) }
        return .none
    }

    func addresses(of host: String, port: UInt16) async throws(ConnectError) -> [SocketAddress] {
        asked.withLock { $0.append(host) }
        return [.loopback(port: port)]
    }
}

@Suite("Connecting through a proxy", .timeLimit(.minutes(5)))
struct ProxyConnectorTests {
    private let executor = StreamExecutor()

    private func connector(
        _ proxy: LoopbackProxy, _ kind: Proxy.Kind = .socks5, host: String = "127.0.0.1",
        names: NoteTaker = NoteTaker(), clock: any StreamClock = SystemClock()
    ) -> ProxyConnector {
        ProxyConnector(
            Proxy(kind, host: host, port: proxy.port), over: NetworkConnector(services: names, addresses: names),
            clock: clock)
    }

    @Test("no name is looked up here but the proxy's own, and the proxy gets the name of the host")
    func names() async throws {
        let listener = try ListeningSocket(.loopback(port: 0), on: executor)
        let proxy = try LoopbackProxy(.socks5, to: [5222: try #require(listener.address.port)])
        let names = NoteTaker()
        let connector = connector(proxy, host: "proxy.example", names: names)
        let targets = try await connector.targets(for: "example.org", override: nil)
        #expect(
            targets == [
                ConnectionTarget(host: "example.org", port: 5222),
                ConnectionTarget(host: "example.org", port: 5223, security: .directTLS),
            ])
        let own = ConnectionTarget(host: "xmpp.example.org", port: 443)
        #expect(try await connector.targets(for: "example.org", override: own) == [own])
        let transport = try await connector.connect(to: targets[0], on: executor)
        #expect(!transport.peerIsLoopback, "the proxy is here, the server is not")
        executor.run { transport.abort() }
        #expect(names.asked.withLock { $0 } == ["proxy.example"])
        #expect(proxy.requests == ["example.org:5222"])
        proxy.stop()
        executor.run { listener.close() }
    }

    @Test("a proxy that is not there is told with its address", arguments: [Proxy.Kind.socks5, .http])
    func absent(kind: Proxy.Kind) async throws {
        let connector = ProxyConnector(Proxy(kind, host: "127.0.0.1", port: 1), over: NetworkConnector())
        let error = await #expect(throws: ConnectError.self) {
            _ = try await connector.connect(to: ConnectionTarget(host: "example.org"), on: executor)
        }
        guard case .proxyFailed("\(kind.rawValue)://127.0.0.1:1", "example.org:5222", let reason)? = error else {
            Issue.record("\(error as Any)")
            return
        }
        #expect(reason.phase == .connecting && !reason.concernsTarget)
    }

    @Test("a proxy that is silent, or that hangs up, is given up at the step where it was")
    func silence() async throws {
        let clock = TestClock()
        let silent = try LoopbackProxy(.socks5, to: [:], manner: .isSilent)
        let connector = connector(silent, clock: clock)
        let attempt = Task { try await connector.connect(to: ConnectionTarget(host: "example.org"), on: executor) }
        await clock.waitForTimers()
        await clock.advance(by: ProxyConnector.handshakeTimeout)
        let error = await #expect(throws: ConnectError.self) { _ = try await attempt.value }
        guard case .proxyFailed(_, _, let reason)? = error else {
            Issue.record("\(error as Any)")
            return
        }
        #expect(reason == ProxyError(.greeting, .silent(ProxyConnector.handshakeTimeout)))
        #expect(reason.description.contains("within 20 s"))
        silent.stop()
        let rude = try LoopbackProxy(.http, to: [:], manner: .hangsUp)
        let other = await #expect(throws: ConnectError.self) {
            _ = try await self.connector(rude, .http).connect(to: ConnectionTarget(host: "a"), on: executor)
        }
        guard case .proxyFailed(_, _, let reason)? = other, case .closed = reason.reason else {
            Issue.record("\(other as Any)")
            return
        }
        rude.stop()
    }

    @Test("cancelling ends the wait for the proxy")
    func cancels() async throws {
        let silent = try LoopbackProxy(.socks5, to: [:], manner: .isSilent)
        let clock = TestClock()
        let connector = connector(silent, clock: clock)
        let attempt = Task { try await connector.connect(to: ConnectionTarget(host: "example.org"), on: executor) }
        await clock.waitForTimers()
        attempt.cancel()
        await #expect(throws: ConnectError.cancelled) { _ = try await attempt.value }
        silent.stop()
    }
}
