// SPDX-License-Identifier: Apache-2.0

import JabberControl
import Testing

@testable import JabberCLI

@Suite("jabberctl config")
struct SettingsTests {
    let folder: TestFolder

    init() throws {
        folder = try TestFolder()
    }

    private func run(_ words: String...) async -> CommandRun {
        await jabberctl(words, in: Surroundings(home: folder.path))
    }

    @Test("path tells where everything is, and whether it is there")
    func path() async throws {
        try folder.write("{}", to: ".config/jabberctl/config.json")
        let files = try #require(JSONReader.read(Array(await run("config", "path", "--json").output.utf8)).objectValue)
        let rows = (files["files"]?.arrayValue ?? []).compactMap(\.objectValue)
        #expect(
            rows.compactMap { $0.string("name") }
                == ["settings", "accounts", "administrator", "state", "log", "runtime", "socket"])
        #expect(rows.first?.string("path") == folder.path + "/.config/jabberctl/config.json")
        #expect(rows.first?.bool("exists") == true && rows.last?.bool("exists") == false)
        let socket = await run("config", "path", "--socket", "/run/other.sock", "-g", "path")
        #expect(socket.output.hasSuffix("/run/other.sock\n"))
    }

    @Test("check finds nothing wrong where nothing is, settings or none")
    func right() async throws {
        #expect(await run("config", "check").code == 0)
        try folder.write(#"{"jid": "me@example.org"}"#, to: ".config/jabberctl/accounts/me.json")
        let run = await run("config", "check", "--json")
        #expect(run.code == 0 && run.output == #"{"api":1,"ok":true,"accounts":1,"problems":[]}"# + "\n", "\(run)")
    }

    @Test("check names each account that cannot be used, goes on, and gives 78")
    func wrong() async throws {
        try folder.write(#"{"jid": "me@example.org"}"#, to: ".config/jabberctl/accounts/me.json")
        try folder.write(#"{"jid": 5}"#, to: ".config/jabberctl/accounts/odd.json")
        let secret = #"{"jid": "x@y", "password": "geheim"}"#
        try folder.write(secret, to: ".config/jabberctl/accounts/open.json", mode: 0o644)
        try folder.write(#"{"defaultAcount": "me"}"#, to: ".config/jabberctl/config.json")
        let run = await run("config", "check")
        #expect(run.code == 78)
        let lines = run.output.split(separator: "\n")
        #expect(lines.count == 3, "\(run.output)")
        #expect(lines.first?.hasPrefix("error\todd\t") == true)
        #expect(lines.contains { $0.hasPrefix("error\topen\t") && $0.contains("chmod 600") })
        #expect(lines.last?.contains(#"did you mean "defaultAccount"?"#) == true)
        #expect(!run.output.contains("geheim"))
    }

    @Test("what only means nothing is no error, and a default account that is none is one")
    func warnings() async throws {
        try folder.write(#"{"jid": "me@example.org", "pasword": "x"}"#, to: ".config/jabberctl/accounts/me.json")
        let strange = await run("config", "check")
        #expect(strange.code == 0 && strange.output.hasPrefix("warning\t\t"), "\(strange)")
        try folder.write(#"{"defaultAccount": "you"}"#, to: ".config/jabberctl/config.json")
        let missing = await run("config", "check")
        #expect(missing.code == 78 && missing.output.contains("defaultAccount: no account \"you\""), "\(missing)")
    }

    @Test("settings that cannot be read at all are an error with its place")
    func unreadable() async throws {
        try folder.write("{", to: ".config/jabberctl/config.json")
        let run = await run("config", "check")
        #expect(run.code == 78 && run.errors.contains("config.json"), "\(run)")
    }
}

@Suite("jabberctl daemon log")
struct LogTests {
    let folder: TestFolder

    init() throws {
        folder = try TestFolder()
    }

    private func run(_ words: String...) async -> CommandRun {
        await jabberctl(["daemon", "log"] + words, in: Surroundings(home: folder.path))
    }

    @Test(
        "shows the last lines, cleaned",
        arguments: [("2", "b\nc\\u{1b}[31m\n"), ("0", ""), ("99", "a\nb\nc\\u{1b}[31m\n")])
    func last(count: String, shown: String) async throws {
        try folder.write("a\nb\nc\u{1b}[31m\nhalf", to: ".local/state/jabberctl/daemon.log")
        let run = await run("--lines", count)
        #expect(run.code == 0 && run.output == shown, "\(run)")
    }

    @Test("is told where to look when there is none")
    func none() async {
        let run = await run()
        #expect(run.code == 66 && run.errors.contains("journalctl --user -u jabberctld"), "\(run)")
    }

    @Test("the last lines of a large file are found without reading it whole, and the first of them is whole")
    func large() async throws {
        let line = String(repeating: "x", count: 99) + "\n"
        try folder.write(String(repeating: line, count: 20_000), to: ".local/state/jabberctl/daemon.log")
        let run = await run("--lines", "1000000", "--json")
        let lines = run.output.split(separator: "\n")
        #expect((10_000..<11_000).contains(lines.count))
        #expect(lines.allSatisfy { $0 == "{\"line\":\"\(line.dropLast())\"}" })
    }

    @Test("what is appended comes, and then what a new file of the name holds")
    func follows() throws {
        let path = folder.path + "/log"
        try folder.write("a\n", to: "log")
        var log = try #require(try LogFile(path))
        #expect(try log.last(10) == ["a"])
        try folder.append("b\nhal", to: "log")
        #expect(try log.next() == ["b"])
        try folder.append("f\n", to: "log")
        #expect(try log.next() == ["half"] && !log.isReplaced)
        try folder.replace("log", by: "new\n")
        #expect(log.isReplaced)
        var next = try #require(try LogFile(path))
        #expect(try next.next() == ["new"])
    }
}
