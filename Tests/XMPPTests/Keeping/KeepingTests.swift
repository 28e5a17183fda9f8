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
    /// Like a store for which one stanza is too large.
    struct Final: KeepingFailure { let isFinal = true }

    private struct State {
        var steps: [StreamProgress] = []
        var refuses = false
        var refusesToSay = false
        var unkeepable: String?
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

    /// From now on it never keeps steps with this id in them.
    func refuseForGood(_ id: String) { state.withLock { $0.unkeepable = id } }

    func refuseToSay(_ refuses: Bool) { state.withLock { $0.refusesToSay = refuses } }

    func state(of account: JID) async throws -> StreamState? {
        if state.withLock({ $0.refusesToSay }) { throw Refusal() }
        return found
    }

    func save(_ state: StreamState?, of account: JID) async throws {}

    func keep(_ steps: [StreamProgress], of account: JID) async throws {
        try state.withLock { state in
            if state.refuses { throw Refusal() }
            for step in steps {
                switch step {
                case .received(let messages, _):
                    if messages.contains(where: { $0["id"] == state.unkeepable && $0["id"] != nil }) { throw Final() }
                case .sent(let stanzas):
                    if stanzas.contains(where: { $0.element["id"] == state.unkeepable && $0.element["id"] != nil }) {
                        throw Final()
                    }
                case .began, .named, .acknowledged, .settled, .handedBack, .refused: break
                }
            }
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

    @Test("A message that can never be kept counts as handled, and what comes behind it is kept, told and acknowledged")
    func unkeepable() async throws {
        store.refuseForGood("poison")
        let (server, client, recorder) = try await session { $0.requestsAcknowledgementEvery = 1 }
        try await client.start()
        for id in ["before", "poison", "behind"] {
            try await server.send(
                Message(to: try JID("romeo@example.net/orchard"), body: id, id: id), as: "juliet")
        }
        await recorder.heard("message juliet@example.net/balcony behind")
        try await client.send(message("out"))
        try await client.waitUntilHandled()
        #expect(store.arrived == ["before", "behind"] && store.sent.contains("out"))
        let error = await #expect(throws: XMPPError.self) { try await client.send(message("poison")) }
        #expect(error?.code == .storageFailed)
        try await client.send(message("more"))
        #expect(store.sent.contains("more"))
        await client.stop()
        #expect(store.handled >= 3)
        await server.stop()
    }

    @Test("Who asks for a subscription is kept, as a session that is resumed is not told again (RFC 6121 §3.1.3)")
    func requests() async throws {
        let (server, client, recorder) = try await session { $0.requestsAcknowledgementEvery = 1 }
        try await client.start()
        for (type, name) in [("subscribe", "mercutio"), ("unavailable", "tybalt"), ("subscribe", "paris")] {
            let presence = Element(
                "presence", namespace: "jabber:client",
                attributes: ["from": "\(name)@example.com", "type": type, "id": name])
            await server.push(presence, to: "romeo")
        }
        try await server.send(
            Message(to: try JID("romeo@example.net/orchard"), body: "in", id: "in"), as: "juliet")
        await recorder.heard("message juliet@example.net/balcony in")
        try await Patience.wait(for: "all of them") { store.arrived.count == 3 }
        #expect(store.arrived == ["mercutio", "paris", "in"])
        await client.stop()
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
