// SPDX-License-Identifier: Apache-2.0

import JabberControl
import Testing

@testable import JabberCLI

@Suite("jabberctl online", .timeLimit(.minutes(5)))
struct OnlineTests {
    static let bob: JSONValue = [
        "jid": "bob@example.org", "name": "Bob", "groups": ["Work"], "subscription": "both", "online": true,
        "show": "away", "status": "lunch\u{1B}[2J", "priority": 5, "since": "2026-01-02T03:04:05.678Z",
        "resources": [
            ["resource": "phone", "show": "away", "priority": 5, "status": "lunch"],
            ["resource": "desk", "show": "xa", "priority": 0, "client": "Gajim"],
        ],
    ]
    static let eve: JSONValue = [
        "jid": "eve@example.org", "groups": [], "online": true, "show": "dnd", "resources": [],
    ]

    static func list(_ contacts: JSONValue...) -> JSONValue {
        ["api": 1, "account": "me@example.org", "contacts": .array(contacts)]
    }

    @Test("in a pipe: tab-separated, without header, foreign text escaped", arguments: ["online", "buddies", "who"])
    func pipe(_ command: String) async {
        let run = await jabberctl(command, daemon: FakeDaemon("online", Self.list(Self.bob, Self.eve)))
        #expect(run.code == 0 && run.errors.isEmpty)
        #expect(
            run.output == """
                away\tBob\tbob@example.org\tphone,desk\tlunch\\u{1b}[2J\t2026-01-02T03:04:05.678Z
                dnd\t\teve@example.org\t\t\t

                """)
        #expect(run.asked.map(\.method) == ["online"])
        #expect(run.asked.first?.params == ["timeout": 30.0])
    }

    @Test("on a terminal: an aligned table that fits")
    func terminal() async {
        let run = await jabberctl(
            "online", "--color", "never", daemon: FakeDaemon("online", Self.list(Self.bob, Self.eve)),
            in: Surroundings(isTerminal: true, width: 120))
        #expect(
            run.output == """
                STATE  NAME  JID              RESOURCES   STATUS          SINCE
                away   Bob   bob@example.org  phone,desk  lunch\\u{1b}[2J  2026-01-02T03:04:05.678Z
                dnd          eve@example.org

                """)
        let narrow = await jabberctl(
            "online", "--color=never", daemon: FakeDaemon("online", Self.list(Self.bob)),
            in: Surroundings(isTerminal: true, width: 60))
        for line in narrow.lines { #expect(TerminalText.width(of: line) <= 60) }
    }

    @Test("colours follow --color and NO_COLOR")
    func colours() async {
        let daemon = FakeDaemon("online", Self.list(Self.eve))
        let terminal = Surroundings(isTerminal: true)
        #expect(await jabberctl("online", daemon: daemon, in: terminal).output.contains("\u{1B}[31mdnd\u{1B}[0m"))
        var plain = terminal
        plain.variables = ["NO_COLOR": "1"]
        #expect(await !jabberctl("online", daemon: daemon, in: plain).output.contains("\u{1B}"))
        #expect(await jabberctl("online", "--color=always", daemon: daemon, in: plain).output.contains("\u{1B}"))
    }

    @Test("JSON is the daemon's document, to the letter")
    func json() async {
        let list = Self.list(Self.bob, Self.eve)
        #expect(await jabberctl("online", "--json", daemon: FakeDaemon("online", list)).output == list.text + "\n")
        let narrow = await jabberctl("online", "--json", "-f", "jid,show", daemon: FakeDaemon("online", list))
        #expect(
            narrow.output
                == #"{"api":1,"account":"me@example.org","contacts":[{"jid":"bob@example.org","show":"away"},"#
                + #"{"jid":"eve@example.org","show":"dnd"}]}"# + "\n")
        let lines = await jabberctl("online", "-o", "jsonl", "-f", "jid", daemon: FakeDaemon("online", list))
        #expect(lines.lines.first == #"{"api":1,"account":"me@example.org","jid":"bob@example.org"}"#)
    }

    @Test("fields, bare values and NUL-terminated values can be chosen")
    func fields() async {
        let daemon = FakeDaemon("online", Self.list(Self.bob, Self.eve))
        #expect(await jabberctl("online", "-g", "jid", daemon: daemon).output == "bob@example.org\neve@example.org\n")
        #expect(
            await jabberctl("online", "-f", "jid,groups", daemon: daemon).output
                == "bob@example.org\tWork\neve@example.org\t\n")
        #expect(await jabberctl("online", "-o", "null", "-g", "status", daemon: daemon).output == "lunch\u{1B}[2J\0")
        #expect(await jabberctl("online", "-g", "status", daemon: daemon).output == "lunch\\u{1b}[2J\n")
        #expect(await jabberctl("online", "-q", daemon: daemon).output == "")
    }

    @Test("each resource has a line of its own with --resources")
    func resources() async {
        let run = await jabberctl("online", "--resources", daemon: FakeDaemon("online", Self.list(Self.bob)))
        #expect(
            run.output
                == "away\tBob\tbob@example.org\tphone\t5\tlunch\t\t\nxa\tBob\tbob@example.org\tdesk\t0\t\tGajim\t\n")
    }

    @Test("nobody online is an empty list; a \"no\" only when asked")
    func nobody() async {
        let daemon = FakeDaemon("online", Self.list())
        let run = await jabberctl("online", daemon: daemon)
        #expect(run.code == 0 && run.output.isEmpty)
        #expect(await jabberctl("online", "--exit-code", daemon: daemon).code == 1)
        #expect(await jabberctl("online", "-q", daemon: daemon).code == 1)
        let offline = FakeDaemon("online", Self.list(["jid": "a@b", "online": false, "show": "offline"]))
        #expect(await jabberctl("online", "--all", "--exit-code", daemon: offline).code == 1)
    }

    @Test("options travel as parameters, global ones as the session")
    func parameters() async throws {
        let folder = try TestFolder()
        try folder.write("-----BEGIN CERTIFICATE-----\n", to: "ca.pem")
        let run = await jabberctl(
            "--jid", "me@example.org", "online", "--group", "Work", "--all", "--settle=0", "--host=127.0.0.1", "--port",
            "5222",
            "--tls", "starttls", "--proxy", "socks5://me@h:1", "--host-meta", "never", "--ca", "ca.pem", "--timeout",
            "61.5",
            daemon: FakeDaemon("online", Self.list()), in: Surroundings(home: folder.path))
        #expect(
            run.asked.first?.params == [
                "group": "Work", "all": true, "settle": 0, "timeout": 61.5,
                "session": [
                    "jid": "me@example.org", "host": "127.0.0.1", "port": 5222, "tls": "starttls",
                    "proxy": "socks5://me@h:1", "hostMeta": "never", "ca": .string(folder.path + "/ca.pem"),
                ],
            ])
        #expect(run.choice == DaemonChoice(socket: nil, isPrivate: true, verbosity: 0))
    }

    @Test("--watch shows what changes in a pipe and redraws on a terminal")
    func watch() async {
        // The pipe breaks off after the last event: the daemon ends its side.
        func daemon() -> FakeDaemon {
            FakeDaemon([
                "online": { (request, session) throws(ControlError) in
                    session.notify(Self.list(Self.bob), of: request.id)
                    session.notify(Self.list(Self.bob, Self.eve), of: request.id)
                    session.notify(Self.list(Self.eve), of: request.id)
                    return ["api": 1]
                }
            ])
        }
        let run = await jabberctl("online", "--watch", "-f", "show,jid", daemon: daemon())
        #expect(run.output == "away\tbob@example.org\ndnd\teve@example.org\noffline\tbob@example.org\n")
        let screen = await jabberctl(
            "online", "--watch", "-f", "jid", "--color=never", daemon: daemon(), in: Surroundings(isTerminal: true))
        #expect(
            screen.output == "JID\nbob@example.org\n\u{1B}[2A\r\u{1B}[JJID\nbob@example.org\neve@example.org\n"
                + "\u{1B}[3A\r\u{1B}[JJID\neve@example.org\n")
        let json = await jabberctl("online", "--watch", "--json", daemon: daemon())
        #expect(json.lines.count == 3 && json.lines.last == Self.list(Self.eve).text)
        #expect(json.asked.first?.params == ["watch": true])
    }

    @Test("--watch draws no more lines than the terminal has, so that it can go back to the first")
    func tallList() async {
        let contacts = (1...9).map { number -> JSONValue in
            ["jid": .string("c\(number)@example.org"), "online": true, "show": "available", "resources": []]
        }
        let run = await jabberctl(
            "online", "--watch", "-f", "jid", "--color=never",
            daemon: FakeDaemon([
                "online": { (request, session) throws(ControlError) in
                    for count in [9, 2] {
                        session.notify(Self.list(array: Array(contacts.prefix(count))), of: request.id)
                    }
                    throw ControlError(.conflict, "end")
                }
            ]), in: Surroundings(isTerminal: true, rows: 5))
        #expect(
            run.output
                == "JID\nc1@example.org\nc2@example.org\n… and 7 more\n\u{1B}[4A\r\u{1B}[JJID\nc1@example.org\nc2@example.org\n"
        )
    }

    private static func list(array contacts: [JSONValue]) -> JSONValue {
        ["api": 1, "account": "me@example.org", "contacts": .array(contacts)]
    }
}
