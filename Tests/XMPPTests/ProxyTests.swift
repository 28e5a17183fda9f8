// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPTestSupport

@testable import XMPP

@Suite("A session through a proxy", .timeLimit(.minutes(3)))
struct ProxyTests {
    private func configuration(
        _ kind: LoopbackProxy.Kind, at port: UInt16, _ username: String? = nil, _ password: Password? = nil
    ) -> ConnectionProxy {
        switch kind {
        case .socks5: .socks5(host: "127.0.0.1", port: port, username: username, password: password)
        case .http: .http(host: "127.0.0.1", port: port, username: username, password: password)
        }
    }

    /// Romeo's configuration for a server that a proxy alone knows the way to. Its clock stands still: however slow the
    /// machine is, no other place is tried because of that.
    private func romeo(
        _ server: LoopbackServer, through proxy: LoopbackProxy, _ kind: LoopbackProxy.Kind = .socks5
    ) async throws -> XMPPConfiguration {
        var configuration = try await server.configuration(for: "romeo")
        configuration.host = nil
        configuration.port = nil
        configuration.proxy = self.configuration(kind, at: proxy.port)
        configuration.use(TestClock())
        return configuration
    }

    @Test("goes to the domain itself, by STARTTLS and else by direct TLS", arguments: LoopbackProxy.Kind.allCases)
    func domain(kind: LoopbackProxy.Kind) async throws {
        let server = try await verona { $0 = .modern }
        for ports in [[5222: server.port], [5223: try #require(server.directTLSPort)]] as [[UInt16: UInt16]] {
            let proxy = try LoopbackProxy(kind, to: ports)
            let stream = XMPPStream(try await romeo(server, through: proxy, kind))
            try await stream.connect()
            try await stream.goOnline()
            try await stream.ping()
            #expect(await stream.endpoint == "example.net:\(try #require(ports.keys.first))")
            let both = ["example.net:5222", "example.net:5223"]
            #expect(proxy.requests == Array(both.prefix(ports[5222] == nil ? 2 : 1)))
            await stream.disconnect()
            proxy.stop()
        }
        await server.stop()
    }

    @Test("costs no round trip of the login itself")
    func roundTrips() async throws {
        let server = try await verona()
        let direct = XMPPStream(try await server.configuration(for: "romeo"))
        try await direct.connect()
        let proxy = try LoopbackProxy(.socks5, to: [5222: server.port])
        let stream = XMPPStream(try await romeo(server, through: proxy))
        try await stream.connect()
        #expect(await stream.loginRoundTrips == direct.loginRoundTrips)
        await direct.disconnect()
        await stream.disconnect()
        proxy.stop()
        await server.stop()
    }

    @Test("finds the WebSocket that the domain publishes when the proxy lets nothing but the web through (XEP-0156)")
    func web() async throws {
        let server = try await verona { $0.publishedWebSocket = "wss://127.0.0.1:443/xmpp-websocket" }
        let proxy = try LoopbackProxy(.http, to: [443: try #require(server.webSocketPort)])
        let stream = XMPPStream(try await romeo(server, through: proxy, .http))
        try await stream.connect()
        try await stream.ping()
        #expect(
            proxy.requests == [
                "example.net:5222", "example.net:5223", "example.net:443", "example.net:443", "127.0.0.1:443",
            ],
            "not one name was looked up on this side")
        await stream.disconnect()
        proxy.stop()
        await server.stop()
    }

    @Test("logs in to the proxy where it wants that (RFC 1929, RFC 7617)", arguments: LoopbackProxy.Kind.allCases)
    func login(kind: LoopbackProxy.Kind) async throws {
        let server = try await verona()
        let proxy = try LoopbackProxy(kind, to: [5222: server.port], username: "me", password: "pass word")
        var configuration = try await romeo(server, through: proxy, kind)
        for (username, password) in [("me", "other"), (nil, nil)] as [(String?, Password?)] {
            configuration.proxy = self.configuration(kind, at: proxy.port, username, password)
            let error = await #expect(throws: XMPPError.self) { try await XMPPStream(configuration).connect() }
            #expect(error?.code == .invalidConfiguration && error?.isPermanent == true, "\(error as Any)")
            #expect(error?.message.contains(configuration.proxy?.description ?? "?") == true)
            #expect(error?.message.contains("other") == false)
            #expect(error?.message.contains("Also tried") == false, "without the proxy there is no way anywhere")
        }
        #expect(proxy.requests.isEmpty, "where the proxy itself refuses, no other place is tried")
        configuration.proxy = self.configuration(kind, at: proxy.port, "me", "pass word")
        let stream = XMPPStream(configuration)
        try await stream.connect()
        await stream.disconnect()
        proxy.stop()
        await server.stop()
    }

    @Test(
        "says of the proxy what the proxy does, and nothing of the login is said to it",
        arguments: [
            (.socks5, .refuses, .connectionFailed, "the connection was refused"),
            (.http, .refuses, .connectionFailed, "502 Bad Gateway"),
            (.socks5, .hangsUp, .proxyFailed, "hung up"), (.http, .hangsUp, .connectionFailed, "hung up"),
            (.socks5, .says([4, 91]), .proxyFailed, "SOCKS 5"),
            (.http, .says(Array("<stream:stream>".utf8)), .proxyFailed, "in HTTP"),
            (.socks5, .adds(Array("<stream:stream>".utf8)), .proxyFailed, "more than it was asked"),
            (.http, .adds(Array("<stream:stream>".utf8)), .proxyFailed, "more than it was asked"),
        ] as [(LoopbackProxy.Kind, LoopbackProxy.Manner, XMPPError.Code, String)])
    func failures(
        kind: LoopbackProxy.Kind, manner: LoopbackProxy.Manner, code: XMPPError.Code, words: String
    ) async throws {
        let server = try await verona()
        let proxy = try LoopbackProxy(kind, to: [5222: server.port], manner: manner)
        var configuration = try await romeo(server, through: proxy, kind)
        configuration.asksWebForPlaces = false
        let error = await #expect(throws: XMPPError.self) { try await XMPPStream(configuration).connect() }
        #expect(error?.code == code && error?.isPermanent == false, "\(error as Any)")
        #expect(error?.message.contains(words) == true, "\(error as Any)")
        #expect(
            error?.message.contains("the proxy \(configuration.proxy?.description ?? "?") to example.net:522") == true)
        #expect(await server.transcript.isEmpty)
        proxy.stop()
        await server.stop()
    }

    @Test("that is no proxy, such as the server itself, fails as such")
    func noProxy() async throws {
        let server = try await verona()
        var configuration = try await server.configuration(for: "romeo")
        configuration.proxy = .http(host: "127.0.0.1", port: server.port)
        let error = await #expect(throws: XMPPError.self) { try await XMPPStream(configuration).connect() }
        #expect(error?.code == .proxyFailed, "\(error as Any)")
        configuration.proxy = .socks5(host: "127.0.0.1", port: 1)
        let absent = await #expect(throws: XMPPError.self) { try await XMPPStream(configuration).connect() }
        #expect(absent?.code == .proxyFailed && absent?.message.contains("nothing listens there") == true)
        await server.stop()
    }

    @Test("comes back through it, in the same session, when the connection was lost")
    func resumption() async throws {
        let server = try await verona { $0 = .modern }
        let proxy = try LoopbackProxy(.socks5, to: [5222: server.port])
        let client = XMPPClient(try await romeo(server, through: proxy))
        let recorder = Recorder()
        client.add(chatDelegate: recorder)
        try await client.start()
        await client.stream?.cut()
        try await Patience.wait(for: "the pause") {
            if case .waiting = await client.state { true } else { false }
        }
        await client.reconnectNow()
        await recorder.heard("resumed")
        #expect(proxy.requests == ["example.net:5222", "example.net:5222"])
        await client.stop()
        proxy.stop()
        await server.stop()
    }

    @Test("through real proxies, to a real server", arguments: ProxyProgram.expected, ServerKind.expected)
    func real(program: ProxyProgram, kind: ServerKind) async throws {
        let server = try await kind.start(accounts: ["juliet": "balcony"])
        let proxy = try await program.start(username: "me", password: "secret")
        func address(_ password: Password) -> ConnectionProxy {
            switch program {
            case .microsocks: .socks5(host: "127.0.0.1", port: proxy.port, username: "me", password: password)
            case .tinyproxy: .http(host: "127.0.0.1", port: proxy.port, username: "me", password: password)
            }
        }
        for base in [
            try server.configuration(for: "juliet"), try server.configuration(for: "juliet", directTLS: true),
            try server.webSocketConfiguration(for: "juliet"),
        ] {
            var configuration = base
            configuration.proxy = address("secret")
            let stream = XMPPStream(configuration)
            try await stream.connect()
            try await stream.goOnline()
            try await stream.ping()
            await stream.disconnect()
        }
        var configuration = try server.configuration(for: "juliet")
        configuration.proxy = address("wrong")
        let error = await #expect(throws: XMPPError.self) { try await XMPPStream(configuration).connect() }
        #expect(error?.code == .invalidConfiguration, "\(error as Any)")
        configuration.proxy = address("secret")
        configuration.port = 1
        let closed = await #expect(throws: XMPPError.self) { try await XMPPStream(configuration).connect() }
        #expect(closed?.code == .connectionFailed, "\(closed as Any)")
        await proxy.stop()
        await server.stop()
    }
}
