// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import XMPP

private let inner = "<message xmlns='jabber:client' from='a@b/c' to='d@e'><body>hi</body></message>"

/// Rows of what clients put into messages.
let messageRows = [
    PayloadRow(
        "XEP-0297 §3",
        ForwardedMessage(
            (try? Message(Element.parse(inner))) ?? Message(to: nil),
            delay: DelayedDelivery(stamp: DateTime(millisecondsSinceEpoch: 0))),
        "<forwarded xmlns='urn:xmpp:forward:0'><delay xmlns='urn:xmpp:delay' stamp='1970-01-01T00:00:00.000Z'/>\(inner)"
            + "</forwarded>"),
    PayloadRow(
        "XEP-0308 §4", MessageCorrection("bad1"), "<replace xmlns='urn:xmpp:message-correct:0' id='bad1'/>",
        required: ["id"]),
    PayloadRow(
        "XEP-0424 §3", MessageRetraction("wrong-1"), "<retract xmlns='urn:xmpp:message-retract:1' id='wrong-1'/>",
        required: ["id"]),
    PayloadRow(
        "XEP-0425 §3.1",
        MessageRetraction(
            "s1", moderation: MessageModeration(by: try? JID("room@muc/macbeth"), occupantID: "dd"), reason: "Off topic"
        ),
        "<retract xmlns='urn:xmpp:message-retract:1' id='s1'><moderated xmlns='urn:xmpp:message-moderate:1'"
            + " by='room@muc/macbeth'><occupant-id xmlns='urn:xmpp:occupant-id:0' id='dd'/></moderated>"
            + "<reason>Off topic</reason></retract>", required: ["id"]),
    PayloadRow(
        "XEP-0424 §4", RetractedMessage(id: "r1", stamp: DateTime(millisecondsSinceEpoch: 0)),
        "<retracted xmlns='urn:xmpp:message-retract:1' stamp='1970-01-01T00:00:00.000Z' id='r1'/>"),
    PayloadRow(
        "XEP-0425 §3.1", MessageModeration(), "<moderated xmlns='urn:xmpp:message-moderate:1'/>"),
    PayloadRow(
        "XEP-0444 §3.2", MessageReactions(to: "m1", ["👋", "🐢"]),
        "<reactions xmlns='urn:xmpp:reactions:0' id='m1'><reaction>👋</reaction><reaction>🐢</reaction></reactions>",
        required: ["id"]),
    PayloadRow(
        "XEP-0444 §3.2", MessageReactions(to: "m1", []), "<reactions xmlns='urn:xmpp:reactions:0' id='m1'/>",
        required: ["id"]),
    PayloadRow(
        "XEP-0461 §3", MessageReply("m1", to: try? JID("anna@example.com/tablet")),
        "<reply xmlns='urn:xmpp:reply:0' to='anna@example.com/tablet' id='m1'/>", required: ["id"]),
    PayloadRow(
        "XEP-0428 §2.2", FallbackIndication(for: "urn:xmpp:reply:0", body: [.part(0..<33)], subject: [.whole]),
        "<fallback xmlns='urn:xmpp:fallback:0' for='urn:xmpp:reply:0'><body start='0' end='33'/><subject/></fallback>"),
    PayloadRow(
        "XEP-0359 §2.1", StanzaID("de305d54", by: (try? JID("room@muc")) ?? Somebody.jid),
        "<stanza-id xmlns='urn:xmpp:sid:0' id='de305d54' by='room@muc'/>", required: ["id", "by"]),
    PayloadRow(
        "XEP-0359 §2.2", OriginID("de305d54"), "<origin-id xmlns='urn:xmpp:sid:0' id='de305d54'/>", required: ["id"]),
    PayloadRow(
        "XEP-0066 §3", OutOfBandData("https://example.org/a.png", explanation: "A picture"),
        "<x xmlns='jabber:x:oob'><url>https://example.org/a.png</url><desc>A picture</desc></x>"),
    PayloadRow(
        "XEP-0377 §4",
        AbuseReport(.spam, text: "Never came trouble", messages: [StanzaID("1", by: Somebody.jid)]),
        "<report xmlns='urn:xmpp:reporting:1' reason='urn:xmpp:reporting:spam'><stanza-id xmlns='urn:xmpp:sid:0'"
            + " by='nobody.example' id='1'/><text>Never came trouble</text></report>", required: ["reason"]),
    PayloadRow(
        "XEP-0372 §4.1", MessageReference(.mention, "xmpp:juliet@capulet.lit", range: 72..<78),
        "<reference xmlns='urn:xmpp:reference:0' begin='72' end='78' type='mention' uri='xmpp:juliet@capulet.lit'/>",
        required: ["type", "uri"]),
    PayloadRow(
        "XEP-0513 §4.1", Mention(.occupant("alice"), range: 7..<12),
        "<mention xmlns='urn:xmpp:mentions:0' begin='7' end='12' occupantid='alice'/>", required: ["occupantid"]),
    PayloadRow(
        "XEP-0513 §4.1", Mention(.address(Somebody.jid)),
        "<mention xmlns='urn:xmpp:mentions:0' jid='nobody.example'/>", required: ["jid"]),
    PayloadRow(
        "XEP-0513 §4.2", Mention(.group(Mention.room, uri: nil)),
        "<mention xmlns='urn:xmpp:mentions:0' mentions='urn:xmpp:mentions:0#channel'/>", required: ["mentions"]),
    PayloadRow(
        "XEP-0421 §3", OccupantID("dd72"), "<occupant-id xmlns='urn:xmpp:occupant-id:0' id='dd72'/>",
        required: ["id"]),
    PayloadRow(
        "XEP-0249 §2", RoomInvitation(Somebody.room, password: "cauldron", reason: "Hey", thread: "e0ff"),
        "<x xmlns='jabber:x:conference' continue='true' jid='coven@nobody.example' password='cauldron' reason='Hey'"
            + " thread='e0ff'/>", required: ["jid"]),
]

/// Addresses for rows.
enum Somebody {
    static let jid = address("nobody.example")
    static let room = address("coven@nobody.example")

    static func address(_ text: String) -> JID {
        (try? JID(text)) ?? { preconditionFailure("\(text) is no address") }()
    }
}

@Suite("What clients put into messages")
struct MessageExtensionTests {
    private func message(_ content: String) throws -> Message {
        try Message(Element.parse("<message from='a@b/c' to='d@e' id='m1' type='chat'>\(content)</message>"))
    }

    @Test("marks that are there or not are set, read back and taken away")
    func marks() throws {
        var message = Message(to: try JID("a@b"), body: "hi", id: "m1")
        let before = message
        message.requestsReceipt = true
        message.isMarkable = true
        message.isUnstyled = true
        message.isPrivate = true
        message.chatState = .composing
        message.correctedID = "m0"
        message.originID = "o1"
        message.displayedID = "m9"
        message.replyTo = MessageReply("m8")
        message.hints.formUnion([.store, .noPermanentStore])
        #expect(message.requestsReceipt && message.isMarkable && message.isUnstyled && message.isPrivate)
        #expect(message.chatState == .composing && message.correctedID == "m0" && message.originID == "o1")
        #expect(message.displayedID == "m9" && message.replyTo?.id == "m8")
        #expect(message.hints == [.store, .noPermanentStore, .noCopy])
        message.requestsReceipt = false
        message.isMarkable = false
        message.isUnstyled = false
        message.isPrivate = false
        message.chatState = nil
        message.correctedID = nil
        message.originID = nil
        message.displayedID = nil
        message.replyTo = nil
        message.hints = []
        #expect(message == before)
    }

    @Test(
        "a chat state that nobody has heard of is none (XEP-0085 §4)",
        arguments: ChatState.allCases.map(\.rawValue) + ["asleep"])
    func chatStates(name: String) throws {
        let message = try message("<\(name) xmlns='http://jabber.org/protocol/chatstates'/>")
        #expect(message.chatState?.rawValue == (name == "asleep" ? nil : name))
    }

    @Test("an id counts when its giver has given one (XEP-0359 §6)")
    func stanzaIDs() throws {
        let room = try JID("room@muc")
        let id = { (id: String, by: String) in "<stanza-id xmlns='urn:xmpp:sid:0' id='\(id)' by='\(by)'/>" }
        #expect(try message(id("1", "room@muc") + id("2", "d@e")).stanzaID(by: room) == "1")
        #expect(try message(id("1", "room@muc") + id("2", "room@muc")).stanzaID(by: room) == nil, "one is forged")
        #expect(try message(id("1", "other@muc")).stanzaID(by: room) == nil)
    }

    @Test("an occupant's id counts when there is one, as the room takes others away (XEP-0421 §4)")
    func occupantIDs() throws {
        let id = { (id: String) in "<occupant-id xmlns='urn:xmpp:occupant-id:0' id='\(id)'/>" }
        #expect(try message(id("1")).occupantID == "1")
        #expect(try message(id("1") + id("2")).occupantID == nil)
        #expect(try message("").occupantID == nil)
    }

    @Test("a correction repeats the message with another text, and always corrects the first one (XEP-0308 §5)")
    func correcting() throws {
        var first = Message(to: try JID("a@b"), body: "teh", id: "m1")
        first.thread = "t"
        let second = first.corrected("the")
        #expect(second.correctedID == "m1" && second.id == nil && second.body == "the" && second.thread == "t")
        var sent = second
        sent.id = "m2"
        #expect(sent.corrected("The").correctedID == "m1")
    }

    @Test("doubles, empty ones and what is no emoji are no reactions, and there are so many (XEP-0444 §4)")
    func reactions() {
        let long = String(repeating: "a", count: MessageReactions.maximumBytes + 1)
        #expect(MessageReactions(to: "m", ["👋", " 👋 ", "", long, "🐢"]).emoji == ["👋", "🐢"])
        #expect(MessageReactions(to: "m", [String(long.dropLast())]).emoji.count == 1)
        let many = (0...MessageReactions.maximumReactions).map(String.init)
        #expect(MessageReactions(to: "m", many).emoji.count == MessageReactions.maximumReactions)
    }

    @Test("reactions and retractions are to be kept, and a retraction says so to those who know none")
    func sending() throws {
        let reaction = Message.reactions(["👍"], to: "m1", in: try JID("a@b"))
        #expect(reaction.reactions?.emoji == ["👍"] && reaction.hints == .store && reaction.body == nil)
        let retraction = Message.retraction(of: "m1", to: try JID("a@b"), kind: .groupchat)
        #expect(retraction.retraction?.id == "m1" && retraction.hints == .store && retraction.kind == .groupchat)
        #expect(retraction.body != nil && retraction.text(withoutFallbackFor: [MessageRetraction.namespace]) == nil)
    }

    @Test(
        "an answer quotes what it answers, counted in code points, and is read without the quotation (XEP-0461, XEP-0428)"
    )
    func replying() throws {
        var question = try message("<body>Wie geht’s 👨‍👩‍👧?\nGut?</body>")
        question.originID = "o1"
        let answer = question.quotingReply("Gut.")
        #expect(answer.replyTo == MessageReply("o1", to: try JID("a@b/c")))
        #expect(answer.body == "> Wie geht’s 👨‍👩‍👧?\n> Gut?\nGut.")
        #expect(answer.text(withoutFallbackFor: [MessageReply.namespace]) == "Gut.")
        #expect(answer.text(withoutFallbackFor: []) == answer.body)
        // Its quotation is not quoted again.
        var second = answer
        second.id = "m2"
        second.from = try JID("a@b/c")
        #expect(second.quotingReply("Ja").body == "> Gut.\nJa")
    }

    @Test(
        "what is quoted looks like the user's own words nowhere, whatever ends its lines (XEP-0461 §3.1)",
        arguments: [
            ("hi\r\nI agree to pay", "> hi\n> I agree to pay\n"), ("hi\rI agree", "> hi\n> I agree\n"),
            ("a\u{2028}b\u{85}c\u{B}d", "> a\n> b\n> c\n> d\n"), ("a\n\r\nb", "> a\n> \n> b\n"),
            ("a\n\u{301}b", "> a\n> \u{301}b\n"), ("a\n", "> a\n> \n"),
        ])
    func quotedLines(_ text: String, _ quotation: String) throws {
        var question = try message("<body>x</body>")
        question.body = text
        let answer = question.quotingReply("No.")
        #expect(answer.body.map { Array($0.unicodeScalars) } == Array((quotation + "No.").unicodeScalars))
        #expect(answer.text(withoutFallbackFor: [MessageReply.namespace]) == "No.")
    }

    @Test("what begins with an accent is done too (XEP-0245 §2)")
    func accentedAction() throws {
        var doing = try message("<body>x</body>")
        doing.body = "/me \u{301}waves"
        #expect(doing.action?.unicodeScalars.first == "\u{301}")
    }

    @Test("in a room without ids of its own nothing can be referred to (XEP-0461 §4.1)")
    func replyingInRoom() throws {
        var question = try message("<body>x</body><stanza-id xmlns='urn:xmpp:sid:0' id='s1' by='a@b'/>")
        question.kind = .groupchat
        #expect(question.quotingReply("y").replyTo?.id == "s1")
        question.removePayload(StanzaID.self)
        #expect(question.quotingReply("y").replyTo == nil && question.quotingReply("y").body == "y")
    }

    @Test(
        "a part of a text that is not there, or ends before it begins, takes nothing away (XEP-0428)",
        arguments: [
            ("start='0' end='2'", "cd"), ("start='2' end='99'", "ab"), ("start='3' end='2'", "abcd"),
            ("start='-1' end='2'", "abcd"), ("start='1'", "abcd"), ("start='99999999999999999999' end='1'", "abcd"),
        ])
    func fallbackParts(range: String, rest: String) throws {
        let message = try message(
            "<body>abcd</body><fallback xmlns='urn:xmpp:fallback:0' for='urn:xmpp:reply:0'><body \(range)/><subject/>"
                + "</fallback>")
        #expect(message.text(withoutFallbackFor: [MessageReply.namespace]) == rest)
    }

    @Test(
        "parts of a text that overlap, touch or come in any order are left out once (XEP-0428 §2.2)",
        arguments: [
            (["0 2", "1 3"], "defg"), (["1 6", "2 3"], "ag"), (["4 5", "0 1"], "bcdfg"), (["0 2", "2 4"], "efg"),
            (["3 3"], "abcdefg"), (["0 4", "4 7"], nil), (["5 9223372036854775807", "0 1"], "bcde"),
        ] as [([String], String?)])
    func severalParts(ranges: [String], rest: String?) throws {
        let parts = ranges.map { $0.split(separator: " ") }.map { "<body start='\($0[0])' end='\($0[1])'/>" }
        let separate = parts.map { "<fallback xmlns='urn:xmpp:fallback:0' for='urn:xmpp:reply:0'>\($0)</fallback>" }
        let together = "<fallback xmlns='urn:xmpp:fallback:0' for='urn:xmpp:reply:0'>\(parts.joined())</fallback>"
        for fallbacks in [separate.joined(), together] {
            let message = try message("<body>abcdefg</body>" + fallbacks)
            #expect(message.text(withoutFallbackFor: [MessageReply.namespace]) == rest)
        }
    }

    @Test(
        "a message of a thousand fallbacks costs no more than one of the most that are read, and hides no more",
        arguments: [(99, 99), (100, 100), (101, 100), (1_000, 100)])
    func manyFallbacks(count: Int, read: Int) throws {
        let fallbacks = (0..<count).map {
            "<fallback xmlns='urn:xmpp:fallback:0' for='urn:xmpp:reply:0'><body start='\($0 * 2)' end='\($0 * 2 + 1)'/>"
                + "</fallback>"
        }
        let message = try message(
            "<body>\(String(repeating: "ab", count: 1_000))</body>" + fallbacks.joined())
        let parts = FallbackIndication.parts(of: message.element, standingInFor: [MessageReply.namespace])
        #expect(parts?.count == read)
        #expect(message.text(withoutFallbackFor: [MessageReply.namespace])?.utf8.count == 2_000 - read)
    }

    @Test(
        "what forwards anything but one message forwards nothing (XEP-0297 §3.1)",
        arguments: [
            "", inner + inner, "<iq xmlns='jabber:client' type='get'/>", "<message><body>x</body></message>",
            inner + "<x xmlns='urn:x'/>",
        ])
    func forwarding(content: String) throws {
        let xml = "<forwarded xmlns='urn:xmpp:forward:0'>\(content)</forwarded>"
        #expect(ForwardedMessage(try Element.parse(xml)) == nil)
    }

    @Test("people are mentioned in both ways, and data are no people (XEP-0372, XEP-0513)")
    func mentions() throws {
        let message = try message(
            "<reference xmlns='urn:xmpp:reference:0' type='mention' uri='xmpp:x@y' begin='0' end='1'/>"
                + "<reference xmlns='urn:xmpp:reference:0' type='data' uri='https://x.y/'/>"
                + "<reference xmlns='urn:xmpp:reference:0' type='mention' uri='https://x.y/'/>"
                + "<mention xmlns='urn:xmpp:mentions:0' occupantid='o'/><mention xmlns='urn:xmpp:mentions:0'/>"
                + "<mention xmlns='urn:xmpp:mentions:0' jid='a@b' begin='5' end='4'/>")
        #expect(
            message.mentions == [Mention(.address(try JID("x@y")), range: 0..<1), Mention(.occupant("o"))])
    }

    @Test("resources are named, not fetched, and an invitation names a room")
    func others() throws {
        let message = try message(
            "<x xmlns='jabber:x:oob'><url>https://a.b/%2e%2e%2fc</url></x><x xmlns='jabber:x:oob'/>")
        #expect(message.attachments == [OutOfBandData("https://a.b/%2e%2e%2fc")])
        #expect(RoomInvitation(try Element.parse("<x xmlns='jabber:x:conference' jid='muc.example'/>")) == nil)
        #expect(try self.message("<body>/me laughs</body>").action == "laughs")
        #expect(try self.message("<body>/meme</body>").action == nil)
    }

    @Test("where a server tells of outages is known from what it says of itself (XEP-0455 §2.1)")
    func outages() {
        let form = DataForm(
            .result,
            fields: [
                .init("FORM_TYPE", .hidden, values: ["urn:xmpp:sos:0"]),
                .init("external-status-addresses", values: ["https://status.example/a.json", "ftp://x", "file:///x"]),
            ])
        let information = DiscoveryInformation(identities: [], features: [], extensions: [form.element])
        #expect(information.outageStatusAddresses == ["https://status.example/a.json"])
    }
}
