// SPDX-License-Identifier: Apache-2.0

import SocketIO
import Testing
import XMPPCore
import XMPPProtocol
import XMPPTestSupport
import XMPPXML

@testable import XMPP

/// A store that notes what it is told, and refuses as long as it is told to.
private final class FussyStore: StreamStateStore {
    struct Refusal: Error {}

    private struct State {
        var steps: [StreamProgress] = []
        var refuses = false
        var refusesToSay = false
    }

    private let state = Locked(State())

    var keepsProgress: Bool { true }
    var steps: [StreamProgress] { state.withLock { $0.steps } }

    func refuse(_ refuses: Bool) { state.withLock { $0.refuses = refuses } }

    /// What is found at the beginning.
    private let found: StreamState?

    init(found: StreamState? = nil) {
        self.found = found
    }

    func refuseToSay(_ refuses: Bool) { state.withLock { $0.refusesToSay = refuses } }

    func state(of account: JID) async throws -> StreamState? {
        if state.withLock({ $0.refusesToSay }) { throw Refusal() }
        return found
    }

    func save(_ state: StreamState?, of account: JID) async throws {}

    func keep(_ steps: [StreamProgress], of account: JID) async throws {
        try state.withLock { state in
            if state.refuses { throw Refusal() }
            state.steps += steps
        }
    }

    /// The ids of what was kept of the messages that arrived.
    var arrived: [String?] {
        steps.flatMap { step -> [String?] in
            if case .received(let messages, _) = step { messages.map { $0["id"] } } else { [] }
        }
    }

    /// The highest count of handled stanzas that was kept.
    var handled: UInt32 {
        steps.compactMap { step -> UInt32? in if case .received(_, let handled) = step { handled } else { nil } }.max()
            ?? 0
    }

    var sent: [String?] {
        steps.flatMap { step -> [String?] in
            if case .sent(let stanzas) = step { stanzas.map { $0.element["id"] } } else { [] }
        }
    }
}

@Suite("What is kept before it counts", .timeLimit(.minutes(5)))
struct KeepingTests {
    private let store = FussyStore()

    private func session(
        _ store: FussyStore? = nil, _ change: (inout LoopbackOptions) -> Void = { _ in }
    ) async throws -> (LoopbackServer, XMPPClient, Recorder) {
        let server = try await verona { options in
            options.resumption = .kept(for: .seconds(60))
            change(&options)
        }
        let configuration = try await server.configuration(for: "romeo", resource: "orchard")
        let client = XMPPClient(
            configuration, reconnect: ReconnectPolicy(firstDelay: .milliseconds(1), minimumDelay: .milliseconds(1)),
            store: store ?? self.store)
        let recorder = Recorder()
        client.add(chatDelegate: recorder)
        client.add(messageDelegate: recorder)
        return (server, client, recorder)
    }

    private func message(_ id: String) throws -> Message {
        Message(to: try JID("juliet@example.net/balcony"), body: id, id: id)
    }

    @Test("The beginning of a session, its name, what is sent, what arrives and what is acknowledged: all is told")
    func steps() async throws {
        let (server, client, recorder) = try await session { $0.requestsAcknowledgementEvery = 1 }
        try await client.start()
        try await client.send(message("out"))
        try await client.waitUntilHandled()
        try await server.send(
            Message(to: try JID("romeo@example.net/orchard"), body: "in", id: "in"), as: "juliet")
        await recorder.heard("message juliet@example.net/balcony in")
        await client.stop()
        let steps = store.steps
        guard case .began(let state) = steps.first else { return #expect(Bool(false), "\(steps)") }
        #expect(state.jid.description == "romeo@example.net/orchard" && state.unacknowledged.isEmpty)
        #expect(steps.contains { if case .named = $0 { true } else { false } })
        #expect(store.sent.contains("out") && store.arrived == ["in"])
        #expect(steps.contains { if case .acknowledged = $0 { true } else { false } })
        await server.stop()
    }

    @Test("No count is told to the server that was not kept before (XEP-0198 §4)")
    func counts() async throws {
        let (server, client, _) = try await session { $0.requestsAcknowledgementEvery = 1 }
        try await client.start()
        for number in 1...20 {
            try await server.send(
                Message(to: try JID("romeo@example.net/orchard"), body: "x", id: "\(number)"), as: "juliet")
        }
        _ = try await server.firstElement(from: "romeo") { element in
            element.localName == "a" && (element["h"].flatMap { UInt32($0) } ?? 0) >= 20
        }
        let told =
            await server.received(from: "romeo").filter { $0.localName == "a" }
            .compactMap { $0["h"].flatMap { UInt32($0) } }.max() ?? 0
        #expect(told <= store.handled)
        // The count is one of all stanzas, the roster included: the last messages may still be on their way.
        try await Patience.wait(for: "all messages") { store.arrived.count == 20 }
        await client.stop()
        await server.stop()
    }

    @Test("What cannot be kept is not sent, and its sender hears why; later the same works, on the same session")
    func refusedSending() async throws {
        let (server, client, _) = try await session()
        try await client.start()
        let stream = try #require(await client.stream)
        store.refuse(true)
        for _ in 0..<2 {
            let lost = try message("lost")
            do throws(XMPPError) {
                try await client.send(lost)
                Issue.record("sent")
            } catch {
                #expect(error.code == .storageFailed && !error.isPermanent)
            }
        }
        store.refuse(false)
        try await client.send(message("found"))
        try await client.waitUntilHandled()
        #expect(await client.stream === stream)
        #expect(try await server.stanzas(for: "juliet").compactMap { $0["id"] } == ["found"])
        #expect(store.sent.last == "found" && !store.sent.contains("lost"))
        await client.stop()
        await server.stop()
    }

    @Test("What arrives and cannot be kept is not acknowledged; it is kept when that can be done again")
    func refusedArrival() async throws {
        let (server, client, recorder) = try await session { $0.requestsAcknowledgementEvery = 1 }
        try await client.start()
        try await client.send(message("first"))
        try await client.waitUntilHandled()
        store.refuse(true)
        let before = store.handled
        try await server.send(
            Message(to: try JID("romeo@example.net/orchard"), body: "in", id: "in"), as: "juliet")
        await recorder.heard("message juliet@example.net/balcony in")
        _ = try? await client.send(message("lost"))
        let told =
            await server.received(from: "romeo").filter { $0.localName == "a" }
            .compactMap { $0["h"].flatMap { UInt32($0) } }.max() ?? 0
        #expect(told <= before && store.arrived == [])
        store.refuse(false)
        try await client.send(message("second"))
        #expect(store.arrived == ["in"])
        await client.stop()
        await server.stop()
    }

    @Test(
        "A store that cannot say what is there is waited for: no session is begun in the place of one that may be there"
    )
    func unreadable() async throws {
        let (server, client, _) = try await session()
        store.refuseToSay(true)
        do throws(XMPPError) {
            try await client.start()
            Issue.record("started")
        } catch {
            #expect(error.code == .storageFailed && !error.isPermanent)
        }
        #expect(store.steps.isEmpty)
        store.refuseToSay(false)
        try await client.start()
        #expect(!store.steps.isEmpty)
        await client.stop()
        await server.stop()
    }

    @Test("A message of an earlier session that cannot be sent again has failed; the client comes online all the same")
    func unrepeatable() async throws {
        var found = StreamState(jid: try JID("romeo@example.net/orchard"), id: nil)
        var bad = try message("bad").element
        bad.append(Element("x", namespace: "urn:x", text: "\u{1}"))
        found.unsettled = [UnacknowledgedStanza(bad), UnacknowledgedStanza(try message("good").element)]
        let store = FussyStore(found: found)
        let (server, client, recorder) = try await session(store)
        try await client.start()
        try await client.waitUntilHandled()
        #expect(try await server.stanzas(for: "juliet").compactMap { $0["id"] } == ["good"])
        await client.stop()
        let refused = store.steps.flatMap { step -> [String?] in
            if case .refused(let stanzas, _) = step { stanzas.map { $0.element["id"] } } else { [] }
        }
        #expect(refused == ["bad"])
        #expect(recorder.lines.contains { $0.contains("bounced") })
        await server.stop()
    }

    @Test("What was reported is kept, and what only calls itself a result of an archive is not (XEP-0313 §7)")
    func unreported() async throws {
        let (server, client, recorder) = try await session()
        try await client.start()
        var forged = Message(to: try JID("romeo@example.net/orchard"), body: "x", id: "forged")
        forged.append(Element("result", namespace: "urn:xmpp:mam:2", attributes: ["queryid": "x"]))
        try await server.send(forged, as: "juliet")
        try await server.send(Message(to: try JID("romeo@example.net/orchard"), body: "in", id: "in"), as: "juliet")
        await recorder.heard("message juliet@example.net/balcony in")
        await client.stop()
        #expect(store.arrived == ["in"])
        await server.stop()
    }

    @Test("A stream that has ended does not come back to the store")
    func afterTheEnd() async throws {
        let (server, client, recorder) = try await session()
        try await client.start()
        let stream = try #require(await client.stream)
        store.refuse(true)
        try await server.send(Message(to: try JID("romeo@example.net/orchard"), body: "in", id: "in"), as: "juliet")
        await recorder.heard("message juliet@example.net/balcony in")
        _ = try? await client.send(message("lost"))
        await client.stop()
        #expect(await stream.keepingRetry == nil)
        #expect(await stream.keeping?.unkept == 0)
        await server.stop()
    }
}

@Suite("The queue of what is to be kept")
struct KeepingQueueTests {
    private func queue() throws -> KeepingQueue {
        KeepingQueue(FussyStore(), of: try JID("romeo@example.net"))
    }

    private func sending(_ id: String, _ number: Int) -> KeepingQueue.Job {
        let element = Element("message", namespace: Namespace.client, attributes: ["id": id])
        return .sending(
            KeepingQueue.Sending(
                element: element, bytes: [], time: DateTime(millisecondsSinceEpoch: 0), number: number))
    }

    private func arrived(_ count: UInt32, _ ids: String...) -> KeepingQueue.Job {
        .received(
            ArrivedStanzas(
                count: count,
                messages: ids.map { Element("message", namespace: Namespace.client, attributes: ["id": $0]) }))
    }

    @Test("What comes together goes to the store together, in order, and counts on from what was handled")
    func batch() throws {
        var queue = try queue()
        for job in [
            sending("a", 1), sending("b", 2), arrived(3, "x"), .step(.acknowledged(7)), sending("c", 3), arrived(2),
        ] { queue.add(job) }
        let (begins, again) = (queue.begin(), queue.begin())
        #expect(begins && !again)
        let taken = queue.take(handled: .max)
        let batch = try #require(taken)
        #expect(batch.steps.count == 5)
        #expect(batch.steps[2] == .acknowledged(7))
        guard case .sent(let first) = batch.steps[0], case .received(let messages, let handled) = batch.steps[1],
            case .received(let none, let last) = batch.steps[4]
        else { return #expect(Bool(false), "\(batch.steps)") }
        #expect(first.map { $0.element["id"] } == ["a", "b"] && messages.map { $0["id"] } == ["x"])
        #expect(handled == 2 && none.isEmpty && last == 4, "modulo 2^32")
        #expect(queue.sendingCount == 3 && queue.unkept == 5 && !queue.isSettled)
        queue.kept(batch)
        let more = queue.take(handled: 0)
        #expect(more == nil && queue.isSettled)
        #expect(queue.sendingCount == 0 && queue.unkept == 0)
    }

    @Test("Where nobody counts, messages are kept all the same, and nothing else")
    func uncounted() throws {
        var queue = try queue()
        queue.add(arrived(1, "x"))
        queue.add(arrived(1))
        _ = queue.begin()
        let steps = queue.take(handled: nil)?.steps ?? []
        #expect(steps.count == 1)
        guard case .received(let messages, nil) = steps.first else { return #expect(Bool(false), "\(steps)") }
        #expect(messages.map { $0["id"] } == ["x"])
    }

    @Test(
        "What could not be kept is tried again after 1 s, twice as long each time, at most 30 s; senders are told at once"
    )
    func failures() throws {
        var queue = try queue()
        var delays: [Duration] = []
        for round in 1...7 {
            queue.add(sending("a", round))
            if round == 1 { queue.add(arrived(1, "x")) }
            _ = queue.begin()
            let taken = queue.take(handled: 0)
            let batch = try #require(taken)
            let (given, retry) = queue.failed(batch)
            #expect(given.map(\.number) == [round])
            delays.append(retry)
        }
        #expect(delays == [1, 2, 4, 8, 16, 30, 30].map { .seconds($0) })
        #expect(queue.isSettled && queue.unkept == 1 && queue.sendingCount == 0)
        queue.forgetReceived()
        let begins = queue.begin()
        #expect(queue.unkept == 0 && !begins)
    }

    @Test("The stream reads no more when a thousand stanzas wait to be kept")
    func overfull() throws {
        var queue = try queue()
        queue.add(arrived(KeepingQueue.maximumUnkept - 1))
        #expect(!queue.isOverfull)
        queue.add(arrived(1))
        #expect(queue.isOverfull)
    }

    @Test("An answer that nobody waits for is not given up when the store refuses, but tried again")
    func replies() throws {
        var queue = try queue()
        queue.add(sending("reply", 0))
        queue.add(sending("a", 1))
        _ = queue.begin()
        let taken = queue.take(handled: 0)
        let batch = try #require(taken)
        let (given, _) = queue.failed(batch)
        #expect(given.map(\.number) == [1] && queue.sendingCount == 1)
        _ = queue.begin()
        guard case .sent(let stanzas) = queue.take(handled: 0)?.steps.first else { return #expect(Bool(false)) }
        #expect(stanzas.map { $0.element["id"] } == ["reply"])
    }

    @Test("An acknowledgement that says nothing new is not kept, and a later one takes the place of the one that waits")
    func acknowledgements() throws {
        var queue = try queue()
        for count: UInt32 in [1, 1, 2, 3, 3] { queue.add(.step(.acknowledged(count))) }
        _ = queue.begin()
        #expect(queue.take(handled: 0)?.steps == [.acknowledged(3)])
        queue.add(.step(.acknowledged(3)))
        #expect(queue.take(handled: 0) == nil)
        let state = StreamState(jid: try JID("romeo@example.net/a"), id: nil)
        for step in [StreamProgress.began(state), .acknowledged(3)] { queue.add(.step(step)) }
        _ = queue.begin()
        #expect(queue.take(handled: 0)?.steps == [.began(state), .acknowledged(3)], "a new session counts anew")
    }

    @Test("After a failure only a sender that waits makes the store try before its time")
    func urgency() throws {
        var queue = try queue()
        #expect(queue.isUrgent(arrived(1)) && queue.isUrgent(.step(.acknowledged(1))))
        queue.add(arrived(1, "x"))
        _ = queue.begin()
        let taken = queue.take(handled: 0)
        _ = queue.failed(try #require(taken))
        #expect(!queue.isUrgent(arrived(1)) && !queue.isUrgent(.step(.acknowledged(1))))
        #expect(!queue.isUrgent(sending("reply", 0)) && queue.isUrgent(sending("a", 1)))
    }

    @Test("What was refused is given up with the stream, and what the store is at work on is not")
    func givenUp() throws {
        var queue = try queue()
        queue.add(arrived(1, "x"))
        queue.add(sending("reply", 0))
        _ = queue.begin()
        let taken = queue.take(handled: 0)
        queue.add(.step(.acknowledged(9)))
        queue.giveUp()
        #expect(queue.isAtWork && !queue.isSettled)
        _ = queue.failed(try #require(taken))
        queue.giveUp()
        let begins = queue.begin()
        #expect(!begins && queue.unkept == 0 && queue.sendingCount == 0)
    }
}
