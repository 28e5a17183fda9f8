// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import XMPP

@Suite("A conversation as it stands")
struct ChatTranscriptTests {
    private static let account = Somebody.address("romeo@example.net")

    private static func chat(
        _ content: String, from: String = "juliet@example.com/b", id: String = "m1", type: String = "chat",
        to: String = "romeo@example.net/o"
    ) throws -> ChatMessage {
        let xml = "<message from='\(from)' to='\(to)' id='\(id)' type='\(type)'>\(content)</message>"
        return ChatMessage(try Message(Element.parse(xml)), account: account)
    }

    private static func occupant(_ id: String) -> String { "<occupant-id xmlns='urn:xmpp:occupant-id:0' id='\(id)'/>" }
    private static func sid(_ id: String, by: String = "room@muc") -> String {
        "<stanza-id xmlns='urn:xmpp:sid:0' id='\(id)' by='\(by)'/>"
    }
    private static func replace(_ id: String, _ body: String) -> String {
        "<body>\(body)</body><replace xmlns='urn:xmpp:message-correct:0' id='\(id)'/>"
    }
    private static func retract(_ id: String, _ more: String = "") -> String {
        "<retract xmlns='urn:xmpp:message-retract:1' id='\(id)'>\(more)</retract><body>gone</body>"
    }
    private static func react(_ id: String, _ emoji: [String]) -> String {
        "<reactions xmlns='urn:xmpp:reactions:0' id='\(id)'>"
            + emoji.map { "<reaction>\($0)</reaction>" }.joined() + "</reactions>"
    }
    private static let moderated = "<moderated xmlns='urn:xmpp:message-moderate:1'/>"

    @Test("a correction takes the place of its own sender's message, again and again, and is seen as one (XEP-0308 §5)")
    func correction() throws {
        var transcript = ChatTranscript()
        #expect(transcript.add(try Self.chat("<body>teh</body>")) == .added(0))
        #expect(transcript.entries[0].isEdited == false)
        // From another client of the same account.
        #expect(
            transcript.add(try Self.chat(Self.replace("m1", "the"), from: "juliet@example.com/c", id: "m2"))
                == .changed(0))
        #expect(transcript.add(try Self.chat(Self.replace("m1", "The"), id: "m3")) == .changed(0))
        #expect(transcript.entries.map(\.text) == ["The"] && transcript.entries[0].isEdited)
        #expect(transcript.entries[0].original.text == "teh")
    }

    @Test("what somebody else \"corrects\" stays, and the correction is a message of its own (CVE-2022-39835)")
    func foreignCorrection() throws {
        var transcript = ChatTranscript()
        transcript.add(try Self.chat("<body>mine</body>"))
        let forged = try Self.chat(Self.replace("m1", "yours"), from: "mallory@evil.example/x", id: "m2")
        #expect(transcript.add(forged) == .added(1))
        #expect(transcript.entries.map(\.text) == ["mine", "yours"] && !transcript.entries[0].isEdited)
        // Nor may the other side correct what this side has sent.
        let own = try Self.chat("<body>own</body>", from: "romeo@example.net/o", id: "m5", to: "juliet@example.com")
        transcript.add(own)
        #expect(own.isOutgoing && own.conversation == Somebody.address("juliet@example.com"))
        #expect(transcript.add(try Self.chat(Self.replace("m5", "forged"), id: "m6")) == .added(3))
    }

    @Test("corrections of themselves and in circles end (CVE-2021-41055)")
    func circles() throws {
        var transcript = ChatTranscript()
        let own = try Self.chat(Self.replace("k1", "x"), id: "k1")
        #expect(!own.isCorrection)
        #expect(transcript.add(own) == .added(0))
        #expect(transcript.add(try Self.chat(Self.replace("k1", "b"), id: "k2")) == .changed(0))
        #expect(transcript.add(try Self.chat(Self.replace("k2", "c"), id: "k1")) == .added(1))
        #expect(transcript.entries.map(\.text) == ["b", "c"])
    }

    @Test(
        "in a room the occupant's id decides, whoever has the nickname now (XEP-0308 §6, XEP-0421)",
        arguments: [
            ("a", "a", "nick", true), ("a", "b", "nick", false), ("a", "a", "other", true), (nil, nil, "nick", true),
            (nil, nil, "other", false), ("a", nil, "nick", false), (nil, "b", "nick", false),
        ] as [(String?, String?, String, Bool)])
    func rooms(before: String?, after: String?, nick: String, isApplied: Bool) throws {
        var transcript = ChatTranscript()
        transcript.add(
            try Self.chat(
                "<body>a</body>" + (before.map(Self.occupant) ?? ""), from: "room@muc/nick", type: "groupchat"))
        let correction = try Self.chat(
            Self.replace("m1", "b") + (after.map(Self.occupant) ?? ""), from: "room@muc/\(nick)", id: "m2",
            type: "groupchat")
        #expect(transcript.add(correction) == (isApplied ? .changed(0) : .added(1)))
    }

    @Test("a retraction removes its own sender's message, with all that hangs on it (XEP-0424 §5)")
    func retraction() throws {
        var transcript = ChatTranscript()
        transcript.add(try Self.chat("<body>a</body>"))
        transcript.add(try Self.chat(Self.react("m1", ["👍"]), from: "romeo@example.net/o", to: "juliet@example.com"))
        #expect(transcript.entries[0].reactionCounts == ["👍": 1])
        let forged = try Self.chat(Self.retract("m1"), from: "mallory@evil.example/x", id: "m2")
        #expect(transcript.add(forged) == .none)
        #expect(!transcript.entries[0].isRetracted)
        #expect(transcript.add(try Self.chat(Self.retract("m9"), id: "m3")) == .none)
        #expect(transcript.add(try Self.chat(Self.retract("m1"), id: "m4")) == .changed(0))
        #expect(transcript.entries.count == 1 && transcript.entries[0].text == nil)
        #expect(transcript.entries[0].reactions.isEmpty && transcript.entries[0].isRetracted)
        #expect(transcript.add(try Self.chat(Self.react("m1", ["👍"]), id: "m5")) == .none)
        #expect(transcript.add(try Self.chat(Self.replace("m1", "b"), id: "m6")) == .added(1), "it stays removed")
    }

    @Test("a moderator's retraction counts from the room itself, by the room's own id (XEP-0425 §5)")
    func moderation() throws {
        var transcript = ChatTranscript()
        let spam = "<body>spam</body>" + Self.sid("s1") + Self.sid("s2", by: "evil@muc")
        transcript.add(try Self.chat(spam, from: "room@muc/hag", type: "groupchat"))
        for (from, id, more) in [
            ("room@muc/mallory", "s1", Self.moderated), ("room@muc", "s2", Self.moderated), ("room@muc", "s1", ""),
            ("room@muc", "m1", Self.moderated), ("other@muc", "s1", Self.moderated), ("room@muc/hag", "m1", ""),
        ] {
            let forged = try Self.chat(Self.retract(id, more), from: from, id: "x", type: "groupchat")
            #expect(transcript.add(forged) == .none, "\(from) \(id)")
        }
        let genuine = try Self.chat(Self.retract("s1", Self.moderated), from: "room@muc", id: "x", type: "groupchat")
        #expect(transcript.add(genuine) == .changed(0))
    }

    @Test("each sender's reactions take the place of those before (XEP-0444 §3.3)")
    func reactions() throws {
        var transcript = ChatTranscript()
        transcript.add(try Self.chat("<body>a</body>"))
        transcript.add(try Self.chat(Self.react("m1", ["👍", "🐢"]), id: "m2"))
        transcript.add(try Self.chat(Self.react("m1", ["👍"]), from: "romeo@example.net/o", to: "juliet@example.com"))
        #expect(transcript.entries[0].reactionCounts == ["👍": 2, "🐢": 1])
        transcript.add(try Self.chat(Self.react("m1", []), from: "juliet@example.com/c", id: "m3"))
        #expect(transcript.entries[0].reactionCounts == ["👍": 1])
        #expect(
            transcript.add(try Self.chat(Self.react("m1", ["x"]), from: "mallory@evil.example/x", id: "m4")) == .none)
        #expect(transcript.add(try Self.chat(Self.react("m7", ["x"]), id: "m4")) == .none)
    }

    @Test("so many senders react, and so many entries are kept")
    func limits() throws {
        var transcript = ChatTranscript(maximumEntries: 2)
        for number in 1...3 { transcript.add(try Self.chat("<body>\(number)</body>", id: "m\(number)")) }
        #expect(transcript.entries.map(\.text) == ["2", "3"])
        transcript.add(try Self.chat("<body>a</body>" + Self.sid("s1"), from: "room@muc/x", type: "groupchat"))
        for number in 0...ChatTranscript.maximumReactingSenders {
            transcript.add(try Self.chat(Self.react("s1", ["x"]), from: "room@muc/\(number)", type: "groupchat"))
        }
        #expect(transcript.entries.last?.reactions.count == ChatTranscript.maximumReactingSenders)
    }

    @Test("a marker means everything up to it that this side has sent (XEP-0333 §1)")
    func displayed() throws {
        var transcript = ChatTranscript()
        for number in 1...3 {
            transcript.add(
                try Self.chat(
                    "<body>a</body>", from: "romeo@example.net/o", id: "m\(number)", to: "juliet@example.com"))
        }
        #expect(transcript.displayed(upTo: "m9") == false)
        #expect(transcript.displayed(upTo: "m2") == true)
        #expect(transcript.entries.map(\.isDisplayed) == [true, true, false])
    }

    @Test("what has nothing to show is no entry, and how a message came is known")
    func view() throws {
        var transcript = ChatTranscript()
        let typing = try Self.chat("<composing xmlns='http://jabber.org/protocol/chatstates'/>")
        #expect(typing.chatState == .composing)
        #expect(transcript.add(typing) == .none)
        let delay = { (from: String) in
            "<body>x</body><delay xmlns='urn:xmpp:delay' \(from) stamp='2020-01-01T00:00:00Z'/>"
        }
        #expect(try Self.chat(delay("from='example.net'")).source == .offline)
        #expect(try Self.chat(delay("from='evil.example'")).source == .live)
        #expect(try Self.chat("<body>x</body>").source == .live)
        let carbon = MessageCarbon(
            .sent, try Self.chat("<body>x</body>", from: "romeo@example.net/p", to: "a@b").message)
        let copy = ChatMessage(carbon, account: Self.account)
        #expect(copy.source == .carbon && copy.isOutgoing && copy.conversation == Somebody.a)
        #expect(try Self.chat("<body>/me *waves*</body>").action == "*waves*")
        let plain = try Self.chat("<body>*a*</body><unstyled xmlns='urn:xmpp:styling:0'/>")
        #expect(plain.styledText == nil)
        #expect(try Self.chat("<body>*a*</body>").styledText != nil)
    }

    @Test("a private message within a room is a conversation with its occupant (XEP-0045 §7.5)")
    func privateMessages() throws {
        let x = "<body>psst</body><x xmlns='http://jabber.org/protocol/muc#user'/>"
        #expect(try Self.chat(x, from: "room@muc/nick").conversation == JID("room@muc/nick"))
        #expect(try Self.chat(x, from: "room@muc/nick", type: "groupchat").conversation == JID("room@muc"))
    }

    @Test("an id that is written like somebody's address takes nobody's reactions away (XEP-0421 §4)")
    func forgedOccupant() throws {
        var transcript = ChatTranscript()
        let room = { (nick: String) in "room@muc/\(nick)" }
        transcript.add(try Self.chat("<body>x</body>\(Self.sid("s1"))", from: room("a"), type: "groupchat"))
        transcript.add(try Self.chat(Self.react("s1", ["👍"]), from: room("b"), id: "m2", type: "groupchat"))
        let forged = Self.react("s1", []) + Self.occupant(room("b"))
        transcript.add(try Self.chat(forged, from: room("mallory"), id: "m3", type: "groupchat"))
        #expect(transcript.entries[0].reactionCounts == ["👍": 1])
    }
}
