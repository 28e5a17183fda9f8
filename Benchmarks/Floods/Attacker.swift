// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import JabberControl
internal import SocketIO
internal import XMPP
internal import XMPPTestSupport

/// The server: it lets a client in, in a process of its own, and floods it.
enum Attacker {
    /// Lets one client suffer one flood; its row goes to standard output.
    ///
    /// - Returns: Whether it went as it must.
    static func run(_ flood: Flood, divisor: Int) async throws -> Bool {
        if flood == .header { return try await withEndlessHeader(divisor: divisor) }
        if flood == .status { return try await FloodedDaemon.run(divisor: divisor) }
        let server = try await LoopbackServer.start(domain: "example.net", accounts: ["romeo": "secret"])
        try await server.add(LoopbackBuddy("juliet", name: "Juliet", resource: "balcony", behaviors: []))
        if flood == .churn { return try await whileSessionsComeAndGo(server, divisor: divisor) }
        if flood == .buddies {
            for number in 0..<flood.count(dividedBy: divisor) / 2 {
                // Some groups: with one for each, the roster would have more elements than a stanza may.
                try await server.add(
                    LoopbackBuddy(
                        "b\(number)", name: "Buddy \(number)", groups: number % 4 == 0 ? ["\(number % 10)"] : [],
                        presence: nil, behaviors: []))
            }
        }
        let client = try start(flood, divisor, port: server.port, authority: server.certificateAuthorityFile)
        _ = try await server.firstElement(from: "romeo", within: .seconds(30)) { $0.localName == "presence" }
        let portions = Locked(flood.portions(dividedBy: divisor))
        _ = await server.flood("romeo") { portions.withLock { $0.next() } }
        let status = await Task.detached { client.wait() }.value
        await server.stop()
        return status == 0
    }

    /// A server that does nothing but its work.
    private static func whileSessionsComeAndGo(_ server: LoopbackServer, divisor: Int) async throws -> Bool {
        let client = try start(.churn, divisor, port: server.port, authority: server.certificateAuthorityFile)
        let status = await Task.detached { client.wait() }.value
        await server.stop()
        return status == 0
    }

    /// A server that never comes to the end of its header. It needs no XMPP.
    private static func withEndlessHeader(divisor: Int) async throws -> Bool {
        let executor = StreamExecutor(label: "floods")
        let listener = try ListeningSocket(.loopback(port: 0), on: executor)
        executor.run {
            listener.start { socket in
                let portions = Locked(Flood.header.portions(dividedBy: divisor))
                let sendMore: @Sendable () -> Void = { [weak socket] in
                    while let socket, socket.pendingBytes < 65_536, let bytes = portions.withLock({ $0.next() }) {
                        socket.send(bytes)
                    }
                }
                socket.start { event in
                    switch event {
                    case .received, .drained: sendMore()
                    case .endOfInput: socket.close()
                    case .closed: break
                    }
                }
            }
        }
        let client = try start(.header, divisor, port: listener.address.port ?? 0, authority: "")
        let status = await Task.detached { client.wait() }.value
        executor.run { listener.close() }
        return status == 0
    }

    private static func start(
        _ flood: Flood, _ divisor: Int, port: UInt16, authority: String
    ) throws -> ChildProcess {
        try ChildProcess(
            ["/proc/self/exe", "--client", flood.rawValue, String(divisor), String(port), authority], environment: [:],
            descriptors: [(0, 0), (1, 1), (2, 2)])
    }
}
