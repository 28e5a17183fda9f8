// SPDX-License-Identifier: Apache-2.0

import SocketIO
import Testing
import XMPPTestSupport
import XMPPTransport

@testable import XMPP

@Suite("Other ways to a server (XEP-0156)", .timeLimit(.minutes(3)))
struct AlternativeConnectionTests {
    private static let link = "<Link rel='urn:xmpp:alt-connections:websocket' href='wss://example.org/ws'/>"
    private static let open = "<XRD xmlns='http://docs.oasis-open.org/ns/xri/xrd-1.0'>"

    private func addresses(_ text: String) -> [String]? {
        HostMeta(Array(text.utf8))?.webSockets.map(\.description)
    }

    @Test("the file names WebSockets, whatever else is in it")
    func reading() {
        let text = """
            <?xml version='1.0' encoding='UTF-8'?>
            <!-- by hand -->
            \(Self.open)
              <Link rel='urn:xmpp:alt-connections:xbosh' href='https://example.org/bosh'/>
              <!-- <Link rel='urn:xmpp:alt-connections:websocket' href='wss://old.example.org/ws'/> -->
              \(Self.link)\(Self.link)
              <Link rel='urn:xmpp:alt-connections:websocket' href='ws://clear.example.org/ws'/>
              <Link rel='urn:xmpp:alt-connections:websocket' href='wss://[::1]:99/x'/>
              <Link rel='urn:xmpp:alt-connections:websocket'/>
            </XRD>
            """
        #expect(addresses(text) == ["wss://example.org:443/ws", "wss://[::1]:99/x"])
        #expect(addresses(Self.open + "</XRD>") == [])
    }

    @Test(
        "what is no such file is none",
        arguments: [
            "", "<html/>", "<XRD>\(link)</XRD>", open + link, "\(open)\(link)</XRD><x/>", "<!-- \(open)\(link)</XRD>",
            "<!DOCTYPE XRD [<!ENTITY a 'b'>]>\(open)\(link)</XRD>", "{\"links\":[]}",
        ])
    func noFile(_ text: String) {
        #expect(addresses(text) == nil)
    }

    private func server(
        publishing address: String? = "wss://127.0.0.1:{port}/xmpp-websocket"
    ) async throws -> (LoopbackServer, XMPPConfiguration) {
        var options = LoopbackOptions()
        options.publishedWebSocket = address
        let server = try await LoopbackServer.start(
            domain: "example.net", accounts: ["romeo": "orchard"], options: options)
        var configuration = try await server.configuration(for: "romeo")
        configuration.host = nil
        configuration.port = nil
        configuration.connector = BlockedNetwork(webPort: try #require(server.webSocketPort))
        return (server, configuration)
    }

    @Test("where no place of DNS can be reached, the WebSocket that the domain publishes over HTTPS is taken")
    func fallback() async throws {
        let (server, configuration) = try await server()
        let stream = XMPPStream(configuration)
        try await stream.connect()
        #expect(await stream.endpoint?.hasPrefix("wss://") == true)
        try await stream.ping()
        await stream.disconnect()
        await server.stop()
    }

    @Test("it is not looked for when that is switched off, or the user says where to go, or nothing is published")
    func notAsked() async throws {
        let (server, configuration) = try await server()
        var off = configuration
        off.asksWebForPlaces = false
        var own = configuration
        own.host = "127.0.0.1"
        own.port = 1
        for configuration in [off, own] {
            let error = await #expect(throws: XMPPError.self) { try await XMPPStream(configuration).connect() }
            #expect(error?.code == .connectionFailed)
        }
        #expect(await server.acceptedConnections == 0)
        await server.stop()
        let (silent, nothing) = try await self.server(publishing: nil)
        let error = await #expect(throws: XMPPError.self) { try await XMPPStream(nothing).connect() }
        #expect(error?.code == .connectionFailed)
        await silent.stop()
    }

    @Test("a web server that takes the connection and is silent is asked one question, and not a second one")
    func silentWebServer() async throws {
        let (server, base) = try await server()
        let listener = try ListeningSocket(.loopback(port: 0), on: StreamExecutor())
        let network = BlockedNetwork(webPort: try #require(listener.address.port))
        let clock = TestClock()
        var configuration = base
        configuration.connector = network
        configuration.use(clock)
        let connecting = Task { [configuration] in _ = try await XMPPStream(configuration).connect() }
        // That of the answer, and that of the handshake.
        await clock.waitForTimers(2)
        await clock.advance(by: configuration.timeouts.tls)
        let error = await #expect(throws: XMPPError.self) { try await connecting.value }
        #expect(error?.code == .connectionFailed)
        #expect(network.visits.withLock { $0.filter { $0.port == 443 }.count } == 1)
        await server.stop()
        withExtendedLifetime(listener) {}
    }

    @Test("a place that was reached and cannot prove who it is ends it: no other way is looked for")
    func distrust() async throws {
        let (server, base) = try await server()
        var options = LoopbackOptions()
        options.certificateFlaw = .selfSigned
        let impostor = try await LoopbackServer.start(domain: "example.net", options: options)
        var configuration = base
        var network = BlockedNetwork(webPort: try #require(server.webSocketPort))
        network.targets = [ConnectionTarget(host: "127.0.0.1", port: impostor.port)]
        configuration.connector = network
        let error = await #expect(throws: XMPPError.self) { try await XMPPStream(configuration).connect() }
        #expect(error?.code == .certificateRejected)
        #expect(await server.acceptedConnections == 0)
        await impostor.stop()
        await server.stop()
    }

    @Test("a web server that speaks no TLS is not believed, nor one that sends on to a place without it (XEP-0156 §3)")
    func clearWebServer() async throws {
        for redirection in [nil, "http://127.0.0.1/.well-known/host-meta"] {
            let (server, base) = try await server()
            var configuration = base
            if redirection == nil { configuration.connector = BlockedNetwork(webPort: server.port) }
            await server.changeOptions { $0.publishedRedirection = redirection }
            let error = await #expect(throws: XMPPError.self) { try await XMPPStream(configuration).connect() }
            #expect(error?.code == .connectionFailed && error?.endpoint == "127.0.0.1:1")
            #expect(await !server.transcript.contains { $0.direction == .fromClient })
            await server.stop()
        }
    }

    @Test("a web server that cannot prove the domain is not believed")
    func wrongWebServer() async throws {
        let (server, base) = try await server()
        var options = LoopbackOptions()
        options.certificateNames = [.dns("example.com")]
        let other = try await LoopbackServer.start(domain: "example.net", options: options)
        var configuration = base
        configuration.connector = BlockedNetwork(webPort: try #require(other.webSocketPort))
        let error = await #expect(throws: XMPPError.self) { try await XMPPStream(configuration).connect() }
        #expect(error?.code == .connectionFailed)
        #expect(await server.acceptedConnections == 0)
        await other.stop()
        await server.stop()
    }
}
