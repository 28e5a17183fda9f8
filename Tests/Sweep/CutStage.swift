// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
internal import XMPP
internal import XMPPTestSupport

/// A server with somebody on it who sends every message back, and a way to it that can be cut.
protocol CutStage: Sendable {
    /// Who sends messages back.
    var peer: JID { get }
    /// With what the client connects.
    func configuration() async throws -> XMPPConfiguration
    /// The next connection is cut.
    func plan(_ cut: Cut) async
    /// The peer asks a client something.
    func ask(_ client: JID) async
    /// The messages that the peer got whose ids begin so, in order.
    func arrived(_ prefix: String) async throws -> [Arrival]
    /// After which bytes of the connection that was made last something ended, in each direction; the last place is its
    /// end.
    func ends() async -> (toClient: [Int], fromClient: [Int])
    func end() async
}

/// The server of this package, which cuts inside of TLS: between any two bytes of the XML stream.
struct LoopbackStage: CutStage {
    let peer: JID
    private let server: LoopbackServer

    init(_ resumption: LoopbackOptions.Resumption) async throws {
        var options = LoopbackOptions()
        options.mechanisms = ["PLAIN"]
        options.resumption = resumption
        options.requestsAcknowledgementEvery = 2
        options.offersArchive = true
        server = try await LoopbackServer.start(
            domain: "example.net", accounts: ["romeo": "secret"], options: options)
        try await server.add(LoopbackBuddy("juliet", resource: "balcony"))
        peer = try JID("juliet@example.net/balcony")
    }

    func configuration() async throws -> XMPPConfiguration {
        try await server.configuration(for: "romeo", resource: "orchard", directTLS: true)
    }

    func plan(_ cut: Cut) async {
        await server.planNextConnection([cut.fault], on: .stream)
    }

    func ask(_ client: JID) async {
        try? await server.send(IQ(.get, to: client, payload: Element("ping", namespace: Namespace.ping)), as: "juliet")
    }

    func arrived(_ prefix: String) async throws -> [Arrival] {
        try await server.stanzas(for: "juliet").compactMap { $0["id"] }.filter { $0.hasPrefix(prefix) }
            .map { Arrival(id: $0) }
    }

    func ends() async -> (toClient: [Int], fromClient: [Int]) {
        let records = await server.transcript
        let last = records.last?.connection
        var ends: [LoopbackFault.Direction: [Int]] = [.toClient: [], .fromClient: []]
        for record in records where record.connection == last {
            var end = ends[record.direction]?.last ?? 0
            if record.element.isNamed("stream", namespace: Namespace.streams) {
                // Both sides' headers have about this length; the places within go by the byte anyway.
                end += 200
            } else if let bytes = try? XMLSerializer.serialize(
                record.element, defaultNamespace: Namespace.client, isInStream: true)
            {
                end += bytes.count
            }
            ends[record.direction]?.append(end)
        }
        return (ends[.toClient] ?? [], ends[.fromClient] ?? [])
    }

    func end() async {
        await server.stop()
    }
}

/// A server that people run, behind a proxy that cuts the connection on the wire, TLS and all.
final class RealStage: CutStage {
    let peer: JID
    private let server: PrivateServer
    private let proxy: FaultProxy
    private let juliet: XMPPClient
    private let echo: Echo

    init(_ kind: ServerKind) async throws {
        server = try await kind.start(accounts: ["romeo": "secret", "juliet": "secret"])
        proxy = try await FaultProxy.start(to: server.port)
        juliet = XMPPClient(
            try server.configuration(for: "juliet", resource: "balcony"),
            reconnect: ReconnectPolicy(
                firstDelay: .milliseconds(100), baseDelay: .milliseconds(100), maximumDelay: .seconds(1),
                minimumDelay: .milliseconds(10)))
        echo = Echo(juliet)
        juliet.add(messageDelegate: echo)
        var address: JID?
        // A server that has just begun may turn away who comes first.
        try await Patience.wait(for: "the peer to be online") { [juliet] in
            address = try? await juliet.start()
            return address != nil
        }
        peer = try address ?? JID("juliet@example.org/balcony")
    }

    func configuration() async throws -> XMPPConfiguration {
        var configuration = try server.configuration(for: "romeo", resource: "orchard")
        configuration.port = proxy.port
        return configuration
    }

    func plan(_ cut: Cut) async {
        await proxy.planNextConnection([cut.fault])
    }

    func ask(_ client: JID) async {
        let juliet = juliet
        Task {
            try? await juliet.request(
                IQ(.get, to: client, payload: Element("ping", namespace: Namespace.ping)), timeout: .seconds(5))
        }
    }

    func arrived(_ prefix: String) async throws -> [Arrival] {
        echo.arrived.withLock { $0 }.filter { $0.id.hasPrefix(prefix) }
    }

    func ends() async -> (toClient: [Int], fromClient: [Int]) {
        let last = await proxy.traffic.last
        return (last?.toClient ?? [], last?.fromClient ?? [])
    }

    func end() async {
        await juliet.stop()
        await proxy.stop()
        await server.stop()
    }
}

/// Sends every message back, and takes down what came.
private final class Echo: MessageDelegate {
    let arrived = Locked<[Arrival]>([])
    private let client: XMPPClient

    init(_ client: XMPPClient) {
        self.client = client
    }

    func stream(_ stream: XMPPStream, didReceive message: Message) async {
        guard let id = message.id, let from = message.from, let body = message.body else { return }
        let own = stream.configuration.jid.bare
        let name = message.stanzaID(by: own)
        let isNew = arrived.withLock { arrived in
            defer { arrived.append(Arrival(id: id, name: name)) }
            return !arrived.contains { $0.id == id }
        }
        // What comes twice is counted, and answered once.
        if isNew { _ = try? await client.send(Message(to: from.bare, body: body, id: "echo-\(id)")) }
    }
}
