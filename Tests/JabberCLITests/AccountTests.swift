// SPDX-License-Identifier: Apache-2.0

import JabberControl
import Testing

@testable import JabberCLI

@Suite("jabberctl account")
struct AccountTests {
    let folder: TestFolder

    init() throws {
        folder = try TestFolder()
    }

    func run(_ words: String..., passwords: [String] = [], variables: [String: String] = [:]) async -> CommandRun {
        await jabberctl(words, in: Surroundings(variables: variables, home: folder.path, passwords: passwords))
    }

    private let file = ".config/jabberctl/accounts/me@example.org.json"

    @Test("an account is added with a password that is asked twice, and becomes the default")
    func add() async {
        let added = await run("account", "add", "Me@Example.org", passwords: ["geheim", "geheim"])
        #expect(added.code == 0 && added.output == "me@example.org\tme@example.org\tyes\t\t\t\tconfiguration\n")
        #expect(folder.text(file) == "{\n  \"jid\": \"me@example.org\",\n  \"password\": \"geheim\"\n}\n")
        #expect(folder.mode(file) == 0o600)
        let json = await run("account", "list", "--json")
        #expect(
            json.output == #"{"api":1,"accounts":[{"name":"me@example.org","jid":"me@example.org","#
                + #""passwordSource":"configuration","default":true}]}"# + "\n")
        #expect(added.asked.isEmpty && added.choice == nil)
    }

    private static let anchors = "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n"

    @Test(
        "what can never work is refused before it is stored, with add and with set",
        arguments: [
            (["--resource", ""], 65, "resourcepart"), (["--resource", "a\u{7}"], 65, "U+0007"),
            (["--resource", String(repeating: "r", count: 1_024)], 65, "1023 bytes"),
            (["--resource", "\u{E000}"], 65, "U+E000"), (["--host", ""], 65, "the host is empty"),
            (["--host", "a b"], 65, "neither the name of a host"), (["--host", "a/b"], 65, "neither"),
            (["--host", "xmpp.example.org:5222"], 65, "--port"),
            (["--host", "ws://example.org/"], 65, "no address of a WebSocket"),
            (["--host", "https://example.org/"], 65, "wss://example.org/xmpp-websocket"),
            (["--host", "wss:///ws"], 65, "no address"), (["--host", "wss://a b/"], 65, "no address"),
            (["--host", "wss://me@example.org/"], 65, "no address"),
            (["--host", "wss://example.org/#top"], 65, "no address"),
            (["--host", "wss://h/" + String(repeating: "p", count: 2_041)], 65, "no address"),
            (["--host", "wss://example.org/ws", "--port", "443"], 64, "leave --port out"),
            (["--host", "wss://example.org/ws", "--tls", "direct"], 64, "leave --tls out"),
            (["--host", String(repeating: "h", count: 254)], 65, "253 bytes"),
            (["--proxy", "127.0.0.1:9050"], 65, "like socks5://"), (["--proxy", "socks4://h:1"], 65, "like socks5://"),
            (["--proxy", "socks5://me:geheim@h:1"], 64, "other programs can see"),
            (["--certificate", "none.pem"], 66, "--certificate names"),
            (["--key", "none.pem"], 66, "--key names"), (["--key", "no.pem"], 64, "without --certificate"),
            (["--pin", "ab"], 65, "64 hexadecimal digits"), (["--trust", "pin"], 64, "--pin"),
            (["--pin", String(repeating: "a", count: 64), "--trust", "pkix"], 64, "contradict"),
            (
                ["--pin", Array(repeating: String(repeating: "a", count: 64), count: 17).joined(separator: ",")], 65,
                "16"
            ),
            (["--ca", "none.pem"], 66, "there is no"),
            (["--ca", "no.pem"], 65, "no certificate"),
        ] as [([String], Int32, String)])
    func impossible(_ words: [String], _ code: Int32, _ message: String) async throws {
        try folder.write("hello\n", to: "no.pem")
        #expect(await run("account", "add", "you@example.org", "--no-password").code == 0)
        let before = folder.text(".config/jabberctl/accounts/you@example.org.json")
        for command in [["account", "add", "me@example.org", "--no-password"], ["account", "set", "you@example.org"]] {
            let run = await jabberctl(command + words, in: Surroundings(home: folder.path))
            #expect(run.code == code && run.errors.contains(message), "\(run)")
        }
        #expect(folder.text(file).isEmpty)
        #expect(folder.text(".config/jabberctl/accounts/you@example.org.json") == before)
    }

    @Test(
        "the address of a WebSocket is a host like any other, with add and with set",
        arguments: ["wss://example.org/ws", "WSS://[::1]:5281", "wss://h/" + String(repeating: "p", count: 2_040)])
    func webSocket(_ address: String) async throws {
        let added = await run("account", "add", "me@example.org", "--host", address, "--no-password")
        #expect(added.code == 0, "\(added)")
        for words in [["--host", "xmpp.example.org", "--port", "443", "--tls", "direct"], ["--host", address]] {
            let command = ["account", "set", "me@example.org"] + words
            let set = await jabberctl(command, in: Surroundings(home: folder.path))
            #expect(set.code == 0, "\(set)")
        }
        // What belonged to the host before is gone, and has no place beside this one.
        let text = folder.text(file)
        #expect(!text.contains("port") && !text.contains("tls"), "\(text)")
        let port = await run("account", "set", "me@example.org", "--port", "443")
        #expect(port.code == 64 && port.errors.contains("leave --port out"), "\(port)")
        #expect(await run("account", "show", "me@example.org").output.contains(address))
    }

    @Test("a proxy is stored with the command for its password, which goes with it; a password in it is not shown")
    func proxy() async throws {
        let added = await run(
            "account", "add", "me@example.org", "--proxy", "socks5://me@127.0.0.1:9050", "--proxy-password-command",
            "pass x",
            "--no-password")
        #expect(added.code == 0, "\(added)")
        #expect(
            (try? JSONReader.read(folder.text(file).utf8)) == [
                "jid": "me@example.org", "proxy": "socks5://me@127.0.0.1:9050", "proxyPasswordCommand": ["pass", "x"],
            ])
        #expect(await run("account", "set", "--proxy", "http://h:1").code == 0)
        #expect((try? JSONReader.read(folder.text(file).utf8)) == ["jid": "me@example.org", "proxy": "http://h:1"])
        #expect(await run("account", "set", "--proxy-password-command", "pass y").code == 0)
        #expect(await run("account", "set", "--unset", "proxy").code == 0)
        #expect((try? JSONReader.read(folder.text(file).utf8)) == ["jid": "me@example.org"])
        try folder.write(#"{"jid": "me@example.org", "proxy": "http://me:geheim@h:1"}"#, to: file)
        for command in [["show", "--json"], ["list", "--json"], ["set", "--priority", "1", "--json"]] {
            let run = await jabberctl(["account"] + command, in: Surroundings(home: folder.path))
            #expect(run.code == 0 && run.output.contains(#""proxy":"http://me@h:1""#), "\(run)")
            #expect(!(run.output + run.errors).contains("geheim"))
        }
        #expect(folder.text(file).contains("geheim") && folder.mode(file) == 0o600)
        let variable = await run("account", "list", variables: ["JABBERCTL_PROXY": "http://me:geheim@h:1"])
        #expect(variable.code == 64 && !variable.errors.contains("geheim"))
    }

    @Test("--token-fd stores an access token, in a file for the user alone, and in no output")
    func tokenDescriptor() async throws {
        let surroundings = Surroundings(home: folder.path, descriptors: [6: "access\n"])
        let added = await jabberctl("--token-fd", "6", "account", "add", "me@example.org", in: surroundings)
        #expect(added.code == 0 && !(added.output + added.errors).contains("access"), "\(added)")
        #expect(
            (try? JSONReader.read(folder.text(file).utf8)) == ["jid": "me@example.org", "accessToken": "access"])
        #expect(folder.mode(file) == 0o600)
        #expect(await run("account", "set", "--token-command", "oauth me").code == 0)
        let both = await jabberctl(
            "--token-fd", "6", "account", "set", "--token-command", "oauth me", in: surroundings)
        #expect(both.code == 64)
        #expect(await jabberctl("--token-fd", "6", "account", "set", in: surroundings).code == 0)
        #expect(
            (try? JSONReader.read(folder.text(file).utf8)) == ["jid": "me@example.org", "accessToken": "access"])
    }

    @Test("a certificate and a command for tokens stand in for the password; the key goes with its certificate")
    func proofs() async throws {
        for name in ["c.pem", "k.pem", "d.p12"] { try folder.write("x", to: name) }
        let added = await run(
            "account", "add", "me@example.org", "--certificate", "c.pem", "--key", "k.pem", "--token-command",
            "oauth me")
        #expect(added.code == 0 && added.errors.isEmpty, "\(added)")
        let path = JSONValue.string(folder.path + "/c.pem")
        #expect(
            (try? JSONReader.read(folder.text(file).utf8)) == [
                "jid": "me@example.org", "certificate": path, "key": .string(folder.path + "/k.pem"),
                "accessTokenCommand": ["oauth", "me"],
            ])
        #expect(await run("account", "show", "-g", "tokenSource").output == "command\n")
        let moved = await run(
            "account", "set", "--certificate", "d.p12", "--certificate-password-command", "pass p12", "--unset", "token"
        )
        #expect(moved.code == 0, "\(moved)")
        #expect(
            (try? JSONReader.read(folder.text(file).utf8)) == [
                "jid": "me@example.org", "certificate": .string(folder.path + "/d.p12"),
                "certificatePasswordCommand": ["pass", "p12"],
            ])
        #expect(await run("account", "set", "--unset", "certificate").code == 0)
        #expect((try? JSONReader.read(folder.text(file).utf8)) == ["jid": "me@example.org"])
    }

    @Test("beside the address of a WebSocket no port is stored, wherever the two come from")
    func webSocketAlone() async {
        let add = ["account", "add", "me@example.org", "--no-password"]
        func run(_ words: [String], _ variables: [String: String]) async -> CommandRun {
            await jabberctl(add + words, in: Surroundings(variables: variables, home: folder.path))
        }
        let socket = ["JABBERCTL_HOST": "wss://example.org/ws"]
        let typed = await run(["--port", "443"], socket)
        #expect(typed.code == 64 && typed.errors.contains("leave --port out"), "\(typed)")
        let both = await run([], socket.merging(["JABBERCTL_TLS": "direct"]) { $1 })
        #expect(both.code == 64 && both.errors.contains("leave JABBERCTL_TLS out"), "\(both)")
        #expect(folder.text(file).isEmpty)
        let outweighed = await run(
            ["--host", "wss://example.org/ws"], ["JABBERCTL_PORT": "5222", "JABBERCTL_TLS": "direct"])
        #expect(outweighed.code == 0, "\(outweighed)")
        #expect(
            (try? JSONReader.read(folder.text(file).utf8)) == ["jid": "me@example.org", "host": "wss://example.org/ws"])
    }

    @Test("a pinned key is stored as digits in lower case, replaced by the next, and taken away again")
    func pins() async throws {
        let (one, two) = (String(repeating: "0a", count: 32), String(repeating: "1b", count: 32))
        let colons = Array(repeating: "0A", count: 32).joined(separator: ":")
        func stored() -> JSONValue? { try? JSONReader.read(folder.text(file).utf8) }
        let added = await run("account", "add", "me@example.org", "--no-password", "--pin", "\(colons),\(one),\(two)")
        #expect(added.code == 0, "\(added)")
        #expect(stored() == ["jid": "me@example.org", "trust": "pin", "pin": [.string(one), .string(two)]])
        #expect(await run("account", "set", "me@example.org", "--pin", two).code == 0)
        #expect(stored() == ["jid": "me@example.org", "trust": "pin", "pin": [.string(two)]])
        #expect(await run("account", "set", "me@example.org", "--trust", "pkix").code == 0)
        #expect(stored() == ["jid": "me@example.org", "trust": "pkix", "pin": [.string(two)]])
        #expect(await run("account", "set", "me@example.org", "--trust", "pin").code == 0)
        #expect(await run("account", "set", "me@example.org", "--unset", "pin").code == 0)
        #expect(stored() == ["jid": "me@example.org"])
        let shown = await run("account", "set", "me@example.org", "--pin", one, "--json")
        #expect(shown.output.contains(#""trust":"pin","pin":["\#(one)"]"#), "\(shown)")
    }

    @Test("whether the web is asked is stored, changed, shown and taken away; another word is wrong usage")
    func hostMeta() async throws {
        func stored() -> JSONValue? { try? JSONReader.read(folder.text(file).utf8) }
        let added = await run("account", "add", "me@example.org", "--no-password", "--host-meta", "never")
        #expect(added.code == 0, "\(added)")
        #expect(stored() == ["jid": "me@example.org", "hostMeta": "never"])
        #expect(await run("account", "show", "me@example.org", "-g", "hostMeta").output == "never\n")
        #expect(await run("account", "set", "me@example.org", "--host-meta", "ask").code == 0)
        #expect(stored() == ["jid": "me@example.org", "hostMeta": "ask"])
        #expect(await run("config", "set", "accounts.me@example.org.hostMeta", "never").code == 0)
        #expect(stored() == ["jid": "me@example.org", "hostMeta": "never"])
        #expect(await run("account", "set", "me@example.org", "--unset", "host-meta").code == 0)
        #expect(stored() == ["jid": "me@example.org"])
        for word in ["no", "", "ASK"] {
            #expect(await run("account", "set", "me@example.org", "--host-meta", word).code == 64)
        }
    }

    @Test("a misspelt setting is told where the account is shown")
    func misspelt() async throws {
        try folder.write(#"{"jid": "me@example.org", "hots": "h"}"#, to: file)
        for command in ["show", "list"] {
            let run = await run("account", command)
            #expect(run.code == 0 && run.errors.hasSuffix(":1: there is no setting \"hots\"; did you mean \"host\"?\n"))
        }
    }

    @Test("options of the connection are stored; relative paths made absolute")
    func options() async throws {
        try folder.write(Self.anchors, to: "ca.pem")
        let added = await run(
            "account", "add", "me@example.org/home", "--name", "work", "--host", "h", "--port", "5223", "--tls",
            "direct", "--ca",
            "ca.pem", "--priority", "-1", "--allow-plain", "--password-command", "pass show 'x y'")
        #expect(added.code == 0)
        #expect(
            (try? JSONReader.read(folder.text(".config/jabberctl/accounts/work.json").utf8)) == [
                "jid": "me@example.org", "host": "h", "port": 5223, "tls": "direct",
                "ca": .string(folder.path + "/ca.pem"),
                "resource": "home", "priority": -1, "allowPlain": true, "passwordCommand": ["pass", "show", "x y"],
            ])
    }

    @Test(
        "what is no JID is refused and names the part (RFC 7622)",
        arguments: [
            ("example.org", "has no localpart"), ("@example.org", "localpart of \"@example.org\" is empty"),
            ("me@", "domainpart of \"me@\" is empty"),
            ("a b@example.org", "localpart of \"a b@example.org\" contains U+0020"),
            ("a<b@example.org", "contains U+003C"), ("me@ex ample", "domainpart of"),
            ("me@example.org/", "resourcepart of"),
            ("me@a@b", "domainpart of"),
            (String(repeating: "x", count: 1024) + "@example.org", "longer than 1023 bytes"),
        ])
    func badJID(_ jid: String, _ message: String) async {
        let added = await run("account", "add", jid, "--no-password")
        #expect(added.code == 65 && added.errors.contains(message))
        #expect(folder.text(".config/jabberctl/config.json").isEmpty)
    }

    @Test("a resourcepart may begin with a mark that combines with the slash before it (RFC 7622 §3.2)")
    func combining() async {
        #expect(await run("account", "add", "me@example.org/\u{301}x", "--no-password").code == 0)
        let account = try? JSONReader.read(folder.text(".config/jabberctl/accounts/me@example.org.json").utf8)
        #expect(account == ["jid": "me@example.org", "resource": "\u{301}x"])
    }

    @Test("two passwords that differ, an account that exists and a strange name are refused")
    func refused() async {
        #expect(await run("account", "add", "me@example.org", passwords: ["a", "b"]).code == 65)
        #expect(await run("account", "add", "me@example.org", "--no-password").code == 0)
        let again = await run("account", "add", "me@example.org", "--no-password")
        #expect(again.code == 65 && again.errors.contains("jabberctl account set me@example.org"))
        #expect(await run("account", "add", "you@example.org", "--name", "../x", "--no-password").code == 64)
    }

    @Test("the default is shown, chosen and removed")
    func choose() async {
        for jid in ["a@example.org", "b@example.org"] { _ = await run("account", "add", jid, "--no-password") }
        #expect(await run("account", "default", "-g", "name").output == "a@example.org\n")
        #expect(await run("account", "default", "b@example.org", "-g", "default").output == "true\n")
        #expect(await run("account", "show", "-g", "name").output == "b@example.org\n")
        #expect(await run("account", "remove", "b@example.org").output == "b@example.org\n")
        #expect(await run("account", "list", "-g", "name").output == "a@example.org\n")
        #expect(await run("account", "show", "b@example.org").code == 4)
        let nothing = await jabberctl("account", "show", in: Surroundings(home: folder.path + "/elsewhere"))
        #expect(nothing.code == 78 && nothing.errors.contains("jabberctl account add"), "as online says: \(nothing)")
        #expect(await run("account", "remove").code == 64)
    }

    /// The files with what was said with an account of the name `me`.
    private let own = [
        "me.db", "me.db-wal", "me.db-shm", "me.db.damaged-20260102T030405Z", "me.db.damaged-20260102T030405Z-1-wal",
    ]

    @Test("a removed account leaves no token behind; what was said stays until it is purged, then or afterwards")
    func remove() async throws {
        let state = ".local/state/jabberctl"
        let logins = ["me", "you"].flatMap { name in
            ["daemon", "command"].map { "\(state)/logins/\(name).\($0).json" }
        }
        for file in logins { try folder.write("{}", to: file) }
        for file in own { try folder.write("x", to: "\(state)/accounts/\(file)") }
        for name in ["me", "you"] {
            _ = await run("account", "add", "\(name)@example.org", "--name", name, "--no-password")
        }
        func exists(_ file: String) -> Bool { !folder.text(file).isEmpty }

        #expect(await run("account", "remove", "me", "--purge", "--dry-run").code == 0)
        #expect(logins.allSatisfy(exists) && own.allSatisfy { exists("\(state)/accounts/\($0)") })

        let kept = await run("account", "remove", "me", "--json")
        let database = folder.path + "/\(state)/accounts/me.db"
        #expect(kept.code == 0 && kept.output.contains(#""kept":"\#(database)""#), "\(kept)")
        #expect(logins.map(exists) == [false, false, true, true])
        #expect(own.allSatisfy { exists("\(state)/accounts/\($0)") })

        // Somebody uses it.
        let lock = try #require(StateLock.take(database + ".lock"))
        let used = await run("account", "remove", "me", "--purge")
        #expect(used.code == 75 && used.errors.contains("jabberctl daemon stop"), "\(used)")
        #expect(own.allSatisfy { exists("\(state)/accounts/\($0)") })
        withExtendedLifetime(lock) {}
    }

    @Test("what was said with an account that is gone can be purged; that of others stays")
    func purge() async throws {
        let state = ".local/state/jabberctl/accounts"
        let others = ["you.db", "me.db.db", "me.db.damaged-2026.db", "me.dbx"]
        for file in own + others { try folder.write("x", to: "\(state)/\(file)") }
        _ = await run("account", "add", "me@example.org", "--name", "me", "--no-password")
        let removed = await run("account", "remove", "me", "--json")
        #expect(removed.code == 0 && removed.output.contains("kept"), "\(removed)")
        let purged = await run("account", "remove", "me", "--purge", "--json")
        #expect(purged.code == 0 && purged.output == #"{"api":1,"name":"me"}"# + "\n", "\(purged)")
        #expect(own.allSatisfy { folder.text("\(state)/\($0)").isEmpty })
        #expect(others.allSatisfy { !folder.text("\(state)/\($0)").isEmpty })
        #expect(await run("account", "remove", "me", "--purge").code == 4)
        #expect(await run("account", "remove", "../me", "--purge").code == 4)
    }

    @Test("a new password replaces the old one")
    func passwd() async {
        _ = await run("account", "add", "me@example.org", passwords: ["old", "old"])
        #expect(await run("account", "passwd", variables: ["JABBERCTL_PASSWORD": "new"]).code == 0)
        #expect(folder.text(file).contains("\"new\"") && !folder.text(file).contains("old"))
        #expect(await run("account", "passwd", "--password-command", "pass x").code == 0)
        #expect(!folder.text(file).contains("\"password\""))
        #expect(await run("account", "passwd").code == 64)
    }

    @Test("settings of an account are changed and taken away; what is not named stays")
    func set() async throws {
        try folder.write(Self.anchors, to: "ca.pem")
        _ = await run("account", "add", "me@example.org", "--host", "h", "--priority", "3", passwords: ["p", "p"])
        let changed = await run("account", "set", "--host", "i", "--port", "5223", "--tls", "direct", "--ca", "ca.pem")
        #expect(changed.code == 0)
        let json = try? JSONReader.read(folder.text(file).utf8)
        #expect(
            json == [
                "jid": "me@example.org", "host": "i", "port": 5223, "tls": "direct",
                "ca": .string(folder.path + "/ca.pem"),
                "priority": 3, "password": "p",
            ])
        let cleared = await run(
            "account", "set", "me@example.org", "--unset", "host,port,tls,ca,priority", "--resource", "r",
            "--allow-plain", "--json")
        #expect(cleared.output.contains(#""resource":"r","allowPlain":true,"passwordSource":"configuration""#))
        #expect(!folder.text(file).contains("host") && !folder.text(file).contains("priority"))
        #expect(await run("account", "set", "--unset", "allow-plain,resource").code == 0)
        #expect((try? JSONReader.read(folder.text(file).utf8)) == ["jid": "me@example.org", "password": "p"])
        // What the environment says is for one command, and no change of the settings.
        #expect(await run("account", "set", "--priority", "1", variables: ["JABBERCTL_HOST": "e"]).code == 0)
        #expect(!folder.text(file).contains("host"))
    }

    @Test(
        "nothing to set, a contradiction and an unknown key are wrong usage; an unknown account is none",
        arguments: [
            ([], 64, "nothing to set"), (["--host", "h", "--unset", "host"], 64, "contradict"),
            (["--unset", "jid"], 64, "must be one of"), (["you@example.org", "--host", "h"], 4, "no account"),
        ] as [([String], Int32, String)])
    func badSet(_ words: [String], _ code: Int32, _ message: String) async {
        _ = await run("account", "add", "me@example.org", "--no-password")
        let before = folder.text(file)
        let run = await jabberctl(["account", "set"] + words, in: Surroundings(home: folder.path))
        #expect(run.code == code && run.errors.contains(message) && folder.text(file) == before)
    }

    @Test("commands at the same time lose nothing of one another", .timeLimit(.minutes(5)))
    func parallel() async throws {
        let names = (0..<12).map { "a\($0)" }
        let inline = names.map { #""\#($0)":{"jid":"\#($0)@example.org"}"# }.joined(separator: ",")
        try folder.write("{\"accounts\":{\(inline)}}", to: ".config/jabberctl/config.json")
        await withTaskGroup { group in
            for name in names {
                group.addTask { _ = await run("account", "set", name, "--priority", "7") }
                group.addTask { _ = await run("account", "add", "\(name)@example.net", "--no-password") }
            }
        }
        let rows = try JSONReader.read(await run("account", "list", "--json").output.utf8)["accounts"]?.arrayValue ?? []
        #expect(rows.count == 24)
        #expect(rows.count { $0["priority"] == 7 } == 12)
    }

    @Test("what is wrong with one account is told beside the others, and that one can be removed")
    func broken() async throws {
        _ = await run("account", "add", "me@example.org", "--no-password")
        try folder.write("{", to: ".config/jabberctl/accounts/bad.json")
        let list = await run("account", "list", "-g", "name")
        #expect(list.code == 78 && list.output == "me@example.org\n" && list.errors.contains("bad.json"))
        #expect(await run("account", "show", "me@example.org").code == 0)
        #expect(await run("account", "show", "bad").code == 78)
        #expect(await run("account", "add", "b@example.org", "--name", "bad", "--no-password").code == 65)
        #expect(await run("account", "remove", "bad").output == "bad\n")
        #expect(await run("account", "list").code == 0)
    }

    @Test("nothing that is printed holds the password")
    func secret() async {
        var text = ""
        for words in [["add", "me@example.org"], ["list"], ["show", "--json"], ["show"], ["default"], ["passwd"]] {
            let run = await jabberctl(
                ["account"] + words,
                in: Surroundings(home: folder.path, passwords: ["geheim", "geheim"]))
            text += run.output + run.errors
        }
        #expect(text.contains("me@example.org") && !text.contains("geheim"))
    }

    @Test("a password file that others may read is refused with the chmod to run")
    func permissions() async throws {
        try folder.write(#"{"jid":"me@example.org","password":"x"}"#, to: file, mode: 0o644)
        let list = await run("account", "list")
        #expect(list.code == 78 && list.errors.contains("chmod 600 '\(folder.path)/\(file)'"))
    }

    @Test("a dry run changes nothing")
    func dryRun() async {
        #expect(await run("account", "add", "me@example.org", "--no-password", "-n").code == 0)
        #expect(folder.text(file).isEmpty)
    }

    @Test("--config names another settings file, made when it is missing")
    func config() async {
        let added = await run("--config", "own/c.json", "account", "add", "me@example.org", "--no-password")
        #expect(added.code == 0 && folder.text("own/accounts/me@example.org.json").contains("me@example.org"))
        #expect(folder.text("own/c.json").contains("defaultAccount"))
        #expect(await run("--config", "none.json", "account", "list").code == 66)
    }

    @Test(
        "sendxmpp's file is understood in its forms",
        arguments: [
            ("# me\nme@example.org secret\n", "me@example.org", nil, nil),
            ("me@example.org:5223 secret", "me@example.org", "example.org", 5223),
            ("me@example.org;xmpp.example.net:5222 secret", "me@example.org", "xmpp.example.net", 5222),
            ("me@talk.example.net secret example.org", "me@example.org", "talk.example.net", nil),
            ("username: me\njserver: example.org\npassword: secret\n", "me@example.org", nil, nil),
            (
                "username: me\njserver: xmpp.example.net\nport: 5222\ncomponent: example.org\npassword: secret",
                "me@example.org", "xmpp.example.net", 5222
            ),
        ] as [(String, String, String?, Int?)])
    func sendxmpp(_ text: String, _ jid: String, _ host: String?, _ port: Int?) throws {
        let file = try SendxmppFile(text: text, path: "f")
        #expect(file.jid == jid && file.host == host && file.port == port && file.password == "secret")
    }

    @Test("an account comes from sendxmpp's file, which must be private too")
    func importing() async throws {
        try folder.write("me@example.org secret\n", to: "rc")
        #expect(await run("account", "add", "--import", "rc").code == 0)
        #expect(folder.text(file).contains("secret"))
        try folder.write("me@example.org secret\n", to: "open", mode: 0o644)
        #expect(await run("account", "add", "--import", "open", "--name", "o").code == 78)
        #expect(await run("account", "add", "--import", "none", "--name", "o").code == 66)
        try folder.write("what?\n", to: "strange")
        #expect(await run("account", "add", "--import", "strange", "--name", "o").code == 65)
    }
}
