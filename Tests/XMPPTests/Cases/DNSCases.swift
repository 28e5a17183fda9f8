// SPDX-License-Identifier: Apache-2.0

import Dispatch
import SocketIO
import Testing
import XMPP
import XMPPTestSupport
import XMPPTransport

/// Names that lead where a test says, to a server on this machine; what was asked is noted.
private final class Names: ServiceResolver, AddressResolver {
    private struct State {
        var services: SRVAnswer
        /// The port that is behind each host in truth.
        var hosts: [String: UInt16]
        var asked: [String] = []
    }

    private let state: Locked<State>

    init(_ services: SRVAnswer, hosts: [String: UInt16]) {
        state = Locked(State(services: services, hosts: hosts))
    }

    /// Everything that was asked, in order.
    var asked: [String] { state.withLock { $0.asked } }

    func change(_ services: SRVAnswer) { state.withLock { $0.services = services } }

    func records(for name: String) async -> SRVAnswer {
        state.withLock { state in
            state.asked.append(name)
            return name.hasPrefix("_xmpp-client.") ? state.services : .none
        }
    }

    func addresses(of host: String, port: UInt16) async throws(ConnectError) -> [SocketAddress] {
        let found = state.withLock { state in
            state.asked.append("\(host):\(port)")
            return state.hosts[host]
        }
        guard let found else { throw .hostNotFound(name: host, detail: "no such name") }
        return [.loopback(port: found)]
    }
}

@Suite("Servers that had moved, or stood where nobody looked", .timeLimit(.minutes(5)))
struct DNSCases {
    private static func record(_ priority: UInt16, _ port: UInt16, _ host: String) -> SRVRecord {
        SRVRecord(priority: priority, weight: 0, port: port, target: host)
    }

    private static func server() async throws -> LoopbackServer {
        try await LoopbackServer.start(domain: "example.org", accounts: ["juliet": "secret"])
    }

    /// A configuration that finds the server by these names alone.
    private static func configuration(_ server: LoopbackServer, _ names: Names) async throws -> XMPPConfiguration {
        var configuration = try await server.configuration(for: "juliet")
        configuration.host = nil
        configuration.connector = NetworkConnector(services: names, addresses: names)
        return configuration
    }

    /// A port on which nothing listens.
    private static func deadPort() throws -> UInt16 {
        let executor = StreamExecutor(label: "dead")
        let listener = try ListeningSocket(.loopback(port: 0), on: executor)
        defer { executor.queue.sync { listener.close() } }
        return try #require(listener.address.port)
    }

    @Test("a first server that is gone does not keep anybody from the second (RFC 6120 §3.2.1)")
    func deadServer() async throws {
        let server = try await Self.server()
        let names = Names(
            .records([Self.record(10, 443, "live.example.org"), Self.record(5, 5222, "dead.example.org")]),
            hosts: ["dead.example.org": try Self.deadPort(), "live.example.org": server.port])
        let stream = XMPPStream(try await Self.configuration(server, names))
        try await stream.connect()
        #expect(await stream.endpoint == "live.example.org:443")
        #expect(names.asked.suffix(2) == ["dead.example.org:5222", "live.example.org:443"])
        await stream.disconnect()
        await server.stop()
    }

    @Test(
        "a domain without records, or whose name servers are out of order, is itself the server (RFC 6120 §3.2.2)",
        arguments: [SRVAnswer.none, .failed("SERVFAIL"), .failed("no name server answered")])
    func noRecords(_ answer: SRVAnswer) async throws {
        let server = try await Self.server()
        let names = Names(answer, hosts: ["example.org": server.port])
        let stream = XMPPStream(try await Self.configuration(server, names))
        try await stream.connect()
        #expect(await stream.endpoint == "example.org:5222" && names.asked.last == "example.org:5222")
        await stream.disconnect()
        await server.stop()
    }

    @Test("a server that moved while somebody was connected is found when the connection is lost (RFC 6120 §3.3)")
    func movedServer() async throws {
        let server = try await Self.server()
        let hosts = ["a.example.org": server.port, "b.example.org": server.port]
        let names = Names(.records([Self.record(1, 5222, "a.example.org")]), hosts: hosts)
        let client = XMPPClient(
            try await Self.configuration(server, names),
            reconnect: ReconnectPolicy(
                firstDelay: .milliseconds(2), baseDelay: .milliseconds(2), minimumDelay: .milliseconds(1)))
        try await client.start()
        let events = client.events
        names.change(.records([Self.record(1, 5222, "b.example.org")]))
        await server.cutConnections(of: "juliet")
        life: for try await event in events {
            switch event {
            case .resumed, .authenticated: break life
            default: continue
            }
        }
        let hostsAsked = names.asked.filter { !$0.hasPrefix("_") }
        #expect(hostsAsked.first == "a.example.org:5222" && hostsAsked.last == "b.example.org:5222")
        #expect(!hostsAsked.contains("example.org:5222"), "the domain has records")
        await client.stop()
        await server.stop()
    }

    @Test("who names the server asks no name server, and so waits for none that is out of order")
    func namedServer() async throws {
        let server = try await Self.server()
        let names = Names(.failed("must not be asked"), hosts: [:])
        var configuration = try await Self.configuration(server, names)
        configuration.host = "127.0.0.1"
        configuration.port = server.port
        let stream = XMPPStream(configuration)
        try await stream.connect()
        #expect(names.asked == [])
        await stream.disconnect()
        await server.stop()
    }
}
