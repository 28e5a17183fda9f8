// SPDX-License-Identifier: Apache-2.0

import SocketIO
import XMPPCore
import XMPPTestSupport
import XMPPTransport
import XMPPXML

/// The server of `romeo@example.net`, on the client's own queue and in the clear, so that a session costs next to
/// nothing.
///
/// Unchecked: everything happens on the executor's queue of the one connection.
final class SessionServer: StreamConnector, @unchecked Sendable {
    /// What the server says is in the roster.
    private let roster: String
    private var wire: ScriptedTransport?
    private var parser = XMLStreamParser()
    private var isAuthenticated = false
    /// Whether the next stream begins in the write that says that authentication succeeded.
    private let isEager: Bool
    /// The first-level elements that the client sent.
    private(set) var received: [Element] = []
    /// Whether the client has ended its stream or the connection.
    private(set) var hasEnded = false

    /// Makes a server with one contact in the roster.
    init(contacts: [String] = ["juliet@example.com"], isEager: Bool = false) {
        self.isEager = isEager
        roster = contacts.map { "<item jid='\($0)' subscription='both'/>" }.joined()
    }

    func targets(for domain: String, override: ConnectionTarget?) async throws(ConnectError) -> [ConnectionTarget] {
        [ConnectionTarget(host: "127.0.0.1")]
    }

    func connect(
        to target: ConnectionTarget, on executor: StreamExecutor
    ) async throws(ConnectError) -> any ByteTransport {
        let (client, server) = ScriptedTransport.pair(on: executor, and: executor)
        wire = server
        await withCheckedContinuation { continuation in
            executor.run {
                server.start { self.handle($0) }
                continuation.resume()
            }
        }
        return client
    }

    /// Sends bytes, each piece in a read of its own, and waits until the client has dealt with them.
    func send(_ pieces: [ArraySlice<UInt8>]) async {
        guard let wire else { return }
        wire.executor.run { for piece in pieces { wire.send(Array(piece)) } }
        await settle()
    }

    /// Waits until what was sent has arrived, and so have the answers.
    func settle() async {
        guard let executor = wire?.executor else { return }
        for _ in 0..<4 {
            await withCheckedContinuation { continuation in executor.run { continuation.resume() } }
        }
    }

    /// Forgets what was received.
    func forget() async {
        await onQueue { $0.received = [] }
    }

    /// The elements received since the last ``forget()``.
    func sent() async -> [Element] { await onQueue { $0.received } }

    /// Closes the connection.
    func close() async {
        await onQueue { $0.wire?.close() }
    }

    private func onQueue<Value: Sendable>(_ body: @escaping @Sendable (SessionServer) -> Value) async -> Value {
        guard let executor = wire?.executor else { return body(self) }
        return await withCheckedContinuation { continuation in
            executor.run { continuation.resume(returning: body(self)) }
        }
    }

    // MARK: An ordinary server

    private func say(_ xml: String) { wire?.send(Array(xml.utf8)) }

    private func handle(_ event: TransportEvent) {
        guard case .received(let bytes) = event else {
            hasEnded = true
            return
        }
        var rest = bytes[...]
        while !rest.isEmpty {
            let outcome = parser.feed(rest, .oneEvent)
            rest = rest.dropFirst(outcome.consumed)
            for event in outcome.events { handle(event) }
            if outcome.error != nil || (outcome.consumed == 0 && outcome.events.isEmpty) { return }
        }
    }

    private func handle(_ event: XMLStreamEvent) {
        switch event {
        case .streamOpened where isAuthenticated: if !isEager { say(header + sessionFeatures) }
        case .streamOpened: say(header + mechanisms)
        case .streamClosed: hasEnded = true
        case .passedOver: break
        case .element(let element): handle(element)
        }
    }

    private func handle(_ element: Element) {
        let id = element["id"] ?? ""
        if element.isNamed("auth", namespace: Namespace.sasl) {
            isAuthenticated = true
            parser = XMLStreamParser()
            say("<success xmlns='\(Namespace.sasl)'/>" + (isEager ? header + sessionFeatures : ""))
        } else if element.isNamed("enable", namespace: Namespace.streamManagement) {
            say("<enabled xmlns='\(Namespace.streamManagement)'/>")
        } else if element.firstChild("bind", namespace: Namespace.bind) != nil {
            say(
                "<iq type='result' id='\(id)'><bind xmlns='\(Namespace.bind)'><jid>romeo@example.net/orchard</jid>"
                    + "</bind></iq>")
        } else if element["type"] == "get", element.firstChild("query", namespace: Namespace.roster) != nil {
            say("<iq type='result' id='\(id)'><query xmlns='\(Namespace.roster)'>\(roster)</query></iq>")
        } else {
            received.append(element)
        }
    }

    private let header =
        "<?xml version='1.0'?><stream:stream xmlns='jabber:client' xmlns:stream='\(Namespace.streams)'"
        + " from='example.net' id='s1' version='1.0'>"
    private let mechanisms =
        "<stream:features><mechanisms xmlns='\(Namespace.sasl)'><mechanism>PLAIN</mechanism></mechanisms>"
        + "</stream:features>"
    private let sessionFeatures =
        "<stream:features><bind xmlns='\(Namespace.bind)'/><sm xmlns='\(Namespace.streamManagement)'/>"
        + "</stream:features>"
}
