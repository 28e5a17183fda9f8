// SPDX-License-Identifier: Apache-2.0

import JabberControl
import SocketIO
import Testing

@testable import JabberCLI

@Suite("jabberctl account register, passwd --at-server, remove --from-server")
struct RegisterTests {
    let folder: TestFolder

    init() throws {
        folder = try TestFolder()
    }

    private let file = ".config/jabberctl/accounts/romeo@example.org.json"

    private static func field(_ name: String, _ more: JSONObject = [:]) -> JSONValue {
        var field: JSONObject = ["name": .string(name), "type": "text-single", "values": []]
        for entry in more.entries { field[entry.key] = entry.value }
        return .object(field)
    }

    private static let usual = [
        field("username", ["required": true]), field("password", ["type": "text-private", "required": true]),
    ]

    /// A daemon whose server asks this, and that ends with these errors before it makes an account.
    private static func daemon(
        _ fields: [JSONValue] = usual, username: String? = nil, failing errors: [ControlError] = []
    ) -> FakeDaemon {
        let rest = Locked(errors)
        return FakeDaemon([
            "account.register": { (request, _) throws(ControlError) in
                guard request.params["submit"] == true else {
                    return .object(
                        JSONObject(present: [
                            "api": 1, "status": "asking", "domain": "example.org", "registration": "r1",
                            "username": username.map(JSONValue.string),
                            "form": [
                                "kind": "form", "title": "Hello", "instructions": ["Be nice."],
                                "fields": .array(fields),
                            ],
                        ]))
                }
                if let error = rest.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { throw error }
                let lines = request.params["field"]?.stringsValue ?? []
                let name = username ?? lines.last { $0.hasPrefix("username=") }.map { String($0.dropFirst(9)) } ?? "?"
                return [
                    "api": 1, "status": "registered", "domain": "example.org", "jid": .string("\(name)@example.org"),
                ]
            }
        ])
    }

    private func run(
        _ words: [String], _ daemon: FakeDaemon, typed: [String] = [], passwords: [String] = [],
        descriptors: [Int32: String] = [:]
    ) async -> CommandRun {
        await jabberctl(
            ["account", "register"] + words, daemon: daemon,
            in: Surroundings(home: folder.path, passwords: passwords, typed: typed, descriptors: descriptors))
    }

    @Test("what is missing is asked on the terminal, the password twice, and the account is stored and the default one")
    func asking() async {
        let fields =
            Self.usual + [Self.field("email", ["required": true, "label": "E\u{1B}mail"]), Self.field("nick")]
        let ran = await run(
            ["example.org", "--host", "10.0.0.1"], Self.daemon(fields), typed: ["romeo", "r@example.net"],
            passwords: ["orchard", "orchard"])
        #expect(ran.code == 0, "\(ran)")
        #expect(ran.output == "registered\tromeo@example.org\tromeo@example.org\n")
        #expect(ran.errors.contains("Be nice.") && ran.errors.contains(#"email (E\u{1b}mail): "#), "\(ran.errors)")
        #expect(!ran.errors.contains("nick"), "what may be left out is")
        let sent = ran.asked.last
        #expect(sent?.params["field"] == ["username=romeo", "email=r@example.net"])
        #expect(sent?.params["password"] == "orchard" && sent?.params["registration"] == "r1")
        #expect(folder.text(file).contains("\"password\": \"orchard\"") && folder.text(file).contains("10.0.0.1"))
        #expect(folder.mode(file) == 0o600)
        let list = await jabberctl("account", "list", "-g", "default", in: Surroundings(home: folder.path))
        #expect(list.output == "true\n")
    }

    @Test("with --no-ask what is missing is named with exit code 65, and --field and --generate say it")
    func scripts() async throws {
        let fields =
            Self.usual + [
                Self.field("email", ["required": true]),
                Self.field(
                    "ocr", ["required": true, "media": [["uri": "http://example.org/a.png", "type": "image/png"]]]),
            ]
        let missing = await run(["example.org", "--no-ask", "--field", "username=romeo"], Self.daemon(fields))
        #expect(missing.code == 65 && missing.errors.contains("--field email=VALUE"), "\(missing.errors)")
        #expect(missing.errors.contains("missing: ocr (look at http://example.org/a.png)"))
        #expect(missing.asked.count == 1 && folder.text(file).isEmpty)
        let words = [
            "example.org", "--no-ask", "--field", "username=romeo", "--field", "email=a=b", "--field", "ocr=x",
            "--generate", "--name", "mine",
        ]
        let ran = await run(words, Self.daemon(fields))
        #expect(ran.code == 0, "\(ran)")
        let password = try #require(ran.asked.last?.params["password"]?.stringValue)
        #expect(password.utf8.count == 24 && !ran.output.contains(password) && !ran.errors.contains(password))
        #expect(folder.text(".config/jabberctl/accounts/mine.json").contains(password))
        let other = await run(words.map { $0 == "mine" ? "two" : $0 }, Self.daemon(fields))
        #expect(other.asked.last?.params["password"]?.stringValue != password)
    }

    @Test("a person is told what cannot be looked at, and what became of the password")
    func told() async {
        let media: JSONValue = [["uri": "cid:x", "type": "image/png", "problem": "it did not come along"]]
        let riddle = Self.field("ocr", ["required": true, "media": media])
        let words = ["example.org", "--field", "username=r", "--field", "ocr=x"]
        let made = await run(words + ["--generate", "--name", "a"], Self.daemon(Self.usual + [riddle]))
        #expect(made.errors.contains("for \"ocr\" cannot be shown: it did not come along"), "\(made)")
        #expect(made.errors.contains("a password was made up, and is stored with the account"))
        let given = await run(
            words + ["--password-fd", "3", "--name", "b"], Self.daemon(), descriptors: [3: "orchard\n"])
        #expect(
            given.errors.contains("the password is stored") && !given.errors.contains("cannot be shown"), "\(given)")
        let none = await run(words + ["--name", "c"], Self.daemon([Self.usual[0]]))
        #expect(none.errors.contains("none is stored") && none.errors.contains("account passwd c"), "\(none)")
        let json = await run(words + ["--generate", "--name", "d", "--json"], Self.daemon())
        #expect(json.errors.isEmpty && json.output.contains("\"passwordSource\":\"configuration\""), "\(json)")
    }

    @Test("an invitation with a name asks for the password alone, from a descriptor too, which is not the session's")
    func invited() async {
        let uri = "xmpp:romeo@example.org?register;preauth=T"
        let ran = await run(
            [uri, "--password-fd", "3", "--no-ask"], Self.daemon(username: "romeo"), descriptors: [3: "orchard\n"])
        #expect(ran.code == 0, "\(ran)")
        #expect(ran.asked.map(\.method) == ["account.register", "account.register"])
        #expect(ran.asked.first?.params["target"] == .string(uri) && ran.asked.first?.params["password"] == nil)
        #expect(ran.asked.last?.params["password"] == "orchard")
    }

    private static func refused(_ condition: String) -> ControlError {
        ControlError(.refused, "the name \"romeo\" is taken", stanza: ["condition": .string(condition)])
    }

    @Test("a person answers again what was not taken; a script, or one who has tried often enough, is told")
    func again() async {
        let ran = await run(
            ["example.org"], Self.daemon(failing: [Self.refused("conflict"), Self.refused("not-acceptable")]),
            typed: ["romeo", "tybalt", "romeo"], passwords: ["x", "x"])
        #expect(ran.code == 0 && ran.asked.last?.params["field"] == ["username=romeo"], "\(ran)")
        #expect(ran.errors.contains("is taken"))
        let riddle = Self.field("ocr", ["required": true, "media": [["uri": "http://e/x.png", "type": "image/png"]]])
        let solved = await run(
            ["example.org", "--name", "q"], Self.daemon(Self.usual + [riddle], failing: [Self.refused("conflict")]),
            typed: ["romeo", "one", "tybalt", "two"], passwords: ["x", "x"])
        #expect(solved.code == 0 && solved.asked.last?.params["field"] == ["username=tybalt", "ocr=two"], "\(solved)")
        let script = await run(
            ["example.org", "--no-ask", "--field", "username=r", "--generate", "--name", "n"],
            Self.daemon(failing: [Self.refused("conflict")]))
        #expect(script.code == 2 && script.asked.count == 2)
        let stubborn = await run(
            ["example.org", "--name", "o"], Self.daemon(failing: Array(repeating: Self.refused("conflict"), count: 9)),
            typed: Array(repeating: "r", count: 9), passwords: ["x", "x"])
        #expect(stubborn.code == 2 && stubborn.asked.filter { $0.params["submit"] == true }.count == 5)
        let final = await run(
            ["example.org", "--name", "p"], Self.daemon(failing: [Self.refused("resource-constraint")]), typed: ["r"],
            passwords: ["x", "x"])
        #expect(final.code == 2 && final.asked.count == 2, "nothing else would help")
    }

    @Test("what cannot be stored is refused before the server makes anything, and no password goes into an option")
    func early() async throws {
        try folder.write("{\"jid\": \"romeo@example.org\"}", to: file)
        let taken = await run(["romeo@example.org", "--generate"], Self.daemon(username: "romeo"))
        #expect(taken.code == 65 && taken.asked.allSatisfy { $0.params["submit"] != true }, "\(taken)")
        let named = await run(["example.org", "--name", "a b"], Self.daemon())
        #expect(named.code == 64 && named.asked.isEmpty)
        for line in ["password=x", "odd", "=x"] {
            let ran = await run(["example.org", "--field", line], Self.daemon())
            #expect(ran.code == 64 && ran.asked.isEmpty, "\(line)")
        }
    }

    @Test("a password is changed at the server first, then in the settings")
    func passwd() async throws {
        try folder.write("{\"jid\": \"romeo@example.org\", \"password\": \"old\"}", to: file)
        let words = ["account", "passwd", "romeo@example.org", "--at-server"]
        let daemon = FakeDaemon(MethodTable.changePasswordMethod, ["api": 1, "account": "romeo@example.org"])
        let ran = await jabberctl(
            words + ["--password-fd", "3"], daemon: daemon,
            in: Surroundings(home: folder.path, descriptors: [3: "new\n"]))
        #expect(ran.code == 0, "\(ran)")
        #expect(ran.asked.map(\.method) == [MethodTable.changePasswordMethod])
        #expect(ran.asked.first?.params["password"] == "new")
        #expect(ran.asked.first?.params["session"] == ["account": "romeo@example.org"])
        #expect(folder.text(file).contains("\"new\""))
        let refusing = FakeDaemon(MethodTable.changePasswordMethod, failing: ControlError(.refused, "no"))
        let not = await jabberctl(words + ["--generate"], daemon: refusing, in: Surroundings(home: folder.path))
        #expect(not.code == 2 && folder.text(file).contains("\"new\""))
        let local = await jabberctl("account", "passwd", "--generate", in: Surroundings(home: folder.path))
        #expect(local.code == 64 && folder.text(file).contains("\"new\""), "nobody else would know it")
    }

    @Test("an account is removed from its server only by who types its address or says --no-ask, and then here")
    func remove() async throws {
        let words = ["account", "remove", "romeo@example.org", "--from-server"]
        let done = FakeDaemon(MethodTable.unregisterMethod, ["api": 1, "account": "romeo@example.org"])
        try folder.write("{\"jid\": \"romeo@example.org\"}", to: file)
        for (typed, code) in [("", 64), ("romeo", 65)] as [(String, Int32)] {
            let ran = await jabberctl(words, daemon: done, in: Surroundings(home: folder.path, typed: [typed]))
            #expect(ran.code == code && ran.asked.isEmpty && !folder.text(file).isEmpty, "\(ran)")
        }
        let refusing = FakeDaemon(MethodTable.unregisterMethod, failing: ControlError(.refused, "no"))
        let not = await jabberctl(words + ["--no-ask"], daemon: refusing, in: Surroundings(home: folder.path))
        #expect(not.code == 2 && !folder.text(file).isEmpty)
        let ran = await jabberctl(
            words, daemon: done, in: Surroundings(home: folder.path, typed: ["romeo@example.org"]))
        #expect(ran.code == 0 && ran.asked.map(\.method) == [MethodTable.unregisterMethod], "\(ran)")
        #expect(folder.text(file).isEmpty)
    }

    @Test("an invitation, programs and what was revoked are shown; a daemon is named where it is needed")
    func shown() async {
        let link: JSONValue = [
            "api": 1, "account": "a@b", "uri": "xmpp:a@b?roster;preauth=T", "by": "client",
            "expires": "2026-01-02T03:04:05.000Z",
        ]
        let invite = await jabberctl("account", "invite", "-g", "uri", daemon: FakeDaemon("account.invite", link))
        #expect(invite.output == "xmpp:a@b?roster;preauth=T\n" && invite.errors.contains("daemon start"))
        let whole = await jabberctl(
            "account", "invite", daemon: FakeDaemon("account.invite", link),
            in: Surroundings(isTerminal: true, width: 20))
        #expect(whole.output == "xmpp:a@b?roster;preauth=T\n" && whole.errors.contains("good until"))
        let devices = await jabberctl(
            "account", "devices",
            daemon: FakeDaemon(
                "account.devices",
                [
                    "api": 1, "account": "a@b",
                    "devices": [["id": "x", "software": "G\u{1B}", "connected": true, "authentication": ["password"]]],
                ]))
        #expect(devices.output == "x\tG\\u{1b}\t\tyes\t\t\tpassword\n")
        let revoked = await jabberctl(
            "account", "revoke", "x", daemon: FakeDaemon("account.revoke", ["api": 1, "revoked": ["x"]]))
        #expect(revoked.output == "x\n")
    }
}
