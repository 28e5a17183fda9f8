// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
internal import XMPP
internal import XMPPTestSupport

/// Who sends messages over a connection that is cut.
protocol CutClient: Sendable {
    /// A session in which these messages are sent, and sent back.
    ///
    /// - Parameter cut: What happens to its first connection.
    func run(_ ids: [String], _ cut: Cut?) async throws -> CutOutcome
    func end() async
}

/// The library: an ``XMPPClient`` and what it keeps in memory.
struct LibraryClient: CutClient {
    /// How long something may take that will never come.
    static let patience: Duration = .seconds(15)
    /// A question goes either way after so many messages.
    private static let questionEvery = 4

    let stage: any CutStage

    func run(_ ids: [String], _ cut: Cut?) async throws -> CutOutcome {
        var configuration = try await stage.configuration()
        if cut?.ending == .stall { Self.hurry(&configuration) }
        let client = XMPPClient(
            configuration,
            reconnect: ReconnectPolicy(
                firstDelay: .milliseconds(1), baseDelay: .milliseconds(2), maximumDelay: .milliseconds(50),
                minimumDelay: .milliseconds(1)))
        let collector = CutCollector(expecting: Set(ids.map { "echo-\($0)" }))
        client.add(chatDelegate: collector)
        client.add(messageDelegate: collector)
        if let cut { await stage.plan(cut) }
        _ = try? await client.start()
        var entries: [OutboxEntry] = []
        for (number, id) in ids.enumerated() {
            entries.append(try await client.post(Message(to: stage.peer, body: id, id: id)))
            guard number % Self.questionEvery == 0 else { continue }
            let peer = stage.peer
            Task {
                try? await client.request(
                    IQ(.get, to: peer, payload: Element("ping", namespace: Namespace.ping)), timeout: .seconds(2))
            }
            if let jid = await client.stream?.jid { await stage.ask(jid) }
        }
        for entry in entries {
            _ = try? await client.waitUntil(.server, of: entry, timeout: Self.patience)
        }
        await collector.waitForAll(Self.patience)
        await client.stop()
        var outcome = CutOutcome(received: collector.arrived, resumed: collector.resumptions)
        if let first = ids.first, let prefix = first.split(separator: "-").first {
            outcome.sent = try await stage.arrived("\(prefix)-")
        }
        return outcome
    }

    func end() async {}

    /// A silent server is noticed soon.
    private static func hurry(_ configuration: inout XMPPConfiguration) {
        configuration.keepalive = .ping(after: .milliseconds(300))
        configuration.timeouts = StreamTimeouts(
            tls: .milliseconds(800), negotiation: .seconds(1), stanza: .seconds(1), acknowledgement: .milliseconds(50),
            answer: .milliseconds(500), closing: .milliseconds(500))
    }
}

/// Takes down which messages came back, and tells when all that are expected are there.
final class CutCollector: ChatDelegate, MessageDelegate {
    private struct State {
        var arrived: [Arrival] = []
        var missing: Set<String>
        var resumptions = 0
    }

    private let state: Locked<State>
    private let changes = ChangeListeners()
    private let executor = StreamExecutor(label: "sweep.collector")

    init(expecting ids: Set<String>) {
        state = Locked(State(missing: ids))
    }

    var arrived: [Arrival] { state.withLock { $0.arrived } }
    var resumptions: Int { state.withLock { $0.resumptions } }

    /// Waits until everything is there, or nothing more can be expected.
    func waitForAll(_ limit: Duration) async {
        let isOver = Locked(false)
        let stream = changes.stream()
        let timer = SystemClock().schedule(after: limit, on: executor) { [changes] in
            isOver.withLock { $0 = true }
            changes.raise()
        }
        defer { timer.cancel() }
        changes.raise()
        for await _ in stream where state.withLock({ $0.missing.isEmpty }) || isOver.withLock({ $0 }) { return }
    }

    /// A message came.
    func take(_ id: String, name: String?) {
        state.withLock { state in
            state.arrived.append(Arrival(id: id, name: name))
            state.missing.remove(id)
        }
        changes.raise()
    }

    func streamDidResume(_ stream: XMPPStream) async {
        state.withLock { $0.resumptions += 1 }
    }

    func stream(_ stream: XMPPStream, didReceive message: Message) async {
        guard let id = message.id, message.body != nil else { return }
        take(id, name: message.stanzaID(by: stream.configuration.jid.bare))
    }
}
