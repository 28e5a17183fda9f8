// SPDX-License-Identifier: Apache-2.0

import Dispatch
import SocketIO

@testable import XMPPTransport

/// Collects a transport's events; a test waits for what it needs.
final class EventLog: Sendable {
    private struct State {
        var events: [TransportEvent] = []
        var waiters: [(@Sendable ([TransportEvent]) -> Bool, CheckedContinuation<Void, Never>)] = []
    }

    private let state = Locked(State())

    var events: [TransportEvent] { state.withLock { $0.events } }

    /// The events with everything received in one.
    var summary: [TransportEvent] {
        let bytes = events.reduce(into: [UInt8]()) { sum, event in
            if case .received(let bytes) = event { sum += bytes }
        }
        let others = events.filter { if case .received = $0 { false } else { true } }
        return bytes.isEmpty ? others : [.received(bytes)] + others
    }

    func record(_ event: TransportEvent) {
        let ready = state.withLock { state in
            state.events.append(event)
            let ready = state.waiters.filter { $0.0(state.events) }
            state.waiters.removeAll { $0.0(state.events) }
            return ready
        }
        for waiter in ready { waiter.1.resume() }
    }

    /// Waits for a condition; gives up when the test's time is over.
    func wait(until condition: @escaping @Sendable ([TransportEvent]) -> Bool) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    if condition(state.events) || Task.isCancelled { return true }
                    state.waiters.append((condition, continuation))
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            let waiters = state.withLock { state in
                defer { state.waiters = [] }
                return state.waiters
            }
            for waiter in waiters { waiter.1.resume() }
        }
    }

    func waitForBytes(_ count: Int) async {
        await wait { events in
            events.reduce(0) { if case .received(let bytes) = $1 { $0 + bytes.count } else { $0 } } >= count
        }
    }

    func waitForEnd() async {
        await wait { $0.contains { if case .closed = $0 { true } else { false } } }
    }

    func waitForEndOfInput() async {
        await wait { $0.contains(.endOfInput) }
    }
}

/// A client and a server in one process, connected by a socket pair.
struct TLSPair {
    let client: TLSTransport
    let server: TLSTransport
    let clientSocket: SocketTransport
    let serverSocket: SocketTransport
    let clientLog = EventLog()
    let serverLog = EventLog()

    init(
        client clientContext: TLSContext, server serverContext: TLSContext, identity: ReferenceIdentity,
        startTLS: Bool = false, resumingFor owner: String? = nil
    ) throws {
        (clientSocket, serverSocket) = try SocketPair.transports(on: StreamExecutor(), and: StreamExecutor())
        if startTLS {
            for socket in [clientSocket, serverSocket] {
                socket.executor.queue.sync {
                    // Paused, as after `<proceed/>`: what the other side says first is for TLS, and not for this
                    // handler.
                    socket.start { _ in }
                    socket.pauseReading()
                }
            }
        }
        let mode: TLSTransport.Mode = startTLS ? .startTLS(pendingInput: []) : .direct
        client = try TLSTransport(
            over: clientSocket, context: clientContext, role: .client(identity, offersProtocol: !startTLS), mode: mode,
            resumingFor: owner)
        server = try TLSTransport(over: serverSocket, context: serverContext, role: .server, mode: mode)
    }

    /// Shakes hands on both sides; after a success both sides record their events.
    func handshake() async -> (client: Result<TLSProperties, TLSError>, server: Result<TLSProperties, TLSError>) {
        async let server = server.handshakeAndStart(serverLog)
        async let client = client.handshakeAndStart(clientLog)
        return await (client, server)
    }

    func end() {
        client.executor.queue.sync { client.abort() }
        server.executor.queue.sync { server.abort() }
    }
}

extension TLSTransport {
    func handshakeAndStart(_ log: EventLog) async -> Result<TLSProperties, TLSError> {
        let outcome = Handover<Result<TLSProperties, TLSError>>()
        executor.queue.async {
            // A busy machine is no silent peer: the time-out itself has tests of its own.
            self.handshake(timeout: .seconds(120)) { result in
                self.start { log.record($0) }
                outcome.give(result)
            }
        }
        return await outcome.value()
    }

    func onQueue<Result: Sendable>(_ body: @escaping @Sendable (TLSTransport) -> Result) -> Result {
        executor.queue.sync { body(self) }
    }
}
