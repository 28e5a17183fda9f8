// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPTestSupport

@testable import XMPP

@Suite("A session over WebSocket (RFC 7395)", .timeLimit(.minutes(3)))
struct WebSocketTests {
    @Test(
        "an address is read as it is written, with 443 for the port that is not named",
        arguments: [
            ("wss://example.org/ws", "example.org", 443, "/ws"), ("WSS://Example.ORG:5281", "example.org", 5281, "/"),
            ("wss://[::1]:99/a/b?c=d", "::1", 99, "/a/b?c=d"), ("wss://192.0.2.1?x", "192.0.2.1", 443, "/?x"),
        ])
    func addresses(_ text: String, _ host: String, _ port: UInt16, _ path: String) throws {
        let address = try #require(WebSocketAddress(text))
        #expect(address.host == host && address.port == port && address.path == path)
        #expect(WebSocketAddress(address.description) == address)
    }

    @Test(
        "what is no address of a WebSocket inside of TLS is none",
        arguments: [
            "ws://example.org/", "https://example.org/", "wss:example.org", "wss://", "wss:///ws", "wss://a:0/",
            "wss://a:/",
            "wss://a:65536/", "wss://u@example.org/", "wss://u:p@example.org/", "wss://a/#f", "wss://a b/",
            "wss://a/\r\nX: y",
            "wss://[::g]/", "wss://[127.0.0.1]/", "wss://ä.example/", "wss://a:+1/", "wss://.a/",
            "wss://a/" + String(repeating: "x", count: 2_048),
        ])
    func noAddresses(_ text: String) {
        #expect(WebSocketAddress(text) == nil)
    }

    @Test("the session is as any other: roster, presence, messages both ways, an orderly end")
    func session() async throws {
        let server = try await verona()
        let stream = XMPPStream(try await server.webSocketConfiguration(for: "romeo", resource: "orchard"))
        let recorder = Recorder()
        stream.add(chatDelegate: recorder)
        stream.add(messageDelegate: recorder)
        try await stream.connect()
        #expect(await stream.endpoint?.hasPrefix("wss://127.0.0.1:") == true)
        #expect(await stream.security?.version == "TLSv1.3")
        try await stream.goOnline()
        await recorder.heard("online Juliet")
        for number in 0..<50 {
            try await server.send(Message(to: try JID("romeo@example.net"), body: "\(number)"), as: "juliet")
        }
        await recorder.heard("message juliet@example.net/balcony 49")
        for number in 0..<50 { try await stream.send(Message(to: try JID("juliet@example.net"), body: "\(number)")) }
        try await stream.ping()
        try await stream.waitUntilHandled()
        let sent = await server.received(from: "romeo").compactMap { try? Message($0).body }
        #expect(sent == (0..<50).map(String.init))
        await stream.disconnect()
        await recorder.heard("disconnected ")
        await server.stop()
    }

    @Test("SASL2 needs no new stream here either, and a lost session is resumed")
    func resumption() async throws {
        let server = try await LoopbackServer.start(
            domain: "example.net", accounts: ["romeo": "orchard", "juliet": "balcony"], options: .modern)
        let client = XMPPClient(
            try await server.webSocketConfiguration(for: "romeo"),
            reconnect: ReconnectPolicy(firstDelay: .milliseconds(1), minimumDelay: .milliseconds(1)))
        let recorder = Recorder()
        client.add(chatDelegate: recorder)
        try await client.start()
        await client.stream?.cut()
        await recorder.heard("resumed")
        try await client.stream?.ping()
        await client.stop()
        await server.stop()
    }

    @Test("the certificate must prove the host of the address, and nothing is said before")
    func wrongName() async throws {
        var options = LoopbackOptions()
        options.certificateNames = [.dns("example.net")]
        let server = try await LoopbackServer.start(
            domain: "example.net", accounts: ["romeo": "orchard"], options: options)
        let stream = XMPPStream(try await server.webSocketConfiguration(for: "romeo"))
        let error = await #expect(throws: XMPPError.self) { try await stream.connect() }
        #expect(error?.code == .certificateRejected && error?.message.contains("127.0.0.1") == true, "\(error as Any)")
        #expect(await server.transcript.isEmpty)
        await server.stop()
    }

    @Test("a path without XMPP is told as such")
    func wrongPath() async throws {
        let server = try await verona()
        var configuration = try await server.webSocketConfiguration(for: "romeo")
        configuration.webSocket = WebSocketAddress("wss://127.0.0.1:\(configuration.webSocket?.port ?? 0)/other")
        let stream = XMPPStream(configuration)
        let error = await #expect(throws: XMPPError.self) { try await stream.connect() }
        #expect(error?.code == .connectionFailed && error?.message.contains("404 Not Found") == true, "\(error as Any)")
        await server.stop()
    }

    @Test("on real servers", arguments: ServerKind.expected)
    func realServers(kind: ServerKind) async throws {
        let server = try await kind.start(accounts: ["juliet": "balcony", "romeo": "orchard"])
        let romeo = XMPPStream(try server.webSocketConfiguration(for: "romeo"))
        let juliet = XMPPStream(try server.webSocketConfiguration(for: "juliet"))
        let recorder = Recorder()
        romeo.add(chatDelegate: recorder)
        romeo.add(messageDelegate: recorder)
        let his = try await romeo.connect()
        try await romeo.goOnline()
        let hers = try await juliet.connect()
        try await juliet.goOnline()
        await recorder.heard("online \(hers.bare)")
        try await juliet.send(Message(to: his, body: "hi"))
        await recorder.heard("message \(hers) hi")
        try await romeo.ping()
        await juliet.disconnect()
        await recorder.heard("offline \(hers.bare)")
        await romeo.disconnect()
        await server.stop()
    }
}
