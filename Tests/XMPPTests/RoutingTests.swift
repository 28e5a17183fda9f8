// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPP
import XMPPTestSupport

@Suite("Whose word counts (RFC 6120 §8, RFC 6121 §2.1.6)")
struct RoutingTests {
    /// The answer that the client gives to what is injected; `nil` when it gives none before a ping behind it.
    private func answer(to xml: String, id: String) async throws -> Element? {
        let server = try await verona()
        let (stream, _) = try await romeo(server)
        try await stream.goOnline()
        await server.inject(xml, into: "romeo")
        await server.inject(
            "<iq type='get' id='end' from='romeo@example.net'><ping xmlns='urn:xmpp:ping'/></iq>", into: "romeo")
        _ = try await server.firstElement(from: "romeo") { $0["id"] == "end" }
        let answer = await server.received(from: "romeo").first { $0["id"] == id && $0.localName == "iq" }
        await stream.disconnect()
        await server.stop()
        return answer
    }

    @Test(
        "requests are answered for those who may know that the user is there, and denied like an absent service to others",
        arguments: [
            ("<ping xmlns='urn:xmpp:ping'/>", "juliet@example.net/balcony", true),
            ("<ping xmlns='urn:xmpp:ping'/>", "mallory@evil.example/x", false),
            ("<query xmlns='jabber:iq:version'/>", "juliet@example.net/balcony", true),
            ("<query xmlns='jabber:iq:version'/>", "mallory@evil.example/x", false),
            ("<query xmlns='http://jabber.org/protocol/disco#info'/>", "juliet@example.net/balcony", true),
            ("<query xmlns='http://jabber.org/protocol/disco#info'/>", "mallory@evil.example/x", false),
            ("<query xmlns='http://jabber.org/protocol/disco#items'/>", "romeo@example.net/other", true),
            ("<query xmlns='urn:example:unknown'/>", "juliet@example.net/balcony", false),
        ])
    func requests(payload: String, from: String, isAnswered: Bool) async throws {
        let answer = try await answer(to: "<iq type='get' id='q' from='\(from)'>\(payload)</iq>", id: "q")
        #expect(answer?["type"] == (isAnswered ? "result" : "error"))
        #expect(answer?["to"] == from)
        if !isAnswered {
            #expect(try answer.map { try IQ($0) }?.error == .serviceUnavailable)
        }
    }

    @Test(
        "a request that is malformed is a bad request (RFC 6120 §8.2.3)",
        arguments: [
            "<iq type='get' id='q' from='juliet@example.net/balcony'/>",
            "<iq type='what' id='q' from='juliet@example.net/balcony'><ping xmlns='urn:xmpp:ping'/></iq>",
            "<iq id='q' from='juliet@example.net/balcony'><ping xmlns='urn:xmpp:ping'/></iq>",
            "<iq type='get' id='q'/>", "<iq type='what' id='q'><ping xmlns='urn:xmpp:ping'/></iq>",
            "<iq id='q'><ping xmlns='urn:xmpp:ping'/></iq>",
            "<iq type='get' id='q' from='juliet@example.net/balcony'><ping xmlns='urn:xmpp:ping'/><x xmlns='urn:x'/></iq>",
        ])
    func malformed(xml: String) async throws {
        let answer = try await answer(to: xml, id: "q")
        #expect(try answer.map { try IQ($0) }?.error?.condition == .badRequest)
        guard xml.contains("from=") else { return }
        // A stranger is not told that somebody is there who reads requests.
        let stranger = xml.replacing("juliet@example.net/balcony", with: "mallory@evil.example/x")
        let refusal = try await self.answer(to: stranger, id: "q")
        #expect(try refusal.map { try IQ($0) }?.error == .serviceUnavailable)
    }

    @Test(
        "answers that nobody asked for, and stanzas from no address, are passed over in silence",
        arguments: [
            "<iq type='result' id='q' from='juliet@example.net/balcony'/>",
            "<iq type='error' id='q' from='juliet@example.net/balcony'/>",
            "<iq type='get' id='q' from='a b@c'><ping xmlns='urn:xmpp:ping'/></iq>",
            "<iq type='what' id='q' from='a b@c'><ping xmlns='urn:xmpp:ping'/></iq>", "<iq id='q' from=''/>",
            "<message from='a b@c' id='q'><body>x</body></message>",
        ])
    func silence(xml: String) async throws {
        #expect(try await answer(to: xml, id: "q") == nil)
    }

    @Test(
        "a roster push counts from the own account alone, with one item (RFC 6121 §2.1.6)",
        arguments: [
            ("", "<item jid='new@example.com' subscription='both'/>", true),
            ("from='romeo@example.net'", "<item jid='new@example.com'/>", true),
            ("from='romeo@example.net/orchard'", "<item jid='new@example.com'/>", false),
            ("from='example.net'", "<item jid='new@example.com'/>", false),
            ("from='juliet@example.net/balcony'", "<item jid='new@example.com'/>", false),
            ("from='mallory@evil.example'", "<item jid='new@example.com'/>", false),
            ("", "<item jid='new@example.com'/><item jid='two@example.com'/>", false), ("", "", false),
            ("", "<item jid='not a jid'/>", false),
        ])
    func rosterPush(from: String, items: String, isApplied: Bool) async throws {
        let server = try await verona()
        let (stream, recorder) = try await romeo(server)
        let roster = RosterStore()
        stream.add(chatDelegate: roster)
        try await stream.goOnline()
        await server.inject(
            "<iq type='set' id='push' \(from)><query xmlns='jabber:iq:roster'>\(items)</query></iq>", into: "romeo")
        let answer = try await server.firstElement(from: "romeo") { $0["id"] == "push" }
        #expect(answer["type"] == (isApplied ? "result" : "error"))
        await stream.disconnect()
        await recorder.heard("disconnected ")
        #expect(recorder.lines.contains("item new@example.com") == isApplied)
        await server.stop()
    }

    @Test("a presence or message with the id of a request is not its answer (RFC 6120 §8.2.3)")
    func sameID() async throws {
        let server = try await verona()
        try await server.addAccount("paris", password: "secret")
        let paris = XMPPStream(try await server.configuration(for: "paris", resource: "palace"))
        let gate = AsyncStream<Void>.makeStream()
        await paris.answer(.get, "q", namespace: "urn:example:slow", from: .anyone) { _, _ in
            for await _ in gate.stream {}
            return Element("right", namespace: "urn:example")
        }
        let asked = try await paris.connect()
        let (stream, recorder) = try await romeo(server)
        let request = Task {
            try await stream.request(IQ(.get, to: asked, payload: Element("q", namespace: "urn:example:slow")))
        }
        let id = try #require(
            try await server.firstElement(from: "romeo") { $0.firstChild("q", namespace: "urn:example:slow") != nil }[
                "id"])
        for xml in [
            "<presence type='error' from='\(asked)' id='\(id)'/>",
            "<message from='\(asked)' id='\(id)'><body>x</body></message>",
            "<iq type='result' from='mallory@evil.example' id='\(id)'/>", "<iq type='result' id='\(id)'/>",
            "<iq type='result' from='paris@example.net' id='\(id)'/>",
            "<iq type='get' from='\(asked)' id='\(id)'><right xmlns='urn:example'/></iq>",
        ] {
            await server.inject(xml, into: "romeo")
        }
        await recorder.heard("message \(asked) x")
        gate.continuation.finish()
        #expect(try await request.value.payload?.localName == "right")
        await paris.disconnect()
        await stream.disconnect()
        await server.stop()
    }

    @Test(
        "a subscription request is told and never answered by itself; it comes from the bare address (RFC 6121 §3.1.3)")
    func subscriptionRequest() async throws {
        let server = try await verona()
        let (stream, recorder) = try await romeo(server)
        let roster = RosterStore()
        stream.add(chatDelegate: roster)
        try await stream.goOnline()
        await server.inject("<presence type='subscribe' from='paris@example.com/x'/>", into: "romeo")
        await recorder.heard("request paris@example.com")
        try await stream.ping()
        #expect(await !server.received(from: "romeo").contains { $0["type"] == "subscribed" })
        try await stream.approveSubscription(of: try JID("paris@example.com"))
        _ = try await server.firstElement(from: "romeo") { $0["type"] == "subscribed" }
        await stream.disconnect()
        await server.stop()
    }

    @Test("own requests are answered by the handler that was added, errors included")
    func ownRoute() async throws {
        let server = try await verona()
        let stream = XMPPStream(try await server.configuration(for: "romeo", resource: "orchard"))
        await stream.answer(.get, "square", namespace: "urn:example:square", from: .contacts) { request, _ in
            guard let number = request.payload.flatMap({ Int($0.text) }) else {
                throw StanzaError(.badRequest, kind: .modify, text: "a number is needed")
            }
            return Element("square", namespace: "urn:example:square", text: "\(number * number)")
        }
        try await stream.connect()
        try await stream.goOnline()
        for (text, expected) in [("7", "result"), ("x", "error")] {
            await server.inject(
                "<iq type='get' id='\(text)' from='juliet@example.net/balcony'>"
                    + "<square xmlns='urn:example:square'>\(text)</square></iq>", into: "romeo")
            let answer = try await server.firstElement(from: "romeo") { $0["id"] == text }
            #expect(answer["type"] == expected)
        }
        await stream.disconnect()
        await server.stop()
    }
}

@Suite("Typed questions and answers")
struct TypedRequestTests {
    private struct Square: StanzaPayload {
        static let elementName = ElementName("square", namespace: "urn:example:square")
        var number: Int

        init(_ number: Int) {
            self.number = number
        }

        init?(_ element: Element) {
            guard element.name == Self.elementName, let number = Int(element.text) else { return nil }
            self.number = number
        }

        var element: Element { Element(Self.elementName, text: String(number)) }
    }

    @Test("a typed question gets a typed answer; one that cannot be read is a bad request")
    func typed() async throws {
        let server = try await verona()
        try await server.addAccount("paris", password: "secret")
        try await server.befriend("paris", "romeo")
        let paris = XMPPStream(try await server.configuration(for: "paris", resource: "palace"))
        await paris.answer(.get, Square.self, from: .contacts) { square, _ in Square(square.number * square.number) }
        let asked = try await paris.connect()
        try await paris.goOnline()
        try await XMPPStream.withSession(try await server.configuration(for: "romeo")) { romeo in
            let answer = try await romeo.request(
                IQ(.get, to: asked, payload: Square(7).element), expecting: Square.self)
            #expect(answer.number == 49)
            let bad = IQ(.get, to: asked, payload: Element(Square.elementName, text: "x"))
            let error = await #expect(throws: XMPPError.self) { try await romeo.request(bad, expecting: Square.self) }
            #expect(error?.stanzaError?.condition == .badRequest)
        }
        await paris.disconnect()
        #expect(await paris.waitUntilEnded() == nil)
        await server.stop()
    }
}
