// SPDX-License-Identifier: Apache-2.0

import Foundation
import JabberControl
import SocketIO
import Testing

@testable import JabberCLI

@Suite("jabberctl config get, set and edit")
struct SettingChangeTests {
    private static let file = ".config/jabberctl/config.json"
    private static let account = ".config/jabberctl/accounts/work.json"

    let folder: TestFolder

    init() throws {
        folder = try TestFolder()
        try folder.write(
            """
            {
              // The usual one.
              defaultAccount: 'home',
              accounts: {
                home: {
                  jid: "juliet@example.org", // with a balcony
                  password: "marker-4711",
                },
              },
            }

            """, to: Self.file)
        try folder.write("{\n  /* busy */\n  \"jid\": \"me@example.com\",\n  priority: 3\n}\n", to: Self.account)
    }

    private func run(_ words: String..., editor: (@Sendable ([String]) -> Int32)? = nil) async -> CommandRun {
        var surroundings = Surroundings(variables: ["EDITOR": "my-editor --wait"], home: folder.path)
        if let editor { surroundings.editor = editor }
        return await jabberctl(words, in: surroundings)
    }

    @Test("get shows one value, or all that are set and no secret")
    func get() async {
        #expect(await run("config", "get", "defaultAccount").output == "home\n")
        #expect(await run("config", "get", "accounts.work.priority").output == "3\n")
        #expect(await run("config", "get", "accounts.work.priority", "-g", "value").output == "3\n")
        let all = await run("config", "get")
        #expect(
            all.output == """
                defaultAccount\thome
                accounts.home.jid\tjuliet@example.org
                accounts.work.jid\tme@example.com
                accounts.work.priority\t3

                """)
        let json = await run("config", "get", "accounts.work.priority", "--json")
        #expect(json.output == #"{"api":1,"settings":[{"key":"accounts.work.priority","value":3}]}"# + "\n")
    }

    @Test(
        "get of what is not set is exit code 4, of a secret 64, of what is no setting 4 with what may be meant",
        arguments: [
            ("accounts.work.host", 4, "not set"), ("accounts.home.password", 64, "secret"),
            ("defaultAcount", 4, "\"defaultAccount\"?"), ("accounts.work.prot", 4, "\"port\"?"),
            ("accounts.none.host", 4, "no account"), ("accounts.host", 4, "name of the account"),
        ])
    func noValue(_ key: String, _ code: Int32, _ text: String) async {
        let run = await run("config", "get", key)
        #expect(run.code == code && run.output.isEmpty && run.errors.contains(text), "\(run)")
        #expect(!run.errors.contains("marker-4711"))
    }

    @Test("set changes one value, of the settings file or an account's, and leaves comments where they are")
    func set() async {
        #expect(await run("config", "set", "defaultAccount", "work").code == 0)
        #expect(await run("config", "set", "accounts.home.port", "5223").code == 0)
        let text = folder.text(Self.file)
        #expect(text.contains("// The usual one.\n  defaultAccount: \"work\",") && text.contains("// with a balcony"))
        #expect(text.contains("\"port\": 5223,") && text.contains("marker-4711"))
        #expect(await run("config", "set", "accounts.work.passwordCommand", "pass show 'x y'").code == 0)
        #expect(await run("config", "set", "accounts.work.priority", "--unset").code == 0)
        let own = folder.text(Self.account)
        #expect(own.contains("/* busy */") && !own.contains("priority"))
        #expect(own.contains("\"pass\"") && own.contains("\"x y\""))
        #expect(await run("config", "get", "accounts.work.passwordCommand").output == #"["pass","show","x y"]"# + "\n")
        #expect(await run("config", "check").code == 0)
        #expect(folder.mode(Self.file) == 0o600 && folder.mode(Self.account) == 0o600)
    }

    @Test(
        "set refuses what would be wrong, and changes nothing",
        arguments: [
            (["defaultAccount", "nobody"], 4), (["accounts.work.port", "0"], 65), (["accounts.work.tls", "maybe"], 65),
            (["accounts.work.password", "x"], 64), (["accounts.work.host"], 64), (["accounts.work.host", "a b"], 65),
            (["accounts.work.jid", "--unset"], 78), (["accounts.work.key", "/k.pem"], 78),
            (["accounts.work.proxy", "socks5://u:p@h:1"], 64), (["accounts.work.port", "1", "--unset"], 64),
        ] as [([String], Int32)])
    func refuses(_ words: [String], _ code: Int32) async {
        let before = folder.text(Self.file) + folder.text(Self.account)
        let run = await jabberctl(["config", "set"] + words, in: Surroundings(home: folder.path))
        #expect(run.code == code, "\(run)")
        #expect(folder.text(Self.file) + folder.text(Self.account) == before)
    }

    @Test("edit puts the edited copy in the file's place, with its comments")
    func edit() async {
        let seen = Locked<[String]>([])
        let path = folder.path + "/" + Self.file
        let run = await run("config", "edit") { words in
            seen.withLock { $0 = words }
            guard let text = try? String(contentsOfFile: words.last ?? "", encoding: .utf8) else { return 1 }
            try? text.replacing("'home'", with: "'work'").write(
                toFile: words.last ?? "", atomically: false, encoding: .utf8)
            return 0
        }
        #expect(run.code == 0 && run.errors.contains("is changed"), "\(run)")
        #expect(seen.withLock { $0 } == ["my-editor", "--wait", path + ".edit"])
        #expect(folder.text(Self.file).contains("// The usual one.\n  defaultAccount: 'work'"))
        #expect(folder.text(Self.file + ".edit").isEmpty && folder.mode(Self.file) == 0o600)
        let again = await self.run("config", "edit") { _ in 0 }
        #expect(again.code == 0 && again.errors.contains("nothing is changed"))
    }

    @Test(
        "edit refuses what is broken with its place, leaves the file, and goes on with the copy the next time",
        arguments: [
            ("{\n  accounts: {,}\n}\n", "line 2, column"),
            (#"{accounts: {home: {jid: 5}}}"#, "\"jid\" must be a string"),
            (#"{defaultAccount: "nobody"}"#, "no account"),
        ])
    func refusesEdit(_ text: String, _ complaint: String) async {
        let before = folder.text(Self.file)
        let run = await run("config", "edit") { words in
            try? text.write(toFile: words.last ?? "", atomically: false, encoding: .utf8)
            return 0
        }
        #expect(run.code != 0 && run.errors.contains(complaint), "\(run)")
        #expect(folder.text(Self.file) == before && folder.text(Self.file + ".edit") == text)
        let next = await self.run("config", "edit") { words in
            guard (try? String(contentsOfFile: words.last ?? "", encoding: .utf8)) == text else { return 1 }
            try? before.write(toFile: words.last ?? "", atomically: false, encoding: .utf8)
            return 0
        }
        #expect(next.code == 0 && next.errors.contains("goes on with"), "\(next)")
        #expect(folder.text(Self.file + ".edit").isEmpty)
    }

    @Test(
        "edit changes nothing when the editor fails, when another program has changed the file, and for no such account"
    )
    func editFails() async {
        let before = folder.text(Self.file)
        #expect(await run("config", "edit") { _ in 3 }.code == 75)
        #expect(folder.text(Self.file) == before)
        let (folder, path) = (folder, Self.account)
        let run = await run("config", "edit", "work") { words in
            try? folder.write("{jid: 'other@example.com'}", to: path)
            try? "{jid: 'mine@example.com'}".write(toFile: words.last ?? "", atomically: false, encoding: .utf8)
            return 0
        }
        #expect(run.code == 75 && folder.text(Self.account).contains("other@"), "\(run)")
        #expect(await self.run("config", "edit", "nobody") { _ in 0 }.code == 4)
        #expect(await self.run("config", "edit", "../x") { _ in 0 }.code == 65)
    }
}
