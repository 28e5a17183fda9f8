// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPCore
import XMPPXML

@Suite("Messages, presence and IQ (RFC 6120 §8, RFC 6121)")
struct StanzaTests {
    private func element(_ xml: String) throws -> Element {
        try Element.parse(xml, defaultNamespace: Namespace.client)
    }

    @Test("children that nobody knows survive reading and writing")
    func roundTrip() throws {
        let xml = try element(
            "<message from='a@b/c' to='d@e' type='chat' id='1' extra='x'><body>hi</body>"
                + "<new xmlns='urn:example:new' a='1'><child>text</child></new>tail</message>")
        var message = try Message(xml)
        #expect(message.element == xml)
        message.subject = "s"
        #expect(
            message.payload("new", namespace: "urn:example:new")?.firstChild("child", namespace: "urn:example:new")?
                .text == "text")
        #expect(message.element["extra"] == "x")
        #expect(message.body == "hi")
    }

    @Test(
        "an unknown or absent type of message is normal (RFC 6121 §5.2.2)",
        arguments: [
            (nil, Message.Kind.normal), ("chat", .chat), ("Chat", .normal), ("new", .normal), ("error", .error),
        ])
    func messageKind(type: String?, kind: Message.Kind) throws {
        var xml = Element("message", namespace: Namespace.client)
        xml["type"] = type
        #expect(try Message(xml).kind == kind)
    }

    @Test("the text is the body's own, without the text of elements in it; the one without language first")
    func body() throws {
        #expect(try Message(element("<message><body>a<b>c</b>d</body></message>")).body == "ad")
        let message = try Message(
            element("<message><body xml:lang='cs'>ahoj</body><body>hello</body><body>second</body></message>"))
        #expect(message.body == "hello")
        #expect(message.bodies == ["cs": "ahoj", "": "hello"])
        #expect(try Message(element("<message><body xml:lang='cs'>ahoj</body></message>")).body == "ahoj")
        #expect(try Message(element("<message><body/></message>")).body == "")
        #expect(try Message(element("<message><body xmlns='urn:other'>x</body></message>")).body == nil)
    }

    @Test("what a stanza is and whom it is for cannot be changed behind its properties")
    func typedProperties() throws {
        func spoil(_ stanza: some Stanza) {
            var changed = stanza
            changed.withElement { element in
                element = Element("other", namespace: "urn:other", attributes: ["from": "x@evil.example", "to": nil])
                element["type"] = "probe"
                element["id"] = "new"
                element.append(Element("child", namespace: "urn:example"))
            }
            #expect(changed.from == stanza.from && changed.to == stanza.to && changed.id == "new")
            #expect(changed.element.name == stanza.element.name)
            for attribute in ["from", "to", "type"] {
                #expect(changed.element[attribute] == stanza.element[attribute])
            }
            #expect(changed.hasPayload("child", namespace: "urn:example"))
        }
        let romeo = try JID("romeo@example.net")
        spoil(Message(to: romeo, body: "hi"))
        spoil(Message(to: nil, kind: .normal))
        spoil(Presence(show: .away, to: romeo))
        var request = IQ(.get, to: romeo, id: "1", payload: Element("query", namespace: "urn:example"))
        request.from = try JID("juliet@example.org/balcony")
        spoil(request)
    }

    @Test("an address that is no JID is an error that names it (RFC 7622)", arguments: ["", "@b", "a@b/", "a b@c"])
    func badAddress(text: String) throws {
        for name in ["message", "presence", "iq"] {
            let xml = Element(
                name, namespace: Namespace.client, attributes: ["from": text, "type": name == "iq" ? "get" : nil])
            let error = #expect(throws: StanzaDecodingError.self) {
                switch name {
                case "message": _ = try Message(xml)
                case "presence": _ = try Presence(xml)
                default: _ = try IQ(xml)
                }
            }
            guard case .invalidAddress("from", _)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }

    @Test("an element of another kind or namespace is no stanza")
    func wrongElement() throws {
        #expect(throws: StanzaDecodingError.self) { try Message(element("<presence/>")) }
        #expect(throws: StanzaDecodingError.self) { try Message(element("<message xmlns='jabber:server'/>")) }
        #expect(throws: StanzaDecodingError.self) { try IQ(element("<message/>")) }
        #expect(throws: StanzaDecodingError.self) { try Presence(element("<iq type='get'/>")) }
    }

    @Test(
        "a priority out of range or not a number is 0 (RFC 6121 §4.7.2.3)",
        arguments: [
            ("5", 5), (" 5\n", 5), ("-128", -128), ("127", 127), ("128", 0), ("-129", 0), ("x", 0), ("", 0),
            ("99999999999999999999", 0), ("1.5", 0),
        ] as [(String, Int8)])
    func priority(text: String, priority: Int8) throws {
        #expect(try Presence(element("<presence><priority>\(text)</priority></presence>")).priority == priority)
    }

    @Test("an absent type is available; one that does not exist is an error, not a guess (RFC 6121 §4.7.1)")
    func presenceKind() throws {
        #expect(try Presence(element("<presence/>")).kind == .available)
        #expect(try Presence(element("<presence type='subscribe'/>")).kind == .subscribe)
        #expect(throws: StanzaDecodingError.invalidType("online")) {
            try Presence(element("<presence type='online'/>"))
        }
        #expect(throws: StanzaDecodingError.invalidType("available")) {
            try Presence(element("<presence type='available'/>"))
        }
        #expect(try Presence(element("<presence><show>brb</show></presence>")).show == nil)
    }

    @Test("what is set is written, and what is usual is left out")
    func presenceWriting() throws {
        let presence = Presence(show: .away, status: "lunch", priority: 5)
        #expect(presence.element["type"] == nil)
        #expect(presence.element.children.map(\.localName) == ["show", "status", "priority"])
        #expect(Presence().element.children.isEmpty)
        #expect(try Presence(presence.element) == presence)
    }

    @Test("a request without a type that exists is none (RFC 6120 §8.2.3)", arguments: [nil, "", "Get", "push"])
    func iqType(type: String?) throws {
        let xml = Element("iq", namespace: Namespace.client, attributes: ["type": type])
        #expect(throws: StanzaDecodingError.invalidType(type)) { try IQ(xml) }
    }

    @Test("an answer goes to the sender under the same id")
    func answers() throws {
        let request = try IQ(element("<iq type='get' id='7' from='a@b/c'><ping xmlns='urn:xmpp:ping'/></iq>"))
        let result = request.result()
        #expect(result.kind == .result && result.id == "7" && result.to == request.from && result.payload == nil)
        let failure = request.failure(.serviceUnavailable)
        #expect(failure.error == .serviceUnavailable)
    }

    @Test("an error that lacks something is still an error (RFC 6120 §8.3.2)")
    func oddErrors() throws {
        #expect(try IQ(element("<iq type='error'/>")).error == StanzaError(.undefinedCondition, kind: .cancel))
        let odd = try IQ(element("<iq type='error'><error type='what'><x xmlns='urn:x'/></error></iq>")).error
        #expect(odd?.condition == .undefinedCondition && odd?.kind == .cancel)
        #expect(odd?.applicationCondition?.localName == "x")
        #expect(try IQ(element("<iq type='result'><error/></iq>")).error == nil, "only a stanza of type error has one")
    }

    @Test("errors are written as they are read")
    func errorRoundTrip() {
        let error = StanzaError(
            .init(rawValue: "new-condition"), kind: .wait, text: "später",
            applicationCondition: Element("x", namespace: "urn:x"))
        #expect(StanzaError(error.element) == error)
        var stream = StreamError(.seeOtherHost, text: "t")
        stream.conditionText = "other.example:5222"
        #expect(StreamError(stream.element) == stream)
        #expect(StreamError(Element("error", namespace: Namespace.streams)).condition == .undefinedCondition)
    }
}

@Suite("Rosters and features")
struct RosterAndFeatureTests {
    @Test("an item is read with its defaults (RFC 6121 §2.1.2)")
    func item() throws {
        let xml = try Element.parse(
            "<item jid='a@b/c' name='A' subscription='to' ask='subscribe' approved='true'><group>y</group><group>x</group>"
                + "<group>y</group><group/></item>", defaultNamespace: Namespace.roster)
        let item = RosterItem(
            jid: try JID("a@b"), name: "A", subscription: .to, isAsking: true, isApproved: true, groups: ["x", "y"])
        #expect(try RosterChange(xml) == .updated(item))
        let bare = try Element.parse("<item jid='a@b' subscription='strange'/>", defaultNamespace: Namespace.roster)
        #expect(try RosterChange(bare) == .updated(RosterItem(jid: try JID("a@b"))))
        let removal = try Element.parse("<item jid='a@b' subscription='remove'/>", defaultNamespace: Namespace.roster)
        #expect(try RosterChange(removal) == .removed(try JID("a@b")))
    }

    @Test(
        "an item without a JID is none",
        arguments: ["<item/>", "<item jid=''/>", "<item jid='a b@c'/>", "<other jid='a@b'/>"])
    func badItem(xml: String) throws {
        let element = try Element.parse(xml, defaultNamespace: Namespace.roster)
        #expect(throws: StanzaDecodingError.self) { try RosterChange(element) }
    }

    @Test("features are found by namespace, and the unknown required ones are named (RFC 6120 §4.3.2)")
    func features() throws {
        let features = StreamFeatures(
            try Element.parse(
                "<stream:features><starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'><required/></starttls>"
                    + "<sm xmlns='urn:xmpp:sm:2'/><limits xmlns='urn:xmpp:stream-limits:0'><max-bytes>10000</max-bytes></limits>"
                    + "<x xmlns='urn:x'><required/></x><y xmlns='urn:y'/></stream:features>",
                defaultNamespace: Namespace.client))
        #expect(features.offersStartTLS && !features.offersStreamManagement && !features.offersBind)
        #expect(features.maximumStanzaBytes == 10_000)
        #expect(features.unknownRequired == [ElementName("x", namespace: "urn:x")])
    }
}
