// SPDX-License-Identifier: Apache-2.0

import JabberControl
import Testing

@testable import JabberCLI

/// A sign and an accent behind it are one `Character`, but two code points: it is the sign that counts.
@Suite("Signs with an accent behind them")
struct AccentTests {
    @Test("an address is cut at its signs (RFC 7622 §3.2)")
    func addresses() throws {
        let address = try ShallowAddress("juliet@example.org/\u{301}x")
        #expect(address.bare == "juliet@example.org" && address.resource?.utf8.count == 3)
        #expect(throws: ControlError.self) { try ShallowAddress.refuseBareWord("romeo") }
        try ShallowAddress.refuseBareWord("romeo@\u{301}x")
    }

    @Test("an answer is known by its name, and a password that begins with an accent is refused among the options")
    func answers() {
        var answers = RegistrationAnswers(["nick=\u{301}x", "nickname=y"])
        #expect(answers["nick"].map { Array($0.unicodeScalars) } == ["\u{301}", "x"])
        answers["nick"] = nil
        #expect(answers.lines == ["nickname=y"])
        #expect(throws: ControlError.self) { try RegistrationAnswers.refuseSecrets(["password=\u{301}secret"]) }
        #expect(throws: ControlError.self) { try RegistrationAnswers.refuseSecrets(["=\u{301}x"]) }
    }

    @Test("a password in sendxmpp's file may begin with an accent")
    func sendxmpp() throws {
        let file = try SendxmppFile(text: "me@example.org \u{301}secret\r\n# end\r\n", path: "f")
        #expect(file.jid == "me@example.org" && file.password.map { Array($0.utf8) } == Array("\u{301}secret".utf8))
    }

    @Test("the value of an option may begin with an accent")
    func options() throws {
        let line = try JabberCLI.CommandLine(["send", "--message=\u{301}x", "a@b"], variables: [:])
        #expect(line.value("message").map { Array($0.utf8) } == Array("\u{301}x".utf8))
    }

    @Test("in a chat somebody whose nickname begins with an accent has that name, and not the room's")
    func nicknames() {
        var chat = Conversation(
            with: "coven@chat.example", isRoom: true, colours: ChatColours(isColoured: false, [:]),
            localTime: { _ in "" })
        let from = JSONValue.string("coven@chat.example/\u{301}x")
        let event: JSONObject = [
            "type": "message", "from": from, "room": "coven@chat.example", "direction": "in", "body": "/me \u{301}hi",
        ]
        let shown = chat.take(event).map { Array($0.utf8) }
        #expect(shown == [Array("* \u{301}x \u{301}hi".utf8)])
    }
}
