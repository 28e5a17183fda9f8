// SPDX-License-Identifier: Apache-2.0

import SocketIO
import Testing
import XMPPCore
import XMPPTestSupport
import XMPPTransport

@testable import XMPP

@Suite("Nothing secret leaves before TLS, in whatever order things happen", .serialized)
struct SchedulingTests {
    /// Beginnings of a session in which there is no TLS to be had.
    private static let files = ["t-no-starttls.xml", "t-empty-features.xml", "t-starttls-optional.xml"]
    /// What a client says after TLS alone.
    private static let secrets = ["<auth", "<response", "<iq", "<message", "<presence", "secret", "c2VjcmV0"]

    @Test(
        "1,000 logins, each cut and interleaved by chance, and no <auth/> on a plain socket (RFC 7590 §3.1)",
        arguments: files)
    func plainSocket(file: String) async throws {
        let row = VectorRow(file: file, phase: "pre-tls", state: "", outcomes: [])
        let bytes = try row.bytes()
        var random = SeededGenerator(seed: 4)
        let refusals = Locked(0)
        for number in 0..<1_000 {
            let server = PlainServer(saying: bytes, seed: random.next())
            let stream = try stream(to: server)
            let delays = (0..<4).map { _ in Int.random(in: 0..<30, using: &random) }
            let leaves = Bool.random(using: &random)
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    do {
                        _ = try await Self.after(delays[0]) { () throws in try await stream.connect() }
                    } catch let error as XMPPError where error.code == .tlsUnavailable {
                        refusals.withLock { $0 += 1 }
                    } catch {}
                }
                group.addTask { _ = try? await Self.after(delays[1]) { () throws in try await stream.goOnline() } }
                group.addTask {
                    _ = try? await Self.after(delays[2]) { () throws in
                        try await stream.send(Message(to: JID("juliet@example.com"), body: "secret"))
                    }
                }
                group.addTask { await server.play(leavingAfter: leaves ? delays[3] : nil) }
                await group.waitForAll()
            }
            await stream.disconnect()
            let heard = await server.heard()
            for secret in Self.secrets where heard.contains(secret) {
                Issue.record("login \(number) of \(file): “\(secret)” in “\(heard)”")
                return
            }
        }
        // Or else few came so far that there was anything to decide.
        #expect(refusals.withLock { $0 } > 100)
    }

    private func stream(to server: PlainServer) throws -> XMPPStream {
        var configuration = XMPPConfiguration(jid: try JID("romeo@example.net/orchard"), password: "secret")
        configuration.connector = server
        configuration.loginMemory = InMemoryLoginMemoryStore()
        configuration.use(TestClock())
        return XMPPStream(configuration)
    }

    private static func after<Value>(
        _ yields: Int, _ body: @Sendable () async throws -> Value
    ) async throws -> Value {
        for _ in 0..<yields { await Task.yield() }
        return try await body()
    }
}

/// The server's end of a connection in memory, on a queue of its own: says what it has to say in pieces of any size,
/// answers a request for TLS with a refusal, and keeps what it hears.
///
/// Unchecked: what changes is locked, or belongs to the executor's queue.
private final class PlainServer: StreamConnector, @unchecked Sendable {
    private let pieces: [[UInt8]]
    private let delays: [Int]
    private let executor = StreamExecutor(label: "swift-xmpp.plain")
    private let wire = Locked<ScriptedTransport?>(nil)
    private let bytes = Locked<[UInt8]>([])

    init(saying text: [UInt8], seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var rest = text[...]
        var pieces: [[UInt8]] = []
        while !rest.isEmpty {
            let piece = rest.prefix(Int.random(in: 1...rest.count, using: &random))
            rest = rest.dropFirst(piece.count)
            pieces.append(Array(piece))
        }
        self.pieces = pieces
        delays = pieces.map { _ in Int.random(in: 0..<10, using: &random) }
    }

    func targets(for domain: String, override: ConnectionTarget?) async throws(ConnectError) -> [ConnectionTarget] {
        [ConnectionTarget(host: "127.0.0.1")]
    }

    func connect(
        to target: ConnectionTarget, on executor: StreamExecutor
    ) async throws(ConnectError) -> any ByteTransport {
        let (client, server) = ScriptedTransport.pair(on: executor, and: self.executor)
        await onQueue { server.start { event in self.handle(event, server) } }
        wire.withLock { $0 = server }
        return client
    }

    /// Waits for a client, says everything to it, and closes the connection.
    func play(leavingAfter yields: Int?) async {
        while wire.withLock({ $0 == nil }) { await Task.yield() }
        guard let wire = wire.withLock({ $0 }) else { return }
        for (piece, delay) in zip(pieces, delays) {
            for _ in 0..<delay { await Task.yield() }
            await onQueue { wire.send(piece) }
        }
        for _ in 0..<(yields ?? 100) { await Task.yield() }
        await onQueue { wire.close() }
    }

    /// What clients have said so far.
    func heard() async -> String {
        await onQueue {}
        return String(decoding: bytes.withLock { $0 }, as: UTF8.self)
    }

    private func handle(_ event: TransportEvent, _ wire: ScriptedTransport) {
        guard case .received(let received) = event else { return }
        bytes.withLock { $0 += received }
        guard String(decoding: received, as: UTF8.self).contains("<starttls") else { return }
        wire.send(Array("<failure xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>".utf8))
    }

    private func onQueue(_ body: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            executor.run {
                body()
                continuation.resume()
            }
        }
    }
}
