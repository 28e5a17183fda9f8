// SPDX-License-Identifier: Apache-2.0

import JSONText
import SocketIO
import Testing
import XMPPCrypto
import XMPPTestSupport
import XMPPTransport

@testable import XMPP

@Suite("What a domain publishes about all its places (XEP-0487)", .timeLimit(.minutes(3)))
struct HostMeta2Tests {
    // MARK: Reading

    private static let pin = String(repeating: "A", count: 43) + "="

    private func read(_ text: String) -> HostMeta2? {
        (try? JSONReader.read(text.utf8))?.objectValue.flatMap(HostMeta2.init)
    }

    private func link(_ change: (inout JSONObject) -> Void = { _ in }) -> String {
        var link: JSONObject = [
            "rel": "urn:xmpp:alt-connections:tls", "port": 443, "ips": ["192.0.2.1"], "priority": 10, "weight": 50,
            "sni": "example.org",
        ]
        change(&link)
        return JSONValue.object(link).text
    }

    private func links(_ texts: String...) -> [HostMeta2.Link]? {
        read(#"{"xmpp":{"ttl":1},"links":[\#(texts.joined(separator: ","))]}"#)?.links
    }

    private func order(_ file: HostMeta2, seed: UInt64 = 1) -> [ConnectionTarget] {
        var generator = RandomBits(source: SeededGenerator(seed: seed))
        return file.places(using: &generator)
    }

    @Test("the file of the specification is read: TLS and WebSocket of clients, by rank, each address a place (§3, §5)")
    func example() throws {
        let ranks = #""ips": ["192.0.2.1", "2001:db8::1"], "weight": 50, "sni": "Example.org", "ech": "eG1wcA==""#
        let file = try #require(
            read(
                """
                {"xmpp": {"ttl": 3000, "public-key-pins-sha-256": ["4/mggdlVx8A3pvHAWW5sD+qJyMtUHgiRuPjVC48N0XQ="]},
                 "links": [
                  {"rel": "urn:xmpp:alt-connections:websocket", "href": "wss://other.example.org/ws", "priority": 15, \(ranks)},
                  {"rel": "urn:xmpp:alt-connections:tls", "port": 443, "priority": 10, \(ranks)},
                  {"rel": "urn:xmpp:alt-connections:quic", "port": 443, "priority": 5, \(ranks)},
                  {"rel": "urn:xmpp:alt-connections:s2s-tls", "port": 5269, "priority": 1, \(ranks)},
                  {"rel": "urn:xmpp:alt-connections:s2s-websocket", "href": "wss://s.example.org/", "priority": 1, \(ranks)},
                  {"rel": "urn:xmpp:alt-connections:xbosh", "href": "https://web.example.com:5280/bosh"}]}
                """))
        #expect(file.lifetime == .seconds(3000))
        let places = order(file)
        #expect(
            places.map(\.description) == [
                "192.0.2.1:443", "[2001:db8::1]:443", "wss://192.0.2.1:443/ws", "wss://[2001:db8::1]:443/ws",
            ])
        #expect(places.map(\.priority) == [10, 10, 15, 15])
        let key = try #require(Base64.decode("4/mggdlVx8A3pvHAWW5sD+qJyMtUHgiRuPjVC48N0XQ="))
        #expect(places.map(\.delegation?.serverName) == Array(repeating: "example.org", count: 4))
        #expect(places.allSatisfy { $0.delegation?.pinnedKeys == [key] })
        #expect(places.map(\.delegation?.hostField) == [nil, nil, "other.example.org", "other.example.org"])
    }

    @Test(
        "what does not say that it is of this kind, or how long it holds, or has keys that cannot be read, is none (§3)",
        arguments: [
            "{}", "[]", #"{"links":[]}"#, #"{"xmpp":1}"#, #"{"xmpp":{}}"#, #"{"xmpp":{"ttl":-1}}"#,
            #"{"xmpp":{"ttl":"5"}}"#, #"{"xmpp":{"ttl":1.5}}"#,
            #"{"xmpp":{"ttl":5,"public-key-pins-sha-256":"\#(pin)"}}"#,
            #"{"xmpp":{"ttl":5,"public-key-pins-sha-256":[1]}}"#,
            #"{"xmpp":{"ttl":5,"public-key-pins-sha-256":["\#(pin)","AAAA"]}}"#,
            #"{"xmpp":{"ttl":5,"public-key-pins-sha-256":["\#(pin)!"]}}"#,
        ])
    func noFile(_ text: String) {
        #expect(read(text) == nil)
    }

    @Test("a link that lacks something, or whose values are out of range, is passed over, and the others count (§3)")
    func broken() {
        let changes: [(inout JSONObject) -> Void] = [
            { $0["rel"] = nil }, { $0["rel"] = 1 }, { $0["port"] = nil }, { $0["port"] = 0 }, { $0["port"] = 65536 },
            { $0["port"] = "443" }, { $0["ips"] = nil }, { $0["ips"] = [] }, { $0["ips"] = ["example.org"] },
            { $0["ips"] = [1] }, { $0["priority"] = nil }, { $0["priority"] = -1 }, { $0["priority"] = 65536 },
            { $0["weight"] = nil }, { $0["weight"] = 65536 }, { $0["sni"] = nil }, { $0["sni"] = "" },
            { $0["sni"] = "192.0.2.1" }, { $0["sni"] = "[::1]" }, { $0["sni"] = "a/b" }, { $0["sni"] = "a:5" },
            { $0["sni"] = "exämple.org" }, { $0["sni"] = .string(String(repeating: "a", count: 256)) },
            { $0["rel"] = "urn:xmpp:alt-connections:websocket" },
            {
                $0["rel"] = "urn:xmpp:alt-connections:websocket"
                $0["href"] = "ws://example.org/"
            },
        ]
        for change in changes {
            let text = link(change)
            #expect(links(text, link())?.count == 1, "\(text)")
        }
        #expect(links("1", #""x""#, link())?.count == 1)
        #expect(links(link { $0["ips"] = ["x", "192.0.2.7", "[::1]"] })?.first?.addresses == ["192.0.2.7", "::1"])
    }

    @Test("links, addresses, keys, places and times have a limit: what reaches it counts, one more does not")
    func limits() throws {
        func pins(_ count: Int) -> String {
            let keys = (0..<count).map { Base64.encode([UInt8](repeating: UInt8($0), count: 32)) }
            return #"{"xmpp":{"ttl":5,"public-key-pins-sha-256":\#(JSONValue.array(keys.map { .string($0) }).text)}}"#
        }
        #expect(read(pins(HostMeta2.maximumKeys))?.pinnedKeys.count == 32)
        #expect(read(pins(HostMeta2.maximumKeys + 1)) == nil)
        #expect(read(#"{"xmpp":{"ttl":604800}}"#)?.lifetime == .seconds(604_800))
        #expect(read(#"{"xmpp":{"ttl":9223372036854775807}}"#)?.lifetime == HostMeta2.maximumLifetime)
        let addresses = JSONValue.array((1...9).map { .string("192.0.2.\($0)") })
        #expect(links(link { $0["ips"] = addresses })?.first?.addresses.count == HostMeta2.maximumAddresses)
        let many = (0..<65).map { number in link { $0["port"] = .integer(Int64(number + 1)) } }
        let file = try #require(read(#"{"xmpp":{"ttl":1},"links":[\#(many.joined(separator: ","))]}"#))
        #expect(file.links.count == HostMeta2.maximumLinks)
        #expect(order(file).count == ConnectionPlanner.maximumTargets)
    }

    // MARK: Connecting

    /// A web server of the domain and a server of XMPP, which nobody finds by DNS.
    private struct Town {
        let web: LoopbackServer
        let chat: LoopbackServer
        var configuration: XMPPConfiguration
        var network: BlockedNetwork
        let folder: TemporaryFolder

        func stop() async {
            await web.stop()
            await chat.stop()
            folder.remove()
        }
    }

    private func town(
        sni: String = "example.net", keys: [KeyFingerprint] = [], lifetime: Int = 100, isWebSocket: Bool = false,
        trustsChat: Bool = true, _ change: (inout LoopbackOptions) -> Void = { _ in }
    ) async throws -> Town {
        var options = LoopbackOptions()
        change(&options)
        let chat = try await LoopbackServer.start(
            domain: "example.net", accounts: ["romeo": "secret"], options: options)
        let link = link { link in
            link["sni"] = .string(sni)
            link["ips"] = ["127.0.0.1"]
            link["port"] = .integer(Int64(chat.directTLSPort ?? 0))
            guard isWebSocket else { return }
            link["rel"] = "urn:xmpp:alt-connections:websocket"
            link["href"] = .string("wss://web.example.net:\(chat.webSocketPort ?? 0)/xmpp-websocket")
        }
        let pins = JSONValue.array(keys.map { .string(Base64.encode($0.bytes)) })
        let web = try await verona {
            $0.publishedPlaces =
                #"{"xmpp":{"ttl":\#(lifetime),"public-key-pins-sha-256":\#(pins.text)},"links":[\#(link)]}"#
        }
        let folder = try TemporaryFolder(prefix: "authorities")
        let anchors = web.authority.certificate + (trustsChat ? chat.authority.certificate : [])
        var configuration = try await chat.configuration(for: "romeo")
        configuration.certificateAuthorityFile = try folder.write(anchors, to: "ca.pem")
        configuration.host = nil
        configuration.port = nil
        configuration.usesTokens = false
        let network = BlockedNetwork(webPort: try #require(web.webSocketPort))
        configuration.connector = network
        return Town(web: web, chat: chat, configuration: configuration, network: network, folder: folder)
    }

    private func login(
        _ configuration: XMPPConfiguration
    ) async throws -> (endpoint: String?, security: ChannelSecurity?) {
        let stream = XMPPStream(configuration)
        try await stream.connect()
        try await stream.ping()
        let result = await (stream.endpoint, stream.security)
        await stream.disconnect()
        return result
    }

    private func refusal(_ configuration: XMPPConfiguration) async throws -> XMPPError {
        let error = await #expect(throws: XMPPError.self) { try await XMPPStream(configuration).connect() }
        return try #require(error)
    }

    /// The key of a server, as another login has met it.
    private func key(of server: LoopbackServer) async throws -> KeyFingerprint {
        var configuration = try await server.configuration(for: "romeo")
        configuration.usesTokens = false
        return try #require(try await login(configuration).security?.keyFingerprint)
    }

    @Test(
        "where no place of DNS can be reached, those that the domain publishes are taken", arguments: [false, true]
    )
    func fallback(isWebSocket: Bool) async throws {
        let town = try await town(isWebSocket: isWebSocket)
        let (endpoint, security) = try await login(town.configuration)
        let port = isWebSocket ? town.chat.webSocketPort : town.chat.directTLSPort
        let place = "127.0.0.1:\(try #require(port))"
        #expect(endpoint == (isWebSocket ? "wss://\(place)/xmpp-websocket" : place))
        #expect(security?.proof == .authority)
        await town.stop()
    }

    @Test("without the object of XEP-0487 the file is one of XEP-0156 (§4)")
    func older() async throws {
        let town = try await town(isWebSocket: true)
        await town.web.changeOptions { [port = town.web.webSocketPort ?? 0] in
            $0.publishedPlaces = """
                {"links":[{"rel":"urn:xmpp:alt-connections:websocket","href":"wss://127.0.0.1:\(port)/xmpp-websocket"}]}
                """
        }
        let place = "127.0.0.1:\(town.web.webSocketPort ?? 0)"
        #expect(try await login(town.configuration).endpoint == "wss://\(place)/xmpp-websocket")
        await town.stop()
    }

    @Test(
        "the server is asked for by the name that the file says, and may prove that name or the domain, no other (§4)",
        arguments: [("chat.example.com", true), ("example.net", true), ("other.example.com", false)])
    func names(_ name: String, isProven: Bool) async throws {
        for isWebSocket in [false, true] {
            let town = try await town(sni: "chat.example.com", isWebSocket: isWebSocket) {
                $0.certificateNames = [.dns(name)]
            }
            if isProven {
                #expect(try await login(town.configuration).security?.names == [name])
            } else {
                let error = try await refusal(town.configuration)
                #expect(error.code == .certificateRejected, "\(error)")
                #expect(await town.chat.transcript.isEmpty)
            }
            await town.stop()
        }
    }

    @Test("a key that the file names is proof enough, as a certificate of the name is (§4)")
    func pinned() async throws {
        let probe = try await town(trustsChat: false) { $0.certificateNames = [.dns("localhost")] }
        #expect(try await refusal(probe.configuration).code == .certificateRejected, "without a key there is no proof")
        let presented = try #require(try await refusal(probe.configuration).presentedKey)
        await probe.web.changeOptions { [port = probe.chat.directTLSPort ?? 0] in
            $0.publishedPlaces = """
                {"xmpp":{"ttl":0,"public-key-pins-sha-256":["\(Base64.encode(presented.bytes))"]},"links":[
                 {"rel":"urn:xmpp:alt-connections:tls","port":\(port),"ips":["127.0.0.1"],"priority":1,"weight":1,
                  "sni":"example.net"}]}
                """
        }
        var configuration = probe.configuration
        configuration.hostMeta = HostMetaCache()
        let security = try await login(configuration).security
        #expect(security?.proof == .pinnedKey && security?.keyFingerprint == presented)
        await probe.stop()
    }

    @Test("another key than the file names is refused, though an authority vouches for it (§3, RFC 7469 §2.6)")
    func unpinned() async throws {
        let other = try #require(KeyFingerprint([UInt8](repeating: 7, count: 32)))
        let town = try await town(keys: [other])
        let error = try await refusal(town.configuration)
        #expect(error.code == .certificateRejected && error.message.contains(other.description), "\(error)")
        #expect(await town.chat.transcript.isEmpty)
        await town.stop()
    }

    @Test("the keys that the account names come first: what the web says opens no other door")
    func ownPins() async throws {
        let town = try await town()
        let key = try await key(of: town.chat)
        var configuration = town.configuration
        configuration.trust = .keys([key])
        #expect(try await login(configuration).security?.proof == .pinnedKey)
        let strange = try await self.town(keys: [key])
        var other = strange.configuration
        other.trust = .keys([key])
        #expect(try await refusal(other).code == .certificateRejected)
        await strange.stop()
        await town.stop()
    }

    @Test("who asks DNS for proof is not sent elsewhere by the web")
    func dane() async throws {
        var town = try await town()
        town.configuration.trust = .dane
        #expect(try await refusal(town.configuration).code == .connectionFailed)
        #expect(await town.chat.acceptedConnections == 0)
        await town.stop()
    }

    @Test("a web server that cannot prove the domain is not believed, whatever it publishes")
    func wrongWebServer() async throws {
        let town = try await town()
        let text = await town.web.options.publishedPlaces
        let impostor = try await verona {
            $0.certificateNames = [.dns("example.com")]
            $0.publishedPlaces = text
        }
        var configuration = town.configuration
        configuration.certificateAuthorityFile = try town.folder.write(
            impostor.authority.certificate + town.chat.authority.certificate, to: "other.pem")
        configuration.connector = BlockedNetwork(webPort: try #require(impostor.webSocketPort))
        #expect(try await refusal(configuration).code == .connectionFailed)
        #expect(await town.chat.acceptedConnections == 0)
        await impostor.stop()
        await town.stop()
    }

    @Test("as long as the file holds it comes before DNS; then DNS does, and what has lapsed comes last (§4, §6)")
    func lifetime() async throws {
        let clock = TestClock()
        var town = try await town(lifetime: 100)
        town.configuration.use(clock)
        _ = try await login(town.configuration)
        let (lookups, visits) = (town.network.lookups, town.network.visits)
        #expect(lookups.withLock { $0 } == 1)
        await clock.advance(by: .seconds(99))
        visits.withLock { $0 = [] }
        _ = try await login(town.configuration)
        #expect(lookups.withLock { $0 } == 1, "DNS is not asked")
        #expect(visits.withLock { $0.map(\.port) } == [town.chat.directTLSPort], "nor the web")
        await clock.advance(by: .seconds(1))
        var network = town.network
        network.webPort = 1
        town.configuration.connector = network
        visits.withLock { $0 = [] }
        _ = try await login(town.configuration)
        #expect(lookups.withLock { $0 } == 2)
        #expect(visits.withLock { $0.map(\.port) } == [1, 443, town.chat.directTLSPort], "the web, once, in vain")
        await town.stop()
    }

    @Test("where the places that hold are out of reach, DNS is asked all the same (§6)")
    func moved() async throws {
        var town = try await town()
        _ = try await login(town.configuration)
        await town.chat.stop()
        let lookups = town.network.lookups.withLock { $0 }
        var network = town.network
        network.targets = [ConnectionTarget(host: "127.0.0.1", port: town.web.port)]
        town.configuration.connector = network
        #expect(try await login(town.configuration).endpoint == "127.0.0.1:\(town.web.port)")
        #expect(town.network.lookups.withLock { $0 } == lookups + 1)
        await town.stop()
    }
}
