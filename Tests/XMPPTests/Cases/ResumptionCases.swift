// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
import Testing
import XMPP
import XMPPCore
import XMPPTestSupport
import XMPPXML

@testable import XMPPTransport

/// Connects as another connector does, once it has refused so many times.
private final class ReluctantConnector: StreamConnector {
    private struct State {
        var refusals: Int
        var attempts = 0
        var mostAtOnce = 0
    }

    private let other: any StreamConnector
    private let state: Locked<State>

    init(_ other: any StreamConnector, refusals: Int) {
        self.other = other
        state = Locked(State(refusals: refusals))
    }

    /// How many attempts there were at once at most.
    var mostAtOnce: Int { state.withLock { $0.mostAtOnce } }

    func targets(for domain: String, override: ConnectionTarget?) async throws(ConnectError) -> [ConnectionTarget] {
        // One place, as several would race each other.
        [ConnectionTarget(host: "a.example.org")]
    }

    func connect(
        to target: ConnectionTarget, on executor: StreamExecutor
    ) async throws(ConnectError) -> any ByteTransport {
        let isRefused = state.withLock { state in
            state.attempts += 1
            state.mostAtOnce = max(state.mostAtOnce, state.attempts)
            state.refusals -= 1
            return state.refusals >= 0
        }
        await Task.yield()
        state.withLock { $0.attempts -= 1 }
        if isRefused { throw .allAddressesFailed(host: target.host, []) }
        return try await other.connect(to: target, on: executor)
    }
}

@Suite("Sessions that were begun anew, or twice, where one was there", .timeLimit(.minutes(5)))
struct ResumptionCases {
    private static let features =
        "#! await <stream:stream\n"
        + "#! raw <stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' from='example.org' "
        + "id='s' version='1.0'><stream:features><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/>"
        + "<sm xmlns='urn:xmpp:sm:3'/></stream:features>\n"

    private static let patience = ReconnectPolicy(
        firstDelay: .milliseconds(2), baseDelay: .milliseconds(2), minimumDelay: .milliseconds(1))

    @Test(
        "a lost session is resumed with the count of what arrived, and nothing of its beginning is repeated (XEP-0198 §5)"
    )
    func resumed() async throws {
        let server = try ScriptedServer(usesTLS: false)
        var configuration = server.configuration
        configuration.jid = try configuration.jid.withResource("balcony")
        let client = XMPPClient(configuration, reconnect: Self.patience)
        let messages = (1...19).map {
            "<message from='romeo@example.net/o' type='chat'><body>\($0)</body></message>"
        }
        let script = """
            #! prelude authed
            \(Self.features)#! await urn:ietf:params:xml:ns:xmpp-bind
            <iq type='result' id='{id}'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'><jid>juliet@example.org/balcony</jid></bind></iq>
            #! await <enable
            <enabled xmlns='urn:xmpp:sm:3' id='sm1' resume='true'/>
            #! await jabber:iq:roster
            <iq type='result' id='{id}'><query xmlns='jabber:iq:roster'/></iq>
            #! await <presence
            #! await >online<
            \(messages.joined(separator: "\n"))
            <r xmlns='urn:xmpp:sm:3'/>
            #! await h='20'
            #! rst
            #! reconnect authed
            \(Self.features)#! await <resume
            <resumed xmlns='urn:xmpp:sm:3' previd='sm1' h='3'/>
            <message from='romeo@example.net/o' type='chat'><body>21</body></message>
            <r xmlns='urn:xmpp:sm:3'/>
            #! await h='21'
            """
        let played = Task { try await server.play(StreamScript(text: script)) }
        let arrived = client.messages
        try await client.start()
        // A connection that breaks before the client is online makes it say its presence again.
        try await client.send(Message(to: try JID("romeo@example.net"), body: "online"))
        try await played.value
        var bodies: [String] = []
        for try await message in arrived {
            bodies.append(message.body ?? "")
            if bodies.last == "21" { break }
        }
        #expect(bodies == (1...19).map(String.init) + ["21"])
        let second = try #require(await server.received.last).filter {
            !$0.contains("<auth") && !$0.contains("<response")
        }
        let sent = second.filter { !$0.contains("<stream:stream") }
        #expect(sent.first?.contains("<resume") == true && sent.first?.contains("h='20'") == true, "\(sent)")
        #expect(sent.first?.contains("previd='sm1'") == true)
        #expect(
            sent.allSatisfy { !$0.contains("bind") && !$0.contains("roster") && !$0.contains("<presence") }, "\(sent)")
        _ = try? await server.play(StreamScript(.close))
        await client.stop()
    }

    @Test("however often a client is told to start while nothing answers, it tries once at a time, and comes online")
    func manyStarts() async throws {
        let server = try ScriptedServer(usesTLS: false)
        var configuration = server.configuration
        let connector = ReluctantConnector(configuration.connector, refusals: 10)
        configuration.connector = connector
        let client = XMPPClient(configuration, reconnect: Self.patience)
        await server.setPatience(.seconds(50))
        let played = Task { try await server.play(StreamScript(.advance(to: .online))) }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    // A start ends with the first failure; the client goes on.
                    while !Task.isCancelled, (try? await client.start()) == nil { await client.reconnectNow() }
                }
            }
        }
        try await played.value
        #expect(connector.mostAtOnce == 1)
        #expect(await server.received.count == 1)
        guard case .online = await client.state else {
            Issue.record("\(await client.state)")
            return
        }
        _ = try? await server.play(StreamScript(.close))
        await client.stop()
    }
}
