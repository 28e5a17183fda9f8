// SPDX-License-Identifier: Apache-2.0

import JabberControl
import SocketIO
import Testing
import XMPPTestSupport

@testable import JabberCLI

@Suite("Commands of one request", .timeLimit(.minutes(5)))
struct SimpleCommandTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var words: String
        var params: JSONObject
        var result: JSONObject
        var output: String
        var code: Int32 = 0
        var testDescription: String { words }
    }

    static let contact: JSONValue = [
        "jid": "bob@example.org", "name": "Bob", "groups": ["Work", "Old"], "subscription": "to", "ask": "subscribe",
    ]
    static let rosterLine = "bob@example.org\tBob\tto\tsubscribe\tWork,Old\n"

    static let rows: [Row] = [
        Row(
            words: "presence show bob@example.org", params: ["jid": "bob@example.org"],
            result: [
                "jid": "bob@example.org", "online": true, "show": "dnd", "status": "busy", "priority": 1,
                "resources": [["resource": "desk"]],
            ],
            output: "bob@example.org\tdnd\tbusy\t1\t\tdesk\n"),
        Row(
            words: "presence show --exit-code bob@example.org", params: ["jid": "bob@example.org"],
            result: ["jid": "bob@example.org", "online": false, "show": "offline"],
            output: "bob@example.org\toffline\t\t\t\t\n", code: 1),
        Row(
            words: "presence show", params: [:],
            result: ["jid": "me@example.org", "online": true, "show": "available"],
            output: "me@example.org\tavailable\t\t\t\t\n"),
        Row(
            words: "presence set away -s lunch -p 3 --to bob@example.org",
            params: ["show": "away", "status": "lunch", "priority": 3, "to": "bob@example.org"],
            result: ["show": "away", "status": "lunch"], output: "away\tlunch\n"),
        Row(
            words: "roster list --group Work", params: ["group": "Work"], result: ["contacts": [contact]],
            output: rosterLine),
        Row(
            words: "roster show bob@example.org", params: ["jid": "bob@example.org"], result: ["contact": contact],
            output: rosterLine.dropLast() + "\t\t\t\t\t\n"),
        Row(
            words: "roster add bob@example.org --name Bob --group Work --group Old --no-subscribe",
            params: ["jid": "bob@example.org", "name": "Bob", "group": ["Work", "Old"], "noSubscribe": true],
            result: ["contact": contact], output: rosterLine),
        Row(
            words: "roster rename bob@example.org Bobby", params: ["jid": "bob@example.org", "name": "Bobby"],
            result: ["contact": contact], output: rosterLine),
        Row(
            words: "roster group bob@example.org A B", params: ["jid": "bob@example.org", "group": ["A", "B"]],
            result: ["contact": contact], output: rosterLine),
        Row(
            words: "roster group bob@example.org --add A --remove B --remove C",
            params: ["jid": "bob@example.org", "add": ["A"], "remove": ["B", "C"]], result: ["contact": contact],
            output: rosterLine),
        Row(
            words: "roster remove bob@example.org", params: ["jid": "bob@example.org"],
            result: ["jid": "bob@example.org"], output: "bob@example.org\n"),
        Row(
            words: "sub request bob@example.org --text hello", params: ["jid": "bob@example.org", "text": "hello"],
            result: ["jid": "bob@example.org", "subscription": "none", "ask": "subscribe"],
            output: "bob@example.org\tnone\tsubscribe\n"),
        Row(
            words: "sub accept bob@example.org", params: ["jid": "bob@example.org"],
            result: ["jid": "bob@example.org", "subscription": "from"], output: "bob@example.org\tfrom\t\n"),
        Row(
            words: "sub deny bob@example.org", params: ["jid": "bob@example.org"],
            result: ["jid": "bob@example.org", "subscription": "none"], output: "bob@example.org\tnone\t\n"),
        Row(
            words: "sub cancel bob@example.org", params: ["jid": "bob@example.org"],
            result: ["jid": "bob@example.org", "subscription": "none"], output: "bob@example.org\tnone\t\n"),
        Row(
            words: "sub pending", params: [:],
            result: ["requests": [["jid": "eve@example.org", "text": "let me\nin", "at": "2026-01-02T03:04:05.678Z"]]],
            output: "eve@example.org\tlet me\\u{a}in\t2026-01-02T03:04:05.678Z\n"),
        Row(words: "sub pending --exit-code", params: [:], result: ["requests": []], output: "", code: 1),
        Row(
            words: "ping example.org --count 2", params: ["jid": "example.org", "count": 2],
            result: ["jid": "example.org", "roundTrips": [1.25, 2]], output: "example.org\t1.25\nexample.org\t2\n"),
        Row(
            words: "version-of bob@example.org/desk", params: ["jid": "bob@example.org/desk"],
            result: ["jid": "bob@example.org/desk", "name": "Gajim", "version": "1.8", "os": "Debian"],
            output: "Gajim\t1.8\tDebian\n"),
        Row(
            words: "room join coven@rooms.example.org --nick me --history 5",
            params: ["room": "coven@rooms.example.org", "nick": "me", "history": 5],
            result: [
                "room": "coven@rooms.example.org", "nick": "me", "role": "participant", "affiliation": "none",
                "occupants": 2,
            ],
            output: "coven@rooms.example.org\tme\tparticipant\tnone\t2\t\n"),
        Row(
            words: "room leave coven@rooms.example.org", params: ["room": "coven@rooms.example.org"],
            result: ["room": "coven@rooms.example.org"], output: "coven@rooms.example.org\n"),
        Row(
            words: "room list", params: [:],
            result: ["rooms": [["room": "coven@rooms.example.org", "nick": "me", "occupants": 2, "subject": "Hags"]]],
            output: "coven@rooms.example.org\t\tme\t2\tHags\n"),
        Row(
            words: "room who coven@rooms.example.org", params: ["room": "coven@rooms.example.org"],
            result: ["occupants": [["nick": "hag", "show": "away", "role": "moderator", "affiliation": "owner"]]],
            output: "hag\taway\tmoderator\towner\t\t\n"),
        Row(
            words: "room topic coven@rooms.example.org Hags",
            params: ["room": "coven@rooms.example.org", "text": "Hags"],
            result: ["subject": "Hags"], output: "Hags\n"),
        Row(
            words: "room invite coven@rooms.example.org bob@example.org --reason Come",
            params: ["room": "coven@rooms.example.org", "jid": "bob@example.org", "reason": "Come"],
            result: ["jid": "bob@example.org"], output: "bob@example.org\n"),
        Row(
            words: "room nick coven@rooms.example.org hag",
            params: ["room": "coven@rooms.example.org", "nickname": "hag"], result: ["nick": "hag"], output: "hag\n"),
        Row(
            words: "room kick coven@rooms.example.org hag",
            params: ["room": "coven@rooms.example.org", "nickname": "hag"],
            result: ["nick": "hag", "role": "none"], output: "hag\tnone\n"),
        Row(
            words: "room role coven@rooms.example.org hag visitor",
            params: ["room": "coven@rooms.example.org", "nickname": "hag", "role": "visitor"],
            result: ["nick": "hag", "role": "visitor"], output: "hag\tvisitor\n"),
        Row(
            words: "room ban coven@rooms.example.org eve@example.org",
            params: ["room": "coven@rooms.example.org", "jid": "eve@example.org"],
            result: ["jid": "eve@example.org", "affiliation": "outcast"], output: "eve@example.org\toutcast\n"),
        Row(
            words: "room affiliation coven@rooms.example.org owner",
            params: ["room": "coven@rooms.example.org", "affiliation": "owner"],
            result: ["members": [["jid": "hag@example.org", "affiliation": "owner"]]],
            output: "hag@example.org\towner\t\n"),
        Row(
            words: "room config coven@rooms.example.org --set a=1",
            params: ["room": "coven@rooms.example.org", "set": ["a=1"]],
            result: [
                "form": ["kind": "form", "fields": [["name": "a", "type": "boolean", "label": "A", "values": ["1"]]]]
            ],
            output: "question\ta\t1\tA\n"),
        Row(
            words: "room info coven@rooms.example.org", params: ["room": "coven@rooms.example.org"],
            result: ["name": "Coven", "features": ["x"]], output: "note\tname\tCoven\t\n"),
        Row(
            words: "typing bob@example.org on", params: ["jid": "bob@example.org", "state": "on"],
            result: ["jid": "bob@example.org", "state": "composing"], output: "bob@example.org\tcomposing\n"),
        Row(
            words: "block list", params: [:], result: ["blocked": ["eve@example.org", "evil.example"]],
            output: "eve@example.org\nevil.example\n"),
        Row(
            words: "block add eve@example.org --report spam --text again",
            params: ["jid": "eve@example.org", "report": "spam", "text": "again"],
            result: ["jid": "eve@example.org", "blocked": true], output: "eve@example.org\ttrue\n"),
        Row(
            words: "block remove eve@example.org", params: ["jid": "eve@example.org"],
            result: ["jid": "eve@example.org", "blocked": false], output: "eve@example.org\tfalse\n"),
        Row(
            words: "react bob@example.org m1 👍 🐢",
            params: ["jid": "bob@example.org", "id": "m1", "emoji": ["👍", "🐢"]],
            result: ["results": [["to": "bob@example.org", "id": "r1", "state": "server"]]],
            output: "server\tbob@example.org\tr1\t\n"),
        Row(
            words: "retract bob@example.org m1", params: ["jid": "bob@example.org", "id": "m1"],
            result: ["results": [["to": "bob@example.org", "id": "r1", "state": "failed"]]],
            output: "failed\tbob@example.org\tr1\t\n", code: 2),
        Row(
            words: "time bob@example.org/desk", params: ["jid": "bob@example.org/desk"],
            result: ["jid": "bob@example.org/desk", "time": "2026-01-02T03:04:05.678Z", "zone": "+01:00"],
            output: "2026-01-02T03:04:05.678Z\t+01:00\n"),
        Row(
            words: "last bob@example.org", params: ["jid": "bob@example.org"],
            result: ["jid": "bob@example.org", "seconds": 903, "status": "gone"], output: "903\tgone\n"),
        Row(
            words: "adhoc list", params: [:],
            result: ["commands": [["node": "uptime", "name": "Get uptime"]]], output: "uptime\tGet uptime\n"),
        Row(
            words: "adhoc run example.org add --field name=x --field list=a --field list=b",
            params: ["jid": "example.org", "node": "add", "field": ["name=x", "list=a", "list=b"]],
            result: [
                "status": "completed", "notes": [["type": "info", "text": "done"]],
                "form": [
                    "kind": "result",
                    "fields": [["name": "n", "type": "text-single", "label": "N", "values": ["1", "2"]]],
                    "columns": ["A", "B"], "rows": [["x", "y"]],
                ],
            ],
            output: "note\tinfo\tdone\t\nfield\tn\t1,2\tN\nrow\t\tx | y\t\n"),
        Row(
            words: "adhoc run example.org add", params: ["jid": "example.org", "node": "add"],
            result: [
                "status": "executing",
                "form": [
                    "kind": "form",
                    "fields": [
                        ["name": "n", "type": "text-single", "required": true, "values": []],
                        ["type": "fixed", "values": ["Hi"]],
                    ],
                ],
            ],
            output: "required\tn\t\t\nfield\t\tHi\t\n"),
        Row(
            words: "disco example.org --node n --items", params: ["jid": "example.org", "node": "n", "items": true],
            result: [
                "identities": [["category": "server", "type": "im", "name": "Prosody"]], "features": ["urn:xmpp:ping"],
                "items": [["jid": "conference.example.org", "name": "Rooms"]],
            ],
            output: "identity\tserver/im\tProsody\nfeature\turn:xmpp:ping\t\nitem\tconference.example.org\tRooms\n"),
        Row(
            words: "diag example.org", params: ["target": "example.org"],
            result: [
                "target": "example.org", "ok": false,
                "steps": [
                    ["step": "srv", "state": "ok", "milliseconds": 3, "detail": "2 records"],
                    ["step": "tls", "state": "failed", "detail": "expired"],
                ],
                "error": ["code": "certificate", "message": "the certificate has expired"],
            ],
            output: "step\tsrv\tok\t3\t2 records\nstep\ttls\tfailed\t\texpired\n", code: 76),
        Row(
            words: "raw <presence/> --force", params: ["xml": "<presence/>", "force": true],
            result: ["sent": "<presence/>"],
            output: ""),
        Row(
            words: "raw -", params: ["xml": "<iq type='get'/>"], result: ["sent": "…", "reply": "<iq type='result'/>"],
            output: "<iq type='result'/>\n"),
    ]

    @Test(
        "what the daemon says of a parameter is said of the option or the argument that was typed",
        arguments: [
            (["history", "a@b", "--since", "x"], "since", "--since must be a time"),
            (["history", "a@b"], "jid", "JID must be a time"),
            (["history", "a@b"], "other", "\"other\" must be a time"),
        ])
    func parameters(words: [String], name: String, said: String) async {
        let error = ControlError(.badParameters, "\"\(name)\" must be a time")
        let run = await jabberctl(words, daemon: FakeDaemon("history", failing: error), in: Surroundings())
        #expect(run.code == 64 && run.errors == "jabberctl: \(said)\n", "\(run)")
    }

    @Test("each command asks what the table says and shows what comes back", arguments: rows)
    func row(_ row: Row) async throws {
        let words = row.words.split(separator: " ").map(String.init)
        let method = try #require(JabberCLI.CommandLine(words, variables: [:]).command?.method)
        let run = await jabberctl(
            words, daemon: FakeDaemon(method, .object(row.result)), in: Surroundings(input: ["<iq type='get'/>\n"]))
        #expect(run.output == row.output && run.code == row.code)
        var params = row.params
        params["timeout"] = 30.0
        #expect(run.asked.map(\.params) == [params])
        let json = await jabberctl(
            words + ["--json"], daemon: FakeDaemon(method, .object(row.result)),
            in: Surroundings(input: ["<iq type='get'/>\n"]))
        #expect(json.output == JSONValue.object(row.result).text + "\n")
    }

    @Test(
        "on a terminal an empty list is a sentence on standard error, and no table",
        arguments: [
            ("sub pending", ["requests": []], "no request waits for your answer"),
            ("roster list", ["contacts": []], "there is no contact"),
        ] as [(String, JSONValue, String)])
    func emptiness(_ words: String, _ result: JSONValue, _ note: String) async {
        let words = words.split(separator: " ").map(String.init)
        let daemon = FakeDaemon(words.joined(separator: "."), result)
        let run = await jabberctl(words, daemon: daemon, in: Surroundings(isTerminal: true))
        #expect(run.output.isEmpty && run.errors == "jabberctl: \(note)\n" && run.code == 0)
        let piped = await jabberctl(words, daemon: FakeDaemon(words.joined(separator: "."), result))
        #expect(piped.output.isEmpty && piped.errors.isEmpty)
    }

    @Test(
        "a person is told that a presence ends with the command when no daemon runs",
        arguments: [
            (["--no-daemon"], true), ([], false), (["--no-daemon", "--to", "bob@example.org"], false),
        ] as [([String], Bool)])
    func presenceEnds(_ options: [String], _ isTold: Bool) async {
        let run = await jabberctl(
            ["presence", "set", "away"] + options, daemon: FakeDaemon("presence.set", ["show": "away"]),
            in: Surroundings(isTerminal: true))
        #expect(run.errors.contains("has ended with the command") == isTold)
    }

    @Test(
        "a person is told that nothing was reported where the server takes no reports (XEP-0377)",
        arguments: [(["reported": false], true), (["reported": true], false), ([:], false)] as [(JSONObject, Bool)])
    func reports(_ result: JSONObject, _ isTold: Bool) async {
        let run = await jabberctl("block", "add", "eve@example.org", daemon: FakeDaemon("block.add", .object(result)))
        #expect(run.code == 0 && run.errors.contains("nothing was reported") == isTold)
    }

    @Test("every method of the table can be shown")
    func everyMethod() {
        let shown = Set(MethodTable.commands.filter { SimpleCommands.records(of: $0.method, [:]) != nil }.map(\.method))
        let daemons = Set(MethodTable.commands.filter { $0.place == .daemon }.map(\.method))
        #expect(shown.union(["account.register", "online", "send", "react", "retract"]) == daemons)
    }

    @Test(
        "an error of the daemon is one line on standard error and its exit code",
        arguments: [
            (ControlErrorCode.authRefused, 77), (.hostNotFound, 68), (.serviceUnavailable, 69), (.certificate, 76),
            (.tlsRequired, 76), (.badJID, 65), (.refused, 2), (.timedOut, 5), (.permissions, 78), (.temporary, 75),
            (.contactNotFound, 4), (.notConnected, 3), (.internalError, 70),
        ] as [(ControlErrorCode, Int32)])
    func errors(_ code: ControlErrorCode, _ exit: Int32) async {
        let error = ControlError(code, "it is so\u{1B}[2J\nreally", account: "me@example.org")
        let run = await jabberctl("ping", daemon: FakeDaemon("ping", failing: error))
        #expect(run.code == exit && run.output.isEmpty)
        #expect(run.errors == "jabberctl: it is so\\u{1b}[2J\n    really\n")
    }

    @Test("with --json an error is the object of the contract, on standard error")
    func jsonError() async {
        let error = ControlError(
            .authRefused, "SCRAM-SHA-1: refused",
            stanza: ["type": "auth", "condition": "not-authorized"], account: "me@example.org")
        let run = await jabberctl("ping", "--json", daemon: FakeDaemon("ping", failing: error))
        #expect(run.output.isEmpty && run.code == 77)
        #expect(
            run.errors
                == #"{"api":1,"error":{"code":"auth-refused","exit":77,"message":"SCRAM-SHA-1: refused","retry":false,"#
                + #""stanza":{"type":"auth","condition":"not-authorized"},"account":"me@example.org"}}"# + "\n")
    }

    @Test(
        "an output version that is not spoken is refused",
        arguments: [("0", 20), ("2", 21), ("1", 0)] as [(String, Int32)])
    func api(_ version: String, _ code: Int32) async {
        let daemon = FakeDaemon("ping", ["roundTrips": []])
        #expect(await jabberctl("ping", "--api", version, daemon: daemon).code == code)
    }

    @Test("a daemon of another time is refused")
    func greeting() async {
        let newer = FakeDaemon([:], greeting: ControlGreeting(version: "9", api: 7...9, instance: "x"))
        #expect(await jabberctl("ping", daemon: newer).code == 20)
    }

    @Test(
        "what asks the running daemon takes no other settings, and says so",
        arguments: ["status", "daemon info", "connect"],
        [
            ["--config", "x.json"], ["--host", "h"], ["--port", "1"], ["--tls", "direct"], ["--ca", "x.pem"],
            ["--host-meta", "never"], ["--proxy", "socks5://h:1"], ["--trust", "dane"],
            ["--pin", String(repeating: "ab", count: 32)],
        ])
    func settingsOfItsOwn(_ command: String, _ option: [String]) async {
        let run = await jabberctl(command.split(separator: " ").map(String.init) + option)
        #expect(run.code == 64 && run.errors.contains("leave \(option[0]) out") && run.asked.isEmpty, "\(run)")
    }

    @Test("what the environment sets for other commands does not concern the running daemon, but for the account")
    func environmentOfOthers() async {
        let variables = [
            "JABBERCTL_HOST": "h", "JABBERCTL_PORT": "1", "JABBERCTL_TLS": "direct", "JABBERCTL_TRUST": "dane",
            "JABBERCTL_ACCOUNT": "work",
        ]
        let run = await jabberctl(
            "reconnect", daemon: FakeDaemon("reconnect", ["account": "work", "connection": "connected"]),
            in: Surroundings(variables: variables))
        #expect(run.code == 0 && run.asked.first?.params["session"] == ["account": "work"], "\(run)")
        #expect(run.choice?.isPrivate == false)
    }

    @Test("a daemon that never answers costs no more than --timeout")
    func silent() async {
        let run = await jabberctl(
            "ping", "--timeout", "0.05", daemon: FakeDaemon("ping", events: []),
            in: Surroundings(clock: SystemClock()))
        #expect(run.code == 5 && run.errors.contains("--timeout"))
    }

    @Test(
        "no long farewell is said to a daemon that took all the time there was, whatever it says",
        arguments: [20, 29.5])
    func farewell(seconds: Double) async {
        let clock = TestClock()
        let daemon = FakeDaemon([
            "ping": { (_, _) async throws(ControlError) in
                await clock.advance(by: .seconds(seconds))
                return ["jid": "example.org", "milliseconds": 1]
            }
        ])
        _ = await jabberctl("ping", "example.org", daemon: daemon, in: Surroundings(clock: clock))
        #expect(daemon.farewells.withLock { $0 } == [seconds > 29])
    }

    @Test("an answer that is longer than a line of the protocol comes whole: a room with tens of thousands in it")
    func longAnswer() async {
        let occupants = (0..<15_000).map { number -> JSONValue in
            ["nick": .string("hag \(number)"), "show": "available", "role": "participant", "affiliation": "none"]
        }
        let daemon = FakeDaemon("room.who", ["occupants": .array(occupants)])
        let run = await jabberctl("room", "who", "coven@rooms.example.org", daemon: daemon)
        #expect(run.code == 0 && run.lines.count == 15_000 && run.lines.last?.hasPrefix("hag 14999\t") == true)
    }
}
