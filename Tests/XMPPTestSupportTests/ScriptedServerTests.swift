// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPP
import XMPPTestSupport

@Suite("ScriptedServer, seen by XMPPStream")
struct ScriptedServerTests {
    @Test("brings a client online as an ordinary server would", arguments: [true, false])
    func goesOnline(usesTLS: Bool) async throws {
        let server = try ScriptedServer(usesTLS: usesTLS)
        async let played: Void = server.play(StreamScript(.advance(to: .online)))
        let stream = XMPPStream(server.configuration)
        try await stream.connect()
        let roster = try await stream.request(IQ(.get, payload: Element("query", namespace: Namespace.roster)))
        #expect(roster.payload?.children.count == 2)
        try await stream.send(Presence())
        try await played
        #expect(await stream.security != nil || !usesTLS)
        await stream.disconnect()
    }

    @Test("puts the id of the awaited stanza where {id} stands")
    func knowsID() async throws {
        let server = try ScriptedServer(usesTLS: false)
        let script = StreamScript(
            .advance(to: .bound), .await("urn:example:ask"),
            .send("<iq type='result' id='{id}' from='romeo@example.net/o'><answer xmlns='urn:example:ask'/></iq>"))
        async let played: Void = server.play(script)
        let stream = XMPPStream(server.configuration)
        try await stream.connect()
        let answer = try await stream.request(
            IQ(.get, to: try JID("romeo@example.net/o"), payload: Element("ask", namespace: "urn:example:ask")))
        #expect(answer.payload?.localName == "answer")
        try await played
        await stream.disconnect()
    }

    @Test("cuts what it sends into pieces of any size", arguments: [1, 2, 3, 7])
    func slices(size: Int) async throws {
        let server = try ScriptedServer(usesTLS: false)
        let script = StreamScript(
            .advance(to: .bound), .slice(size),
            .send("<message from='romeo@example.net'><body>wherefore? ✓</body></message>"))
        async let played: Void = server.play(script)
        let stream = XMPPStream(server.configuration)
        var messages = stream.messages.makeAsyncIterator()
        try await stream.connect()
        #expect(try await messages.next()?.body == "wherefore? ✓")
        try await played
        await stream.disconnect()
    }

    @Test("ends a connection with a reset, which is not an orderly end")
    func resets() async throws {
        let server = try ScriptedServer(usesTLS: false)
        async let played: Void = server.play(StreamScript(.advance(to: .bound), .reset))
        let stream = XMPPStream(server.configuration)
        var events = stream.events.makeAsyncIterator()
        try await stream.connect()
        var end: XMPPError??
        while end == nil, let event = try await events.next() {
            if case .disconnected(let error) = event { end = .some(error) }
        }
        #expect((end ?? nil)?.code == .connectionLost)
        try await played
    }

    @Test("says what the client sent instead, when it does not send what is awaited")
    func losesPatience() async throws {
        let server = try ScriptedServer(usesTLS: false)
        let opening = Task { try await server.play(StreamScript(.await("<stream:stream"))) }
        let stream = XMPPStream(server.configuration)
        async let connected = stream.connect()
        try await opening.value
        await server.setPatience(.milliseconds(20))
        let error = await #expect(throws: TestSupportError.self) {
            try await server.play(StreamScript(.await("<unicorn")))
        }
        #expect(error?.description.contains("<stream:stream") == true)
        await stream.disconnect()
        _ = try? await connected
    }

    @Test(
        "has certificates that a client refuses before it sends anything secret (RFC 6120 §13.7)",
        arguments: TestCertificate.Flaw.allCases)
    func refusesCertificates(flaw: TestCertificate.Flaw) async throws {
        let server = try ScriptedServer(flaw: flaw)
        let played = Task { try await server.play(StreamScript(.advance(to: .sasl))) }
        let stream = XMPPStream(server.configuration)
        let error = await #expect(throws: XMPPError.self) { try await stream.connect() }
        #expect(error?.code == .certificateRejected)
        await #expect(throws: TestSupportError.self) { try await played.value }
        #expect(await server.received.joined().allSatisfy { !$0.contains("<auth") })
    }
}

@Suite("StreamScript as text")
struct StreamScriptTests {
    @Test("reads directions and literal lines")
    func reads() throws {
        let script = try StreamScript(
            text: """
                ## a comment
                #! prelude online   (roster: romeo both)
                #! split 1
                <message/>
                #! raw \\x20<a>\\r\\n
                #! one-write
                <a/>
                <b/>
                #! await <iq
                #! api disconnect()
                #! features SASL: PLAIN, X-1
                #! scram i=1
                #! reconnect bound
                #! sleep 0.5
                #! mute for 60 s
                #! fin
                """)
        #expect(
            script.steps == [
                .advance(to: .online), .slice(1), .send("<message/>"),
                .sendBytes([0x20] + Array("<a>\r\n".utf8)), .send("<a/><b/>"), .await("<iq"),
                .offer(mechanisms: ["PLAIN", "X-1"]),
                .authenticate(iterations: 1), .reconnect, .advance(to: .bound), .pause(.milliseconds(500)), .mute,
                .close,
            ])
        #expect(
            script.notes == [
                .init(name: "prelude", text: "(roster: romeo both)"), .init(name: "api", text: "disconnect()"),
            ])
    }

    @Test("names the line that it does not understand", arguments: ["#! prelude moon", "#! dance", "#! raw \\q"])
    func refuses(line: String) {
        let error = #expect(throws: TestSupportError.self) { try StreamScript(text: "<a/>\n" + line) }
        #expect(error?.description.hasPrefix("line 2") == true)
    }
}
