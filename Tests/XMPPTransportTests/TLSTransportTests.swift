// SPDX-License-Identifier: Apache-2.0

import Dispatch
import SocketIO
import Testing

@testable import XMPPTransport

@Suite(.timeLimit(.minutes(5))) struct TLSTransportTests {
    private static let domain = "im.example.com"

    private func contexts() throws -> (client: TLSContext, server: TLSContext) {
        let root = try TestAuthority.root()
        let leaf = try TestAuthority(
            TestCertificateRequest(alternativeNames: DER.sequence([DER.dns(Self.domain)])), issuer: root)
        return (
            try .client(trust: .pem(root.pem)),
            try .server(certificate: .bytes(leaf.pem), privateKey: .bytes(leaf.key.pem))
        )
    }

    private func pair(startTLS: Bool = false) throws -> TLSPair {
        let contexts = try contexts()
        return try TLSPair(
            client: contexts.client, server: contexts.server, identity: ReferenceIdentity(domain: Self.domain),
            startTLS: startTLS)
    }

    private func established(startTLS: Bool = false) async throws -> TLSPair {
        let pair = try pair(startTLS: startTLS)
        let result = await pair.handshake()
        _ = try result.client.get()
        _ = try result.server.get()
        return pair
    }

    @Test("bytes go both ways, many and in order", arguments: [false, true])
    func bothWays(startTLS: Bool) async throws {
        let pair = try await established(startTLS: startTLS)
        let bytes = (0..<2_000_000).map { UInt8(truncatingIfNeeded: $0 &* 13 &+ $0 >> 9) }
        pair.client.onQueue { $0.send(bytes) }
        pair.server.onQueue { transport in
            for start in stride(from: 0, to: 500_000, by: 500) { transport.send(Array(bytes[start..<start + 500])) }
        }
        await pair.serverLog.waitForBytes(bytes.count)
        await pair.clientLog.waitForBytes(500_000)
        pair.client.onQueue { $0.close() }
        await pair.serverLog.waitForEndOfInput()
        pair.server.onQueue { $0.close() }
        await pair.clientLog.waitForEnd()
        await pair.serverLog.waitForEnd()
        #expect(pair.serverLog.summary.filter { $0 != .drained } == [.received(bytes), .endOfInput, .closed(nil)])
        #expect(pair.clientLog.summary.first == .received(Array(bytes[0..<500_000])))
        #expect(pair.clientLog.events.last == .closed(nil))
    }

    @Test("last words and goodbye that arrive together are both seen, 100 times")
    func lastWords() async throws {
        for _ in 0..<100 {
            let pair = try await established()
            pair.server.onQueue {
                $0.send([1, 2, 3]); $0.close()
            }
            await pair.clientLog.waitForEndOfInput()
            #expect(pair.clientLog.summary == [.received([1, 2, 3]), .endOfInput])
            pair.end()
        }
    }

    @Test("an end without the closing message of TLS is a truncation, never a clean end")
    func truncation() async throws {
        let pair = try await established()
        pair.server.onQueue { $0.send([1]) }
        await pair.clientLog.waitForBytes(1)
        pair.serverSocket.executor.queue.sync { pair.serverSocket.close() }
        await pair.clientLog.waitForEnd()
        guard case .closed(let error?) = pair.clientLog.events.last else {
            Issue.record("no error")
            return
        }
        #expect(error.code == .truncated)
        #expect(!pair.clientLog.events.contains(.endOfInput))
        pair.end()
    }

    @Test("what a peer sends after its goodbye is neither delivered nor an error")
    func afterGoodbye() async throws {
        let pair = try await established()
        pair.server.onQueue {
            $0.send([1]); $0.close()
        }
        await pair.clientLog.waitForEndOfInput()
        pair.client.onQueue {
            $0.send([2]); $0.close()
        }
        await pair.clientLog.waitForEnd()
        #expect(pair.clientLog.summary == [.received([1]), .endOfInput, .closed(nil)])
        await pair.serverLog.waitForEnd()
        #expect(pair.serverLog.events == [.closed(nil)])
    }

    @Test("bytes sent before the handshake is done leave after it, encrypted")
    func earlySend() async throws {
        let pair = try pair()
        pair.client.onQueue { $0.send([9, 9]) }
        _ = try await pair.handshake().client.get()
        await pair.serverLog.waitForBytes(2)
        #expect(pair.serverLog.summary == [.received([9, 9])])
        pair.end()
    }

    @Test("a paused channel delivers nothing until it is resumed")
    func pauses() async throws {
        let pair = try await established()
        pair.client.onQueue { $0.pauseReading() }
        pair.server.onQueue { $0.send([UInt8](repeating: 5, count: 300_000)) }
        await Task.yield()
        pair.client.onQueue { _ in }
        #expect(pair.clientLog.events.isEmpty)
        pair.client.onQueue { $0.resumeReading() }
        await pair.clientLog.waitForBytes(300_000)
        // Not before: a peer that does not read in time is given up.
        pair.server.onQueue { $0.close() }
        await pair.clientLog.waitForEndOfInput()
        #expect(pair.clientLog.summary == [.received([UInt8](repeating: 5, count: 300_000)), .endOfInput])
        pair.end()
    }

    @Test("cleartext behind <proceed/> is an attack (RFC 6120 §5.4.2.3)", arguments: [" ", "<iq/>", "\u{15}"])
    func injection(text: String) async throws {
        let contexts = try contexts()
        let (socket, peer) = try SocketPair.transports(on: StreamExecutor(), and: StreamExecutor())
        socket.executor.queue.sync { socket.start { _ in } }
        let peerLog = EventLog()
        peer.executor.queue.sync { peer.start { peerLog.record($0) } }
        let client = try TLSTransport(
            over: socket, context: contexts.client,
            role: .client(ReferenceIdentity(domain: Self.domain), offersProtocol: false),
            mode: .startTLS(pendingInput: Array(text.utf8)))
        let log = EventLog()
        let result = await client.handshakeAndStart(log)
        #expect(result == .failure(.plaintextInjected))
        await peerLog.waitForEndOfInput()
        #expect(peerLog.events == [.endOfInput])
        peer.executor.queue.sync { peer.abort() }
    }

    @Test("a handshake has a deadline")
    func deadline() async throws {
        let contexts = try contexts()
        let (socket, peer) = try SocketPair.transports(on: StreamExecutor(), and: StreamExecutor())
        let client = try TLSTransport(
            over: socket, context: contexts.client,
            role: .client(ReferenceIdentity(domain: Self.domain), offersProtocol: true), mode: .direct)
        let result = Handover<Result<TLSProperties, TLSError>>()
        client.executor.queue.async { client.handshake(timeout: .milliseconds(1)) { result.give($0) } }
        #expect(await result.value() == .failure(.timedOut(within: .milliseconds(1))))
        peer.executor.queue.sync { peer.abort() }
    }

    @Test("a peer that leaves during the handshake is reported as that")
    func lost() async throws {
        let contexts = try contexts()
        let (socket, peer) = try SocketPair.transports(on: StreamExecutor(), and: StreamExecutor())
        let client = try TLSTransport(
            over: socket, context: contexts.client,
            role: .client(ReferenceIdentity(domain: Self.domain), offersProtocol: true), mode: .direct)
        peer.executor.queue.sync { peer.close() }
        let log = EventLog()
        guard case .failure(.connectionLost) = await client.handshakeAndStart(log) else {
            Issue.record("no loss")
            return
        }
        await log.waitForEnd()
        peer.executor.queue.sync { peer.abort() }
    }

    @Test("calling off ends the handshake")
    func abort() async throws {
        let pair = try pair()
        let result = Handover<Result<TLSProperties, TLSError>>()
        pair.client.executor.queue.async {
            pair.client.handshake { result.give($0) }
            pair.client.abort()
        }
        #expect(await result.value() == .failure(.connectionLost("called off")))
        pair.end()
    }
}
