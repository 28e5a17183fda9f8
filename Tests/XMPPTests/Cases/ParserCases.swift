// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPP
import XMPPCore
import XMPPTestSupport
import XMPPXML

@Suite("Bytes that arrived in a way that clients did not expect")
struct ParserCases {
    @Test("a message cut anywhere is the same message", arguments: [1, 2, 3, 7, 4_096])
    func cut(size: Int) async throws {
        let scene = try await Scene(
            """
            #! prelude online
            #! split \(size)
            <message from='romeo@example.net/orchard' to='juliet@example.org/balcony' type='chat' id="m&quot;1"><body>Caf&#233; &amp; 🌹 &lt;3 <![CDATA[<b>&]]> é漢</body></message>
            """)
        #expect(scene.bodies == ["Café & 🌹 <3 <b>& é漢"])
        #expect(scene.messages.first?.id == "m\"1")
        await scene.close()
    }

    @Test("white space between stanzas is a sign of life and no stanza (RFC 6120 §4.6.1)")
    func whitespace() async throws {
        let clock = TestClock()
        let server = try ScriptedServer(usesTLS: false)
        var configuration = server.configuration
        configuration.use(clock)
        configuration.keepalive = .ping(after: .seconds(60))
        let played = Task { try await server.play(StreamScript(.advance(to: .online))) }
        let stream = XMPPStream(configuration)
        let messages = stream.messages
        try await stream.connect()
        try await stream.goOnline()
        try await played.value
        await clock.advance(by: .seconds(60))
        // Within the next minute nothing comes but white space: no reason to ask whether the server lives.
        try await server.play(
            StreamScript(text: "#! raw \\x20\n#! raw \\r\\n\\x20\\t\\n\n<message><body>still here</body></message>"))
        for try await message in messages {
            #expect(message.body == "still here")
            break
        }
        await clock.advance(by: .seconds(60))
        try await server.play(StreamScript(text: "#! raw \\x20\\n"))
        try await stream.send(Message(to: JID("romeo@example.net"), body: "a"))
        _ = try await server.next(containing: "<body>a")
        await clock.advance(by: .seconds(60))
        try await stream.send(Message(to: JID("romeo@example.net"), body: "b"))
        _ = try await server.next(containing: "<body>b")
        #expect(await server.received.joined().allSatisfy { !$0.contains("urn:xmpp:ping") })
        await clock.advance(by: .seconds(60))
        _ = try await server.next(containing: "urn:xmpp:ping")
        try await server.play(StreamScript(.close))
        await stream.disconnect()
    }

    @Test("prefixes are nothing but prefixes (Namespaces in XML §4)")
    func prefixes() async throws {
        let scene = try await Scene(
            """
            #! prelude tls
            #! await <stream:stream
            #! raw <?xml version='1.0'?><s:stream xmlns:s='http://etherx.jabber.org/streams' xmlns='jabber:client' from='example.org' id='x1' version='1.0'><s:features><m:mechanisms xmlns:m='urn:ietf:params:xml:ns:xmpp-sasl'><m:mechanism>PLAIN</m:mechanism></m:mechanisms></s:features>
            #! scram normal
            #! continue online
            <iq type='get' from='romeo@example.net/orchard' id='v1'><v:query xmlns:v='jabber:iq:version'/></iq>
            <c:message xmlns:c='jabber:client' from='romeo@example.net/orchard' type='chat'><c:body>prefixed</c:body></c:message>
            """)
        #expect(scene.bodies == ["prefixed"])
        let answer = try #require(try await scene.replies().first)
        #expect(answer["type"] == "result" && answer["id"] == "v1")
        await scene.close()
    }

    @Test("an entity that XML does not know ends the stream, what came before it is there (RFC 6120 §11.1)")
    func unknownEntity() async throws {
        let scene = try await Scene(
            """
            #! no-curtain
            #! prelude online
            <message from='romeo@example.net/orchard' type='chat' id='ok'><body>salut &amp;agrave; tous</body></message>
            <message from='romeo@example.net/orchard' type='chat' id='bad'><body>salut &agrave; tous</body></message>
            """)
        #expect(scene.bodies == ["salut &agrave; tous"])
        #expect(scene.end?.code == .protocolViolation && scene.end?.isPermanent == false)
        #expect(scene.end?.streamError?.condition == .restrictedXML)
        try await scene.server.waitForEnd()
        #expect(await scene.server.received.joined().contains { $0.contains("<restricted-xml") })
    }

    @Test("a document type is refused before it can expand anything (RFC 6120 §11.1)")
    func entities() async throws {
        let scene = try await Scene(
            """
            #! prelude tcp
            #! await <stream:stream
            #! raw <?xml version='1.0'?><!DOCTYPE s [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;'>]><stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' from='example.org' version='1.0'>
            """)
        #expect(scene.error?.streamError?.condition == .restrictedXML, "\(String(describing: scene.error))")
    }

    @Test(
        "the XML declaration may be written in any of its ways (XML §2.8)",
        arguments: [
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\\n", "<?xml version='1.0' encoding='utf-8' ?>", "",
            "<?xml version=\"1.0\" encoding='Utf-8' standalone='yes'?>\\r\\n",
        ])
    func declarations(declaration: String) async throws {
        let header =
            "#! raw \(declaration)<stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams'"
            + " from='example.org' id='d1' version='1.0'><stream:features>"
        let scene = try await Scene(
            """
            #! prelude tls
            #! await <stream:stream
            \(header)<mechanisms xmlns='urn:ietf:params:xml:ns:xmpp-sasl'><mechanism>PLAIN</mechanism></mechanisms></stream:features>
            #! scram normal
            #! await <stream:stream
            \(header)<bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/></stream:features>
            #! await urn:ietf:params:xml:ns:xmpp-bind
            <iq type='result' id='{id}'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'><jid>juliet@example.org/balcony</jid></bind></iq>
            #! await jabber:iq:roster
            <iq type='result' id='{id}'><query xmlns='jabber:iq:roster'/></iq>
            """)
        #expect(scene.error == nil && scene.end == nil)
        await scene.close()
    }

    @Test("stanzas that come in one read are delivered at once and in order; half of one waits for the rest")
    func severalAtOnce() async throws {
        let scene = try await Scene(
            """
            #! prelude online
            #! one-write
            <message from='romeo@example.net/o' type='chat'><body>1</body></message>
            <message from='romeo@example.net/o' type='chat'><body>2</body></message>
            <presence from='romeo@example.net/o'/>
            <message from='romeo@example.net/o' type='chat'><body>3</body></message>
            <message from='romeo@example.net/o' type='chat'><bo
            #! await urn:xmpp:ping
            #! raw dy>4</body></message>
            """
        ) { stream in
            // Waits for the third message by way of the presence before it, then asks for the rest.
            try await Patience.wait(for: "the presence") { await !stream.buddies.isEmpty }
            try await stream.send(IQ(.get, id: "go", payload: Element("ping", namespace: Namespace.ping)).element)
        }
        #expect(scene.bodies == ["1", "2", "3", "4"])
        let names = scene.tape.events.compactMap { event in
            switch event {
            case .message(let message): message.body
            case .buddyCameOnline: "romeo"
            default: nil
            }
        }
        #expect(names.prefix(5) == ["1", "2", "romeo", "3", "4"])
        await scene.close()
    }

    @Test("thousands of messages arrive in order while as many tasks send (seeded cuts)")
    func bothWays() async throws {
        var random = SeededGenerator(seed: 13)
        let stanzas = (1...2_000).map {
            "<message from='u\($0 % 500)@example.net/o' type='chat'><body>\($0)</body></message>"
        }
        let bytes = Array(stanzas.joined().utf8)
        var steps: [StreamScript.Step] = [.advance(to: .online)]
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = rest.prefix(Int.random(in: 1...3_000, using: &random))
            steps.append(.sendBytes(Array(piece)))
            rest = rest.dropFirst(piece.count)
        }
        let server = try ScriptedServer(usesTLS: false)
        let script = StreamScript(steps)
        let played = Task { try await server.play(script) }
        let stream = XMPPStream(server.configuration)
        let messages = stream.messages
        try await stream.connect()
        try await stream.goOnline()
        let romeo = try JID("romeo@example.net")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<50 {
                group.addTask {
                    for part in 0..<10 { try await stream.send(Message(to: romeo, body: "out \(number) \(part)")) }
                }
            }
            try await group.waitForAll()
        }
        var numbers: [Int] = []
        for try await message in messages {
            numbers.append(message.body.flatMap(Int.init) ?? 0)
            if numbers.count == 2_000 { break }
        }
        try await played.value
        #expect(numbers == Array(1...2_000))
        await stream.disconnect()
        try await server.waitForEnd()
        let sent = await server.received.joined().filter { $0.contains("<body>out") }
        #expect(sent.count == 500 && Set(sent.compactMap { try? Element.parse($0)["id"] }).count == 500)
    }

    @Test("what is sent is escaped, and a character that XML cannot hold is refused before it does harm")
    func escaping() async throws {
        let scene = try await Scene(
            """
            #! prelude online
            <presence from='romeo@example.net/cisco'><c xmlns='http://jabber.org/protocol/caps' hash='sha-1' ver='LHf6=' node='http://caps.example.com/jabber?v=9&amp;p="mac"&lt;'/></presence>
            """)
        let to = try JID("romeo@example.net/a&b'\"< ")
        try await scene.stream.send(Message(to: to, body: "x\r\n\ty & <z>"))
        await #expect(throws: XMPPError.self) {
            try await scene.stream.send(Message(to: to, body: "title \u{1A} and \u{2} end"))
        }
        let sent = try #require(try await scene.replies().first { $0.localName == "message" })
        #expect(sent["to"] == to.description)
        #expect(try Message(sent).body == "x\r\n\ty & <z>")
        let caps = await scene.stream.buddies.first?.best?.presence.payload(
            "c", namespace: "http://jabber.org/protocol/caps")
        #expect(caps?["node"] == "http://caps.example.com/jabber?v=9&p=\"mac\"<")
        #expect(await scene.stream.isEstablished)
        await scene.close()
    }
}
