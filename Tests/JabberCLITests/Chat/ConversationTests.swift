// SPDX-License-Identifier: Apache-2.0

import JabberControl
import Testing

@testable import JabberCLI

@Suite("A chat as it is shown")
struct ConversationTests {
    private static func conversation(_ peer: String, isRoom: Bool = false) -> Conversation {
        Conversation(
            with: peer, isRoom: isRoom, colours: ChatColours(isColoured: false, [:]),
            localTime: { String($0.dropFirst(11).prefix(5)) })
    }

    private static func event(_ type: String, _ fields: JSONObject) -> JSONObject {
        var event: JSONObject = ["type": .string(type), "at": "2026-01-02T03:04:05Z"]
        for entry in fields.entries { event[entry.key] = entry.value }
        return event
    }

    @Test(
        "messages of the other side and those that other programs of the account have sent are lines",
        arguments: [
            (["from": "romeo@example.org/a", "direction": "in", "body": "hi"], "03:04 romeo: hi"),
            (["from": "romeo@example.org", "direction": "in", "body": "/me waves"], "03:04 * romeo waves"),
            (
                ["from": "me@example.org/b", "to": "romeo@example.org", "direction": "out", "body": "yes"],
                "03:04 Me: yes"
            ),
            (
                ["from": "romeo@example.org/a", "direction": "in", "body": "two\nlines", "replaces": "x"],
                "03:04 romeo: (corrected) two\n    lines"
            ),
            (["from": "romeo@example.org/\u{301}a", "direction": "in", "body": "marked"], "03:04 romeo: marked"),
            (["from": "romeo@example.org", "error": ["condition": "gone"]], "03:04 could not be delivered: gone"),
            (["from": "romeo@example.org", "direction": "in", "body": "\u{1B}[2J"], "03:04 romeo: \\u{1b}[2J"),
        ] as [(JSONObject, String)])
    func messages(_ fields: JSONObject, _ line: String) {
        var conversation = Self.conversation("romeo@example.org")
        #expect(conversation.take(Self.event("message", fields)) == [line])
    }

    @Test(
        "what concerns somebody else is not shown",
        arguments: [
            ["from": "nurse@example.org/a", "direction": "in", "body": "hi"],
            ["from": "romeo@example.org.evil/a", "direction": "in", "body": "hi"],
            ["from": "me@example.org", "to": "nurse@example.org", "direction": "out", "body": "hi"],
        ] as [JSONObject])
    func others(_ fields: JSONObject) {
        var conversation = Self.conversation("romeo@example.org")
        #expect(conversation.take(Self.event("message", fields)).isEmpty)
    }

    @Test("the prompt tells how far the last message has come, never less than before, and who writes")
    func marks() {
        var conversation = Self.conversation("romeo@example.org")
        #expect(conversation.prompt == "romeo> ")
        #expect(conversation.said("hi", id: "1", at: "2026-01-02T03:04:05Z") == ["03:04 Me: hi"])
        #expect(conversation.prompt == "romeo ·> ")
        conversation.state("server", of: "1")
        #expect(conversation.prompt == "romeo ✓> ")
        #expect(conversation.take(Self.event("receipt", ["from": "romeo@example.org/a", "id": "1"])).isEmpty)
        #expect(conversation.prompt == "romeo ✓✓> ")
        conversation.state("server", of: "1")
        #expect(conversation.prompt == "romeo ✓✓> ")
        _ = conversation.take(Self.event("receipt", ["from": "romeo@example.org/a", "id": "0"]))
        _ = conversation.take(Self.event("state", ["from": "romeo@example.org", "state": "composing"]))
        #expect(conversation.prompt == "romeo ✓✓ is typing…> ")
        _ = conversation.take(Self.event("message", ["from": "romeo@example.org/a", "direction": "in", "body": "ho"]))
        #expect(conversation.prompt == "romeo ✓✓> ")
        _ = conversation.said("bye", id: "2", at: "")
        #expect(conversation.prompt == "romeo ·> ")
    }

    @Test("an own message that comes back is not shown twice; in a room it is shown when the room has sent it back")
    func reflections() {
        var direct = Self.conversation("romeo@example.org")
        _ = direct.said("hi", id: "1", at: "")
        let fields: JSONObject = ["to": "romeo@example.org", "direction": "out", "id": "1", "body": "hi"]
        #expect(direct.take(Self.event("message", fields)).isEmpty)
        var room = Self.conversation("coven@rooms.example.org", isRoom: true)
        #expect(room.said("hi", id: "1", at: "").isEmpty)
        let reflected: JSONObject = [
            "from": "coven@rooms.example.org/jules", "room": "coven@rooms.example.org", "nick": "jules",
            "direction": "out", "id": "1", "body": "hi",
        ]
        #expect(room.take(Self.event("message", reflected)) == ["03:04 Me: hi"])
        #expect(room.prompt == "coven ✓> ")
    }

    @Test("a room counts who is in it, and their names are completed, at the beginning of a line as who is spoken to")
    func rooms() {
        var room = Self.conversation("coven@rooms.example.org", isRoom: true)
        func happens(_ what: String, _ nickname: String, from: String? = nil) -> [String] {
            room.take(
                Self.event(
                    "room",
                    [
                        "room": "coven@rooms.example.org", "event": .string(what), "nick": .string(nickname),
                        "from": .string("coven@rooms.example.org/\(from ?? nickname)"),
                    ]))
        }
        _ = happens("joined", "jules")
        #expect(happens("occupantJoined", "Nurse") == ["03:04 Nurse just joined"])
        _ = happens("occupantJoined", "nobody")
        #expect(room.prompt == "coven (3)> ")
        #expect(room.completion(of: "nu") == LineCompletion(length: 2, candidates: ["Nurse: "]))
        #expect(room.completion(of: "so, n") == LineCompletion(length: 1, candidates: ["Nurse ", "nobody "]))
        _ = happens("nicknameChanged", "nanny", from: "Nurse")
        _ = happens("occupantLeft", "nobody")
        #expect(room.occupants == ["jules", "nanny"])
        #expect(room.take(Self.event("room", ["room": "heath@rooms.example.org", "event": "occupantJoined"])).isEmpty)
    }

    @Test("commands are completed, those of rooms in rooms; a common beginning is taken over")
    func commands() {
        let direct = Self.conversation("romeo@example.org")
        #expect(direct.completion(of: "/re").candidates == ["/react ", "/retract "])
        #expect(direct.completion(of: "/re").common == "/re")
        #expect(direct.completion(of: "/n").candidates.isEmpty)
        #expect(direct.completion(of: "say /re").candidates.isEmpty)
        #expect(Self.conversation("r@s", isRoom: true).completion(of: "/n").candidates == ["/nick "])
    }

    @Test(
        "lines are text, commands, or wrong; two slashes say one",
        arguments: [
            ("hello ", .text("hello")), ("  ", .nothing), ("//help", .text("/help")), ("/me waves", .text("/me waves")),
            ("/quit", .quit), ("/who", .who), ("/react 👍  🎉", .react(["👍", "🎉"])), ("/react", .react([])),
            ("/correct it is so", .correct("it is so")), ("/topic", .topic(nil)), ("/topic new", .topic("new")),
            ("/nick jules", .nick("jules")),
        ] as [(String, ChatInput)])
    func inputs(_ line: String, _ input: ChatInput) {
        #expect(ChatInput(line, isRoom: true) == input)
    }

    @Test("what is no command is not said to anybody", arguments: ["/quti", "/", "/me", "/correct", "/nick"])
    func wrong(_ line: String) {
        guard case .wrong = ChatInput(line, isRoom: true) else {
            Issue.record("\(ChatInput(line, isRoom: true))")
            return
        }
    }

    @Test("a command of rooms is none elsewhere")
    func elsewhere() {
        guard case .wrong = ChatInput("/nick jules", isRoom: false) else { return #expect(Bool(false)) }
    }

    @Test("that somebody writes is told once, and its end when nothing was sent (XEP-0085 §5)")
    func typing() {
        var notice = TypingNotice()
        #expect(
            ["h", "he", "", "/he", "/me h", ""].map { notice.changed($0) } == [true, nil, false, nil, true, false])
        _ = notice.changed("x")
        notice.sent()
        #expect(notice.changed("") == nil)
        _ = notice.changed("y")
        #expect(notice.paused() && !notice.paused())
    }

    @Test(
        "names have their own colour where the terminal has so many (XEP-0392)",
        arguments: [
            (["COLORTERM": "truecolor"], "\u{1B}[1;38;2;221;0;175mromeo\u{1B}[0m"),
            (["TERM": "xterm-256color"], "\u{1B}[1;38;5;163mromeo\u{1B}[0m"),
            (["TERM": "vt100"], "\u{1B}[1mromeo\u{1B}[0m"),
        ] as [([String: String], String)])
    func colours(_ variables: [String: String], _ shown: String) {
        #expect(ChatColours(isColoured: true, variables).name("romeo", "#dd00af") == shown)
        #expect(ChatColours(isColoured: false, variables).name("romeo", "#dd00af") == "romeo")
        #expect(ChatColours(isColoured: true, variables).name("romeo", "#dd00a\u{1B}") == "\u{1B}[1mromeo\u{1B}[0m")
    }
}
