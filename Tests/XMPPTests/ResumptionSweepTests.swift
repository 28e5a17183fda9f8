// SPDX-License-Identifier: Apache-2.0

import SocketIO
import Testing
import XMPP
import XMPPTestSupport

/// One session with messages both ways, and what it looks like when its connection is cut at every interesting byte.
@Suite("Nothing is lost and nothing doubled, wherever a connection is cut (XEP-0198 §5)", .timeLimit(.minutes(10)))
struct ResumptionSweepTests {
    private static let messages = 5
    private static let patience = ReconnectPolicy(firstDelay: .milliseconds(1), minimumDelay: .milliseconds(1))

    struct Tally: Sendable {
        var cuts = 0
        var lost = 0
        var doubled = 0
        var disordered = 0
        var resumed = 0
    }

    @Test(
        "the session is cut at every stanza boundary, a byte before and after it, and at regular distances",
        arguments: [LoopbackOptions.Resumption.kept(for: .seconds(60)), .refusedWithCount, .refused])
    func sweep(resumption: LoopbackOptions.Resumption) async throws {
        var options = LoopbackOptions()
        options.mechanisms = ["PLAIN"]
        options.resumption = resumption
        options.requestsAcknowledgementEvery = 2
        let server = try await LoopbackServer.start(
            domain: "example.net", accounts: ["romeo": "secret"], options: options)
        try await server.add(LoopbackBuddy("juliet", resource: "balcony"))
        var tally = Tally()
        let whole = try await run("whole", on: server, &tally)
        #expect(tally.lost == 0 && tally.doubled == 0)
        for direction in [LoopbackFault.Direction.toClient, .fromClient] {
            let places = Self.places(whole, direction)
            #expect(places.count > 40)
            for place in places {
                let ending = place.isMultiple(of: 2) ? LoopbackFault.Ending.reset : .close
                await server.planNextConnection([.cut(afterBytes: place, direction, ending)], on: .stream)
                let before = tally
                tally.cuts += 1
                _ = try await run("\(direction)-\(place)", on: server, &tally)
                // Where the session is gone, what either side has not acknowledged comes again, under its id.
                let isGone = resumption == .refused || resumption == .refusedWithCount
                let doubles = isGone ? 0 : tally.doubled - before.doubled
                if tally.lost > before.lost || tally.disordered > before.disordered || doubles > 0 {
                    Issue.record("cut after \(place) bytes \(direction), \(ending): \(tally)")
                }
            }
        }
        print("\(resumption): cuts \(tally.cuts) lost \(tally.lost) doubled \(tally.doubled) resumed \(tally.resumed)")
        #expect(tally.lost == 0)
        #expect(tally.disordered == 0)
        if case .kept = resumption {
            #expect(tally.doubled == 0)
            #expect(tally.resumed > tally.cuts / 4)
        }
        await server.stop()
    }

    /// A session in which messages are sent and echoed. What goes wrong is added up.
    ///
    /// - Returns: What passed on its first connection.
    private func run(
        _ name: String, on server: LoopbackServer, _ tally: inout Tally
    ) async throws -> [LoopbackRecord] {
        let start = await server.transcript.last?.connection ?? 0
        let client = XMPPClient(
            try await server.configuration(for: "romeo", resource: "orchard", directTLS: true), reconnect: Self.patience
        )
        let ids = (1...Self.messages).map { "\(name)-\($0)" }
        let collector = Collector(expecting: Set(ids.map { "echo-\($0)" }))
        client.add(chatDelegate: collector)
        client.add(messageDelegate: collector)
        let juliet = try JID("juliet@example.net/balcony")
        for id in ids {
            // What could not be sent has not been sent, and is tried again by whoever wants it sent.
            try await Patience.wait(for: "\(id) to be sent") {
                do {
                    try await client.start()
                    try await client.send(Message(to: juliet, body: id, id: id))
                    return true
                } catch {
                    return false
                }
            }
        }
        await collector.waitForAll()
        await client.stop()
        let sent = try await server.stanzas(for: "juliet").compactMap { $0["id"] }.filter { $0.hasPrefix("\(name)-") }
        count(sent, ids, &tally)
        count(collector.ids.filter { $0.hasPrefix("echo-\(name)-") }, ids.map { "echo-\($0)" }, &tally)
        tally.resumed += collector.resumptions
        return await server.transcript.filter { $0.connection == start + 1 }
    }

    private func count(_ got: [String], _ wanted: [String], _ tally: inout Tally) {
        var firsts: [String] = []
        for id in got where !firsts.contains(id) { firsts.append(id) }
        tally.lost += wanted.count { !firsts.contains($0) }
        tally.doubled += got.count - firsts.count
        if firsts != wanted.filter(firsts.contains) { tally.disordered += 1 }
    }

    /// The offsets at which what one side sends is cut.
    private static func places(
        _ records: [LoopbackRecord], _ direction: LoopbackFault.Direction
    ) -> [Int] {
        var places: Set<Int> = []
        var total = 0
        for record in records where record.direction == direction {
            if record.element.isNamed("stream", namespace: Namespace.streams) {
                // Both sides' headers are within the regular distances; their length is all that matters.
                total += 200
            } else if let bytes = try? XMLSerializer.serialize(
                record.element, defaultNamespace: Namespace.client, isInStream: true)
            {
                total += bytes.count
            }
            places.formUnion([total - 1, total, total + 1])
        }
        places.formUnion(stride(from: 0, to: total, by: 64))
        return places.sorted()
    }
}

/// Takes down the ids of messages, and tells when all that are expected are there.
private final class Collector: ChatDelegate, MessageDelegate {
    /// How long something may take that will never come.
    private static let patience: Duration = .seconds(10)

    private struct State {
        var ids: [String] = []
        var missing: Set<String>
        var resumptions = 0
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state: Locked<State>
    private let executor = StreamExecutor(label: "collector")

    init(expecting ids: Set<String>) {
        state = Locked(State(missing: ids))
    }

    var ids: [String] { state.withLock { $0.ids } }
    var resumptions: Int { state.withLock { $0.resumptions } }

    /// Waits until everything is there, or nothing more can be expected.
    func waitForAll() async {
        let timer = SystemClock().schedule(after: Self.patience, on: executor) { self.wake() }
        await withCheckedContinuation { continuation in
            let isComplete = state.withLock { state -> Bool in
                if state.missing.isEmpty { return true }
                state.waiter = continuation
                return false
            }
            if isComplete { continuation.resume() }
        }
        timer.cancel()
    }

    private func wake() {
        let waiter = state.withLock { state in
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    func streamDidResume(_ stream: XMPPStream) async {
        state.withLock { $0.resumptions += 1 }
    }

    func stream(_ stream: XMPPStream, didReceive message: Message) async {
        guard let id = message.id else { return }
        let isComplete = state.withLock { state -> Bool in
            state.ids.append(id)
            state.missing.remove(id)
            return state.missing.isEmpty
        }
        if isComplete { wake() }
    }
}
