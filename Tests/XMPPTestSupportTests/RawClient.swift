// SPDX-License-Identifier: Apache-2.0

import SocketIO
import XMPPTestSupport

/// A client that sends whatever it is told, and collects what comes back.
actor RawClient {
    nonisolated let executor = StreamExecutor()
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private var transport: SocketTransport?
    private var text = ""
    private var hasEnded = false
    private var waiter: CheckedContinuation<Void, Never>?

    static let header =
        "<stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams'"
        + " to='example.org' version='1.0'>"

    func connect(_ port: UInt16) async throws {
        let transport = try await SocketTransport.connect(to: .loopback(port: port), on: executor)
        self.transport = transport
        transport.start { [weak self] event in self?.assumeIsolated { $0.handle(event) } }
    }

    func send(_ text: String) {
        transport?.send(Array(text.utf8))
    }

    /// All that came, once it contains `part` or the server has closed.
    func receive(until part: String) async -> String {
        while !text.contains(part), !hasEnded { await withCheckedContinuation { waiter = $0 } }
        return text
    }

    /// All that came until the server closed.
    func receiveAll() async -> String {
        while !hasEnded { await withCheckedContinuation { waiter = $0 } }
        return text
    }

    func close() {
        transport?.close()
    }

    private func handle(_ event: TransportEvent) {
        switch event {
        case .received(let bytes): text += String(decoding: bytes, as: UTF8.self)
        case .endOfInput, .closed: hasEnded = true
        case .drained: break
        }
        waiter?.resume()
        waiter = nil
    }
}
