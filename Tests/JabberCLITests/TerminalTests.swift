// SPDX-License-Identifier: Apache-2.0

import Foundation
import JabberControl
import SocketIO
import Testing
import XMPP
import XMPPTestSupport

@testable import JabberCLI

/// The program on a terminal of its own, with text of every kind that could harm one: first whatever a daemon could
/// say, then what contacts and a server really say.
@Suite("What others write never reaches the terminal raw", .serialized, .timeLimit(.minutes(5)))
struct TerminalTests {
    /// The texts of the table, harmless ones among them.
    static let texts = TerminalTextTests.rows.map(\.text)

    /// All of them in one.
    static let all = texts.joined(separator: "|")

    private static let daemon = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Fixtures/answering-daemon").path

    let folder: TestFolder

    init() throws {
        folder = try TestFolder()
    }

    // MARK: A daemon that says anything

    /// A document with the texts wherever a command looks for one, a row for each text.
    private static var document: JSONObject {
        let presence: JSONObject = [
            "show": "away", "status": .string(all), "priority": 1, "since": .string(all),
        ]
        func rows(_ row: (JSONValue) -> JSONValue) -> JSONValue { .array(texts.map { row(.string($0)) }) }
        var document = presence
        document["api"] = 1
        document["account"] = .string(all)
        for key in ["jid", "name", "version", "os", "reply", "sent", "subscription", "ask"] {
            document[key] = .string(all)
        }
        document["contacts"] = rows { text in
            [
                "jid": text, "name": text, "groups": [text], "subscription": text, "ask": text, "online": true,
                "show": text,
                "status": text, "since": text,
                "resources": [["resource": text, "show": text, "status": text, "client": text, "idleSince": text]],
            ]
        }
        document["contact"] = ["jid": .string(all), "name": .string(all), "groups": [.string(all)]]
        document["resources"] = rows { ["resource": $0, "show": $0] }
        document["requests"] = rows { ["jid": $0, "text": $0, "at": $0] }
        document["roundTrips"] = [1]
        document["identities"] = rows { ["category": $0, "type": $0, "name": $0] }
        document["features"] = rows { $0 }
        document["items"] = rows { ["jid": $0, "node": $0, "name": $0] }
        document["steps"] = rows { ["step": $0, "state": $0, "detail": $0] }
        document["results"] = rows { text in
            [
                "to": text, "id": text, "state": "failed", "at": text,
                "error": ["code": "refused", "exit": 2, "message": text],
            ]
        }
        return document
    }

    /// What happens in a room, and a word that nobody knows.
    private static let roomEvents = [
        "joined", "occupantJoined", "occupantLeft", "occupantChanged", "nicknameChanged", "subject", "left", "refused",
        "configurationChanged", "?",
    ]

    /// What `listen` is told.
    private static var events: [JSONValue] {
        texts.flatMap { text -> [JSONValue] in
            let text = JSONValue.string(text)
            let inRoom = roomEvents.map { event -> JSONValue in
                [
                    "type": "room", "event": .string(event), "room": text, "from": text, "nick": text, "role": text,
                    "show": text, "subject": text, "reason": ["code": text, "message": text],
                    "error": ["condition": text],
                ]
            }
            return inRoom + [
                ["type": "message", "from": text, "subject": text, "body": text, "at": text, "replaces": text],
                ["type": "message", "direction": "out", "from": text, "to": text, "body": text],
                ["type": "message", "from": text, "error": ["text": text]],
                ["type": "message", "from": text, "error": ["condition": text]],
                ["type": "presence", "from": text, "show": text, "status": text],
                ["type": "state", "from": text, "state": text], ["type": "receipt", "from": text, "id": text],
                ["type": "marker", "from": text, "id": text],
                ["type": "reaction", "from": text, "id": text, "emoji": [text, text]],
                ["type": "retraction", "from": text, "id": text, "moderator": text, "reason": ["message": text]],
                ["type": "invitation", "from": text, "room": text, "body": text],
                ["type": "gap", "after": text, "cursor": text],
                ["type": "gap", "from": text, "id": text, "stanza": text, "bytes": 2_000_000],
                ["type": "account", "account": text, "connection": text, "reason": ["message": text]],
                ["type": "account", "account": text, "serverKey": ["host": text, "key": text, "previousKey": text]],
                ["type": "roster", "account": text, "contact": ["jid": text, "subscription": text]], ["type": text],
            ]
        }
    }

    /// Runs a command on a terminal, with a daemon that sends these lines for an answer.
    func run(_ words: [String], answer: [JSONValue]) throws -> PseudoTerminal {
        try folder.write(answer.map { $0.text + "\n" }.joined(), to: "answer")
        let hello: JSONValue = [
            "jsonrpc": "2.0", "method": "hello",
            "params": [
                "product": .string(Self.all), "version": .string(Self.all), "api": ["min": 1, "max": 1],
                "instance": .string(Self.all),
            ],
        ]
        try folder.write(hello.text + "\n", to: "hello")
        let terminal = try PseudoTerminal(
            [ProcessTests.program] + words,
            variables: folder.variables(["JABBERCTLD": Self.daemon, "NO_COLOR": "1"]))
        _ = try terminal.finish()
        return terminal
    }

    private static let commands: [[String]] = [
        ["online"], ["online", "--resources"], ["online", "--all"], ["presence", "show", "a@b.example"],
        ["roster", "list"],
        ["roster", "show", "a@b.example"], ["sub", "pending"], ["ping"], ["version-of", "a@b.example/x"],
        ["disco", "--items"],
        ["raw", "<iq type='get'><a xmlns='b'/></iq>"], ["diag"], ["send", "a@b.example", "hello"],
    ]

    @Test(
        "in no form of output, of no command",
        arguments: [[], ["--json"], ["-o", "jsonl"], ["-o", "tsv"], ["-o", "null"], ["-vv"]])
    func answers(_ form: [String]) throws {
        for command in Self.commands {
            let terminal = try run(
                form + command, answer: [["jsonrpc": "2.0", "id": 1, "result": .object(Self.document)]])
            #expect(harm(in: terminal.seen) == [], "\(form) \(command)")
            #expect(
                form == ["-o", "null"] || command == ["ping"] || terminal.text.contains(#"\u"#),
                "\(command) showed \(terminal.text)")
        }
    }

    @Test("JSON on a terminal means what it means in a pipe")
    func exactJSON() throws {
        let terminal = try run(
            ["--json", "roster", "list"], answer: [["jsonrpc": "2.0", "id": 1, "result": .object(Self.document)]])
        #expect(try JSONReader.read(terminal.text.replacing("\r\n", with: "\n").utf8) == .object(Self.document))
    }

    @Test("nor in events", arguments: [[], ["--json"], ["-o", "tsv"], ["-o", "null"]])
    func listen(_ form: [String]) throws {
        let events = Self.events
        let notes = events.map { event -> JSONValue in
            ["jsonrpc": "2.0", "method": "event", "params": ["request": 1, "event": event]]
        }
        // That something is missing is not counted.
        let count = events.count { $0["type"] != "gap" }
        let terminal = try run(form + ["listen", "--count", "\(count)"], answer: notes)
        #expect(harm(in: terminal.seen) == [])
        #expect(terminal.seen.count > 1_000)
    }

    @Test("nor in errors, nor in a prompt", arguments: [[], ["--json"], ["-vv"]])
    func errors(_ form: [String]) throws {
        for code in ["refused", "password-needed"] {
            let terminal = try run(
                form + ["--no-ask", "ping"],
                answer: [
                    [
                        "jsonrpc": "2.0", "id": 1,
                        "error": [
                            "code": -32000, "message": .string(Self.all),
                            "data": ["code": .string(code), "exit": 2, "account": .string(Self.all)],
                        ],
                    ]
                ])
            #expect(harm(in: terminal.seen) == [], "\(code)")
            #expect(terminal.text.contains(#"\u"#))
        }
    }

    @Test("nor when words of the command line are shown again")
    func words() throws {
        for words in [
            [Self.all], ["send", Self.all, "x"], ["--account", Self.all, "ping"], ["-o", Self.all, "ping"],
        ] {
            let answer: JSONValue = [
                "jsonrpc": "2.0", "id": 1,
                "error": ["code": -32000, "message": "no", "data": ["code": "refused", "exit": 2]],
            ]
            #expect(harm(in: try run(words, answer: [answer]).seen) == [])
        }
    }

    // MARK: Contacts and servers

    @Test("from roster, presence, programs, messages, errors and the log, through the real daemon")
    func realDaemon() async throws {
        let texts = Self.texts.filter { $0.unicodeScalars.allSatisfy(isXML) }
        let server = try await LoopbackServer.start(
            domain: "example.org", accounts: ["juliet": "secret", "nurse": "secret"])
        for (number, text) in texts.enumerated() {
            var presence = Presence()
            presence.status = text
            try await server.add(
                LoopbackBuddy("b\(number)", name: text, groups: [text], presence: presence, behaviors: []))
        }
        try await server.befriend("nurse", "juliet", name: texts.joined())
        let words = [
            "--no-daemon", "--no-ask", "--jid", "juliet@example.org", "--host", server.host, "--port", "\(server.port)",
            "--ca", server.certificateAuthorityFile, "-vv",
        ]
        let variables = folder.variables([
            "JABBERCTL_PASSWORD": "secret", "NO_COLOR": "1",
            "JABBERCTLD": OwnProgram.neighbour("jabberctld"),
        ])
        var configuration = try await server.configuration(for: "nurse", resource: "kitchen")
        configuration.software = SoftwareIdentity(
            name: texts.joined(), version: texts.joined(), operatingSystem: texts.joined())
        let nurse = XMPPStream(configuration)
        try await nurse.connect()
        try await nurse.goOnline()
        for command in [
            ["online"], ["online", "--resources"], ["online", "--json"], ["roster", "list"],
            ["version-of", "nurse@example.org/kitchen"], ["disco", "nurse@example.org/kitchen"],
        ] {
            let terminal = try PseudoTerminal([ProcessTests.program] + words + command, variables: variables)
            let code = try terminal.finish()
            #expect(code == 0, "\(command): \(terminal.text)")
            #expect(harm(in: terminal.seen) == [], "\(command)")
            #expect(terminal.text.contains(#"\u{202e}"#) || terminal.text.contains(#"\u{85}"#), "\(command)")
        }
        await nurse.disconnect()
        await server.stop()
    }

    /// What a terminal must not get of what was written to it, as code points.
    func harm(in bytes: [UInt8]) -> [String] {
        guard let text = String(validating: bytes, as: UTF8.self) else { return ["no UTF-8"] }
        let scalars = Array(text.unicodeScalars)
        return scalars.indices.compactMap { index in
            let scalar = scalars[index]
            switch scalar {
            case "\n", "\t", "\0": return nil
            // The terminal itself puts it before each line feed.
            case "\r" where index + 1 < scalars.count && scalars[index + 1] == "\n": return nil
            // Between two people it makes a couple; after a heart it chooses the picture.
            case "\u{200D}" where index > 0 && scalars[index - 1] == "👨": return nil
            case "\u{FE0F}" where index > 0 && scalars[index - 1] == "\u{2764}": return nil
            default: break
            }
            let isHarmful =
                switch scalar.properties.generalCategory {
                case .control, .format, .privateUse, .unassigned, .surrogate, .lineSeparator, .paragraphSeparator: true
                default: scalar.properties.isDefaultIgnorableCodePoint
                }
            return isHarmful ? String(scalar.value, radix: 16) : nil
        }
    }

    /// Whether XML 1.0 can hold a character (§2.2); what it cannot hold, no server can send.
    private func isXML(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value >= 0x20 && scalar.value & 0xFFFE != 0xFFFE || scalar == "\n" || scalar == "\t"
    }
}
