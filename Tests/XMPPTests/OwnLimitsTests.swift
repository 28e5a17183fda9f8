// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
import Testing
import XMPPCore
import XMPPTestSupport
internal import XMPPTransport
import XMPPXML

@testable import XMPP

/// A transport whose other side stops to take anything: what is sent from then on waits.
private final class CloggedTransport: ByteTransport {
    private let lower: any ByteTransport
    private let waiting = Locked<(isClogged: Bool, bytes: Int)>((false, 0))

    init(_ lower: any ByteTransport) { self.lower = lower }

    func clog() { waiting.withLock { $0.isClogged = true } }

    var executor: StreamExecutor { lower.executor }
    var pendingBytes: Int { waiting.withLock { $0.bytes } + lower.pendingBytes }
    var peerIsLoopback: Bool { lower.peerIsLoopback }
    func start(_ handler: @escaping @Sendable (TransportEvent) -> Void) { lower.start(handler) }
    func replaceHandler(_ handler: @escaping @Sendable (TransportEvent) -> Void) { lower.replaceHandler(handler) }
    func send(_ bytes: [UInt8]) {
        let isClogged = waiting.withLock { waiting in
            if waiting.isClogged { waiting.bytes += bytes.count }
            return waiting.isClogged
        }
        if !isClogged { lower.send(bytes) }
    }
    func pauseReading() { lower.pauseReading() }
    func resumeReading() { lower.resumeReading() }
    func close() { lower.close() }
    func abort() { lower.abort() }
}

/// Connects with a ``CloggedTransport``.
private final class CloggedConnector: StreamConnector {
    private let other: any StreamConnector
    private let transport = Locked<CloggedTransport?>(nil)

    init(_ other: any StreamConnector) { self.other = other }

    func clog() { transport.withLock { $0 }?.clog() }

    func targets(for domain: String, override: ConnectionTarget?) async throws(ConnectError) -> [ConnectionTarget] {
        try await other.targets(for: domain, override: override)
    }

    func connect(
        to target: ConnectionTarget, on executor: StreamExecutor
    ) async throws(ConnectError) -> any ByteTransport {
        let clogged = CloggedTransport(try await other.connect(to: target, on: executor))
        transport.withLock { $0 = clogged }
        return clogged
    }
}

@Suite("What a client keeps within bounds (RFC 6120 §13.12)", .timeLimit(.minutes(5)))
struct OwnLimitsTests {
    @Test("a stanza that is larger than the server takes is refused here, and the stream lives on (XEP-0478 §2)")
    func stanzaSize() async throws {
        let server = try ScriptedServer(usesTLS: false)
        let script = """
            #! prelude authed
            #! await <stream:stream
            #! raw <stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' from='example.org' id='s' version='1.0'><stream:features><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/><limits xmlns='urn:xmpp:stream-limits:0'><max-bytes>2000</max-bytes></limits></stream:features>
            #! await urn:ietf:params:xml:ns:xmpp-bind
            <iq type='result' id='{id}'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'><jid>juliet@example.org/balcony</jid></bind></iq>
            """
        let played = Task { try await server.play(StreamScript(text: script)) }
        let stream = XMPPStream(server.configuration)
        try await stream.connect()
        try await played.value
        let romeo = try JID("romeo@example.net")
        let error = await #expect(throws: XMPPError.self) {
            try await stream.send(Message(to: romeo, body: String(repeating: "x", count: 2_000)))
        }
        #expect(error?.code == .tooLarge && error?.stanzaError?.condition == .policyViolation)
        try await stream.send(Message(to: romeo, body: "short"))
        #expect(try await server.next(containing: "<message").contains("short"))
        _ = try await server.play(StreamScript(.close))
        await stream.disconnect()
    }

    @Test("a sequence that nobody reads ends with an error at its limit, and never in silence")
    func overflow() async throws {
        let server = try await verona()
        let (stream, recorder) = try await romeo(server)
        let events = stream.events(limit: 10)
        for number in 0..<30 {
            await server.inject("<message from='juliet@example.net'><body>\(number)</body></message>", into: "romeo")
        }
        await recorder.heard("message juliet@example.net 29")
        var count = 0
        let error = await #expect(throws: XMPPError.self) { for try await _ in events { count += 1 } }
        #expect(error?.code == .overflow)
        #expect(count == 10)
        await stream.disconnect()
        await server.stop()
    }

    @Test("a hundred requests are answered at once; one more is told to wait (RFC 6120 §8.3.3.16)")
    func answers() async throws {
        let server = try await verona()
        let (stream, _) = try await romeo(server)
        let gate = Locked<[CheckedContinuation<Void, Never>]>([])
        await stream.answer(.get, "slow", namespace: "urn:example:slow", from: .anyone) { _, _ in
            await withCheckedContinuation { continuation in gate.withLock { $0.append(continuation) } }
            return nil
        }
        for number in 0...XMPPStream.maximumAnswersInProgress {
            await server.inject(
                "<iq type='get' id='q\(number)' from='juliet@example.net/balcony'><slow xmlns='urn:example:slow'/></iq>",
                into: "romeo")
        }
        let refusal = try await server.firstElement(from: "romeo") {
            $0["id"] == "q\(XMPPStream.maximumAnswersInProgress)"
        }
        #expect(try IQ(refusal).error?.condition == .resourceConstraint)
        try await Patience.wait(for: "all answers to be under way") {
            gate.withLock { $0.count } >= XMPPStream.maximumAnswersInProgress
        }
        for continuation in gate.withLock({ $0 }) { continuation.resume() }
        _ = try await server.firstElement(from: "romeo") { $0["id"] == "q0" }
        await stream.disconnect()
        await server.stop()
    }

    @Test("a server that asks and asks, and takes no answer, is left")
    func unread() async throws {
        let server = try await verona()
        var configuration = try await server.configuration(for: "romeo", resource: "orchard")
        let connector = CloggedConnector(configuration.connector)
        configuration.connector = connector
        let stream = XMPPStream(configuration)
        try await stream.connect()
        // Its answer is as long as one may be that repeats what was asked.
        let id = String(repeating: "x", count: XMPPStream.maximumAnswerBytes - 200)
        let ping = "<iq type='get' id='\(id)' from='example.net'><ping xmlns='urn:xmpp:ping'/></iq>"
        connector.clog()
        await server.inject(
            String(repeating: ping, count: XMPPStream.maximumUnwrittenBytes / id.utf8.count + 1), into: "romeo")
        let end = await stream.waitUntilEnded()
        #expect(end?.code == .connectionLost && end?.message.contains("does not read") == true, "\(end as Any)")
        await server.stop()
    }

    @Test("a thousand stanzas may wait to be acknowledged; who sends one more waits too (XEP-0198 §4)")
    func unacknowledged() async throws {
        let server = try await verona { $0.answersAcknowledgementRequests = false }
        // Time stands still: a server that acknowledges nothing is given up after a while.
        let (stream, _) = try await romeo(server) { $0.use(TestClock()) }
        let juliet = try JID("juliet@example.net")
        for number in 0..<1_000 { try await stream.send(Message(to: juliet, body: "\(number)")) }
        let late = Task { try await stream.send(Message(to: juliet, body: "one more")) }
        try await Patience.wait(for: "the last one to wait") {
            await stream.waitList.contains { $0.awaited == .room }
        }
        late.cancel()
        let error = await #expect(throws: XMPPError.self) { try await late.value }
        #expect(error?.code == .cancelled)
        await stream.disconnect()
        await server.stop()
    }

    @Test("a result with more than one child is none (RFC 6120 §8.2.3)")
    func twoChildren() async throws {
        let server = try ScriptedServer(usesTLS: false)
        let script = """
            #! prelude online
            #! await urn:example:x
            <iq type='result' id='{id}' from='romeo@example.net/o'><a xmlns='urn:a'/><b xmlns='urn:b'/></iq>
            """
        let played = Task { try await server.play(StreamScript(text: script)) }
        let stream = XMPPStream(server.configuration)
        try await stream.connect()
        try await stream.goOnline()
        let question = IQ(.get, to: try JID("romeo@example.net/o"), payload: Element("x", namespace: "urn:example:x"))
        let error = await #expect(throws: XMPPError.self) { _ = try await stream.request(question) }
        #expect(error?.stanzaError?.condition == .badRequest, "\(error as Any)")
        try await played.value
        _ = try? await server.play(StreamScript(.close))
        await stream.disconnect()
    }

    @Test(
        "the most detailed log shows neither what logs in nor what a session is resumed by",
        arguments: ["PLAIN", "SCRAM-SHA-256"])
    func log(_ mechanism: String) async throws {
        let server = try await verona {
            $0.resumption = .kept(for: .seconds(60))
            $0.mechanisms = [mechanism]
        }
        let entries = Locked<[String]>([])
        var configuration = try await server.configuration(for: "romeo", resource: "orchard")
        configuration.logLevel = .wire
        configuration.log = { entry in entries.withLock { $0.append(entry.text) } }
        let stream = XMPPStream(configuration, isResumable: true)
        try await stream.connect()
        try await stream.goOnline()
        try await stream.ping()
        await stream.disconnect()
        await server.stop()
        let text = entries.withLock { $0.joined(separator: "\n") }
        let sent = await server.received(from: "romeo").filter { $0.namespace == Namespace.sasl }.map(\.text)
        #expect(text.contains("<auth") && text.contains("(masked)") && text.contains("<iq"))
        for secret in sent where !secret.isEmpty { #expect(!text.contains(secret)) }
        let login = text.split(separator: "\n").filter { $0.contains("xmpp-sasl") && !$0.contains("mechanisms") }
        #expect(login.count >= 2 && login.allSatisfy { $0.contains("(masked)") || $0.contains("/>") }, "\(login)")
        #expect(text.contains("<enabled") && text.contains("id='(masked)'"), "\(text)")
    }

    @Test("an answer that is long because of the question is not sent: servers end streams over it (RFC 6120 §13.12)")
    func longAnswers() async throws {
        let server = try await verona()
        let (stream, _) = try await romeo(server)
        try await stream.goOnline()
        let id = String(repeating: "x", count: XMPPStream.maximumAnswerBytes)
        let ask = { (id: String) in "<iq type='get' id='\(id)' from='mallory@evil.example/x'><q xmlns='urn:x'/></iq>" }
        await server.inject(ask(id), into: "romeo")
        await server.inject(
            "<message id='\(id)' from='juliet@example.net/x'><body>x</body><request xmlns='urn:xmpp:receipts'/></message>",
            into: "romeo")
        await server.inject(ask("short"), into: "romeo")
        _ = try await server.firstElement(from: "romeo") { $0["id"] == "short" }
        let sent = await server.received(from: "romeo")
        #expect(!sent.contains { $0["id"] == id || $0.localName == "message" })
        await stream.disconnect()
        await server.stop()
    }

    @Test("what a server has ended the stream over is not sent again, neither by resuming nor anew (RFC 6120 §13.12)")
    func refusedSize() async throws {
        let server = try await verona {
            $0.resumption = .kept(for: .seconds(60))
            $0.answersAcknowledgementRequests = false
        }
        let policy = ReconnectPolicy(firstDelay: .milliseconds(1), minimumDelay: .milliseconds(1))
        let client = XMPPClient(
            try await server.configuration(for: "romeo", resource: "orchard"), reconnect: policy,
            store: InMemoryStreamStateStore())
        let recorder = Recorder()
        client.add(chatDelegate: recorder)
        client.add(messageDelegate: recorder)
        try await client.start()
        let juliet = try JID("juliet@example.net")
        let body = String(repeating: "x", count: 20_000)
        try await client.send(Message(to: juliet, body: body, id: "large"))
        try await client.send(Message(to: juliet, body: "short", id: "short"))
        _ = try await server.firstElement(from: "romeo") { $0["id"] == "short" }
        await server.endStreams(of: "romeo", with: StreamError(.policyViolation))
        await recorder.heard("bounced large policy-violation")
        let error = await #expect(throws: XMPPError.self) {
            try await client.send(Message(to: juliet, body: body, id: "again"))
        }
        #expect(error?.code == .tooLarge)
        try await Patience.wait(for: "the other message to be sent again") {
            await server.received(from: "romeo").count { $0["id"] == "short" } == 2
        }
        let sent = await server.received(from: "romeo")
        #expect(sent.count { $0["id"] == "large" } == 1 && !sent.contains { $0.localName == "resume" })
        await client.stop()
        await server.stop()
    }
}
