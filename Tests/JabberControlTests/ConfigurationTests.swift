// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import JabberControl

/// A folder that is gone after the test.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "jabberctl-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        path = url.path
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Paths all of which are below this folder.
    var paths: RuntimePaths {
        var paths = RuntimePaths(environment: [
            "HOME": path, "XDG_CONFIG_HOME": path + "/config", "XDG_RUNTIME_DIR": path + "/run",
        ])
        paths.system = path + "/etc"
        return paths
    }

    func write(_ text: String, to name: String, mode: Int = 0o600) throws {
        let file = path + "/" + name
        let folder = URL(filePath: file).deletingLastPathComponent()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(filePath: file))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
    }

    func mode(of name: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path + "/" + name)
        return (attributes[.posixPermissions] as? NSNumber)?.intValue ?? 0
    }
}

@Suite("Configuration")
struct ConfigurationTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test("folders follow the XDG variables; relative ones are ignored")
    func paths() {
        let paths = RuntimePaths(environment: ["HOME": "/home/me", "XDG_CONFIG_HOME": "x", "XDG_STATE_HOME": "/s/"])
        #expect(paths.configFile == "/home/me/.config/jabberctl/config.json")
        #expect(paths.state == "/s/jabberctl")
        #expect(paths.controlSocket == "/s/jabberctl/run/control.sock")
        #expect(
            RuntimePaths(environment: ["HOME": "/h", "XDG_RUNTIME_DIR": "/run/user/1"]).controlSocket
                == "/run/user/1/jabberctl/control.sock")
    }

    @Test("a setting that means nothing is told with file, line and what may be meant; its value never")
    func warnings() throws {
        try folder.write(
            "{ // mine\n  acounts: {},\n  accounts: {\n    a: {\n      jid: 'a@b', hots: 'geheim',\n      'x': 1 } }\n}",
            to: "config/jabberctl/config.json")
        try folder.write(#"{"jid": "c@d", "Port": 1}"#, to: "config/jabberctl/accounts/c.json")
        let file = folder.path + "/config/jabberctl/config.json"
        #expect(
            try ConfigurationFile(paths: folder.paths).warnings == [
                "\(file):2: there is no setting \"acounts\"; did you mean \"accounts\"?",
                "\(file):5: there is no setting \"hots\"; did you mean \"host\"?",
                "\(file):6: there is no setting \"x\"",
                folder.path
                    + "/config/jabberctl/accounts/c.json:1: there is no setting \"Port\"; did you mean \"port\"?",
            ])
    }

    @Test("without files there is no account")
    func empty() throws {
        let configuration = try ConfigurationFile(paths: folder.paths)
        #expect(configuration.accounts.isEmpty)
        #expect(try configuration.implicitAccount() == nil)
        #expect { try SessionSelection().resolve(paths: folder.paths) } throws: {
            ($0 as? ControlError)?.code == .configuration
        }
    }

    @Test("the user's accounts come over the administrator's, files over inline ones")
    func layers() throws {
        try folder.write(
            #"{accounts: {work: {jid: "sys@example.org"}, ops: {jid: "ops@example.org"}}, defaultAccount: "ops"}"#,
            to: "etc/config.json", mode: 0o644)
        try folder.write(
            "{accounts: {work: {jid: \"me@work.example\", port: 5223, tls: 'direct',},},} // mine",
            to: "config/jabberctl/config.json", mode: 0o644)
        try folder.write(#"{"jid": "me@home.example"}"#, to: "config/jabberctl/accounts/home.json", mode: 0o644)
        let configuration = try ConfigurationFile(paths: folder.paths)
        #expect(configuration.accounts.map(\.jid) == ["me@home.example", "ops@example.org", "me@work.example"])
        #expect(try configuration.implicitAccount()?.name == "ops")
        #expect(try configuration.account("me@work.example").tls == .direct)
        #expect { try configuration.account("nobody") } throws: { ($0 as? ControlError)?.code == .accountNotFound }
    }

    @Test(
        "a file with a password that others can touch is refused with the chmod to run",
        arguments: [0o644, 0o640, 0o660, 0o604, 0o601])
    func secretModes(_ mode: Int) throws {
        try folder.write(
            #"{"jid":"me@example.org","password":"s"}"#, to: "config/jabberctl/accounts/me.json", mode: mode)
        #expect { try ConfigurationFile(paths: folder.paths).account("me") } throws: { error in
            let error = error as? ControlError
            return error?.code == .permissions && error?.exit.rawValue == 78
                && error?.message.contains("chmod ") == true
        }
    }

    @Test("a password in the settings file itself is guarded as well, and through a link")
    func secretInline() throws {
        try folder.write(
            #"{"accounts":{"me":{"jid":"me@example.org","password":"s"}}}"#, to: "config/jabberctl/config.json",
            mode: 0o644)
        #expect(throws: ControlError.self) { try ConfigurationFile(paths: folder.paths) }
        try folder.write(#"{"jid":"me@example.org","password":"s"}"#, to: "elsewhere.json")
        #expect(throws: Never.self) { try ConfigurationFile(paths: TemporaryFolder().paths) }
        let other = try TemporaryFolder()
        try other.write("{}", to: "config/jabberctl/accounts/none.txt")
        try FileManager.default.createSymbolicLink(
            atPath: other.path + "/config/jabberctl/accounts/me.json",
            withDestinationPath: folder.path + "/elsewhere.json")
        #expect { try ConfigurationFile(paths: other.paths).implicitAccount() } throws: {
            ($0 as? ControlError)?.code == .permissions
        }
    }

    @Test("a file with the password of a proxy is guarded as well, and what is shown lacks it")
    func proxySecret() throws {
        let file = "config/jabberctl/accounts/me.json"
        func account() throws -> AccountConfiguration { try ConfigurationFile(paths: folder.paths).account("me") }
        for proxy in ["socks5://me:pw@h:1", "socks5:/me:pw@h:1"] {
            try folder.write(#"{"jid":"me@example.org","proxy":"\#(proxy)"}"#, to: file, mode: 0o644)
            #expect { try account() } throws: { ($0 as? ControlError)?.code == .permissions }
        }
        try folder.write(
            #"{"jid":"me@example.org","proxy":"socks5://me@h:1","proxyPasswordCommand":"pass x"}"#, to: file,
            mode: 0o644)
        #expect(try account().proxyPasswordCommand == ["pass", "x"], "a name is no secret")
        try folder.write(#"{"jid":"me@example.org","proxy":"http://me:geheim@h:1"}"#, to: file)
        let shown = try account().publicJSON
        #expect(shown["proxy"] == "http://me@h:1")
        #expect(try account().json["proxy"] == "http://me:geheim@h:1")
        var selection = SessionSelection()
        selection.proxy = "socks5://i:2"
        let moved = try selection.resolve(paths: folder.paths)
        #expect(moved.proxy == "socks5://i:2" && moved.proxyPasswordCommand == nil)
    }

    @Test(
        "a file with a token or with the password of a certificate is guarded as well, and neither is shown",
        arguments: ["accessToken", "certificatePassword"])
    func otherSecrets(key: String) throws {
        let file = "config/jabberctl/accounts/me.json"
        let text = #"{"jid":"me@example.org","certificate":"/c","key":"/k","\#(key)":"geheim"}"#
        try folder.write(text, to: file, mode: 0o640)
        #expect { try ConfigurationFile(paths: folder.paths).account("me") } throws: {
            ($0 as? ControlError)?.code == .permissions
        }
        try folder.write(text, to: file)
        let account = try ConfigurationFile(paths: folder.paths).account("me")
        #expect(account.hasOtherProof && account.json[key] == "geheim")
        let shown = String(decoding: JSONValue.object(account.publicJSON).encoded(), as: UTF8.self)
        #expect(!shown.contains("geheim") && shown.contains(#""certificate":"/c","key":"/k""#))
        #expect(shown.contains(#""tokenSource":"configuration""#) == (key == "accessToken"))
    }

    @Test("settings that others can change are refused even without a secret")
    func writable() throws {
        try folder.write("{}", to: "config/jabberctl/config.json", mode: 0o666)
        #expect { try ConfigurationFile(paths: folder.paths) } throws: {
            ($0 as? ControlError)?.message.contains("chmod go-w") == true
        }
    }

    @Test("a secret of another owner is refused")
    func owner() {
        let contents = PrivateFile.Contents(bytes: [], mode: 0o600, owner: 4_000_000, isLink: false)
        #expect { try PrivateFile.requireSecret(contents, at: "f", user: 1000) } throws: {
            ($0 as? ControlError)?.message.contains("chown") == true
        }
        #expect(throws: ControlError.self) { try PrivateFile.requireTrusted(contents, at: "f", user: 1000) }
    }

    @Test(
        "a wrong value names file, account and key",
        arguments: [
            (#"{"port":5222}"#, "\"jid\" is missing"), (#"{"jid":5}"#, "\"jid\" must be a string"),
            (#"{"jid":"a@b","port":0}"#, "\"port\" must be a whole number from 1 to 65535"),
            (#"{"jid":"a@b","port":"5222"}"#, "\"port\" must be"),
            (#"{"jid":"a@b","tls":"none"}"#, "direct or starttls"),
            (#"{"jid":"a@b","passwordCommand":[]}"#, "\"passwordCommand\" must be"), ("[]", "must be an object"),
            (#"{"jid":"a@b","proxy":"h:1"}"#, "\"proxy\" must be like socks5://"),
            (#"{"jid":"a@b","key":"/k"}"#, "\"key\" needs \"certificate\""),
            (#"{"jid":"a@b","accessTokenCommand":[]}"#, "\"accessTokenCommand\" must be"),
            (#"{"jid":"a@b","proxyPasswordCommand":1}"#, "\"proxyPasswordCommand\" must be"),
            (#"{"jid":"a@b","priority":128}"#, "-128 to 127"), ("{\n jid: }", "line 2, column 7"),
        ])
    func wrongValues(_ text: String, _ message: String) throws {
        try folder.write(text, to: "config/jabberctl/accounts/me.json")
        #expect { try ConfigurationFile(paths: folder.paths).implicitAccount() } throws: { error in
            let error = error as? ControlError
            return error?.code == .configuration && error?.message.contains(message) == true
                && error?.message.contains("me.json") == true
        }
    }

    @Test("what is wrong with one account stops no other, and hides what it would have hidden")
    func brokenAccounts() throws {
        try folder.write(#"{"accounts":{"typo":{"jid":"sys@example.org"}}}"#, to: "etc/config.json", mode: 0o644)
        try folder.write(
            #"{"accounts":{"good":{"jid":"me@example.org"},"number":5},"defaultAccount":"typo"}"#,
            to: "config/jabberctl/config.json")
        try folder.write("{ jid: ", to: "config/jabberctl/accounts/typo.json")
        try folder.write(
            #"{"jid":"a@b","password":"s"}"#, to: "config/jabberctl/accounts/open.json", mode: 0o644)
        var configuration = try ConfigurationFile(paths: folder.paths)
        #expect(configuration.accounts.map(\.name) == ["good"])
        #expect(
            configuration.failures.mapValues(\.code) == [
                "number": .configuration, "typo": .configuration, "open": .permissions,
            ])
        for name in ["number", "typo", "open"] {
            #expect { try configuration.account(name) } throws: { ($0 as? ControlError)?.exit == .configuration }
        }
        #expect { try configuration.implicitAccount() } throws: { "\($0)".contains("typo.json") }
        var selection = SessionSelection()
        selection.account = "good"
        #expect(try selection.resolve(paths: folder.paths).jid == "me@example.org")
        selection = SessionSelection()
        selection.jid = "open"
        #expect { try selection.resolve(paths: folder.paths) } throws: { ($0 as? ControlError)?.code == .permissions }
        try configuration.remove("typo")
        try configuration.remove("number")
        let rest = try ConfigurationFile(paths: folder.paths)
        #expect(rest.failures.keys.sorted() == ["open"] && rest.accounts.map(\.name) == ["good", "typo"])
    }

    @Test("a link to the settings file stays, and the file that it leads to changes", arguments: [true, false])
    func links(_ exists: Bool) throws {
        try folder.write(#"{"jid":"me@example.org"}"#, to: "config/jabberctl/accounts/me.json")
        if exists {
            try folder.write("{ /* mine */ }", to: "dotfiles/settings.json")
        } else {
            try folder.write("", to: "dotfiles/other")
        }
        let manager = FileManager.default
        let link = folder.path + "/config/jabberctl/config.json"
        try manager.createSymbolicLink(atPath: link, withDestinationPath: "second.json")
        try manager.createSymbolicLink(
            atPath: folder.path + "/config/jabberctl/second.json",
            withDestinationPath: folder.path + "/dotfiles/settings.json")
        try ConfigurationFile.change(paths: folder.paths) { (configuration) throws(ControlError) in
            try configuration.setDefault("me")
        }
        #expect(try manager.destinationOfSymbolicLink(atPath: link) == "second.json")
        let text = try String(contentsOfFile: folder.path + "/dotfiles/settings.json", encoding: .utf8)
        #expect(text.contains("\"defaultAccount\": \"me\"") && text.contains("mine") == exists)
        #expect(try ConfigurationFile(paths: folder.paths).defaultAccount == "me")
    }

    @Test("a link takes no secret to where it leads, and one that leads nowhere is an error")
    func secretsAndLinks() throws {
        let manager = FileManager.default
        try folder.write(#"{"jid":"me@example.org"}"#, to: "elsewhere.json")
        try folder.write("", to: "config/jabberctl/accounts/x.txt")
        let link = folder.path + "/config/jabberctl/accounts/me.json"
        try manager.createSymbolicLink(atPath: link, withDestinationPath: folder.path + "/elsewhere.json")
        try ConfigurationFile.change(paths: folder.paths) { (configuration) throws(ControlError) in
            var account = try configuration.account("me")
            account.password = "geheim"
            try configuration.save(account)
        }
        let elsewhere = try String(contentsOfFile: folder.path + "/elsewhere.json", encoding: .utf8)
        #expect(!elsewhere.contains("geheim"))
        #expect(try ConfigurationFile(paths: folder.paths).account("me").password == "geheim")
        let loop = folder.path + "/loop"
        try manager.createSymbolicLink(atPath: loop, withDestinationPath: "loop")
        #expect { try PrivateFile.write([], to: loop, followsLinks: true) } throws: { "\($0)".contains("links") }
    }

    @Test("a saved account is 0600 in a 0700 folder, keeps unknown keys and comes back the same")
    func save() throws {
        try folder.write(
            #"{"jid":"me@example.org","future":[1,{"a":null}]}"#, to: "config/jabberctl/accounts/me.json", mode: 0o644)
        var configuration = try ConfigurationFile(paths: folder.paths)
        var account = try configuration.account("me")
        account.password = "geheim \" \\ é"
        account.port = 5222
        try configuration.save(account)
        #expect(try folder.mode(of: "config/jabberctl/accounts/me.json") == 0o600)
        let again = try ConfigurationFile(paths: folder.paths)
        #expect(try again.account("me") == account)
        #expect(account.unknown == ["future": [1, ["a": nil]]])
        #expect(PrivateFile.names(in: folder.path + "/config/jabberctl/accounts") == ["me.json"])

        let fresh = try TemporaryFolder()
        var first = try ConfigurationFile(paths: fresh.paths)
        try first.save(account)
        try first.setDefault("me")
        #expect(try fresh.mode(of: "config/jabberctl/accounts") == 0o700)
        #expect(try fresh.mode(of: "config/jabberctl/config.json") == 0o600)
        #expect(try ConfigurationFile(paths: fresh.paths).defaultAccount == "me")
        try first.remove("me")
        let last = try ConfigurationFile(paths: fresh.paths)
        #expect(last.accounts.isEmpty && last.defaultAccount == nil)
    }

    @Test("an inline account is changed where it stands")
    func inline() throws {
        try folder.write(
            #"{"theme":"dark","accounts":{"me":{"jid":"me@example.org"}}}"#, to: "config/jabberctl/config.json")
        var configuration = try ConfigurationFile(paths: folder.paths)
        var account = try configuration.account("me")
        account.priority = 5
        try configuration.save(account)
        #expect(PrivateFile.names(in: folder.path + "/config/jabberctl") == ["config.json"])
        let text = try String(contentsOfFile: folder.path + "/config/jabberctl/config.json", encoding: .utf8)
        #expect(text.contains("{\"theme\":\"dark\",") && text.contains("\"priority\": 5"))
        try configuration.remove("me")
        #expect(try ConfigurationFile(paths: folder.paths).accounts.isEmpty)
    }

    @Test(
        "one key of the settings changes, and comments stay",
        arguments: [
            ("", "x", "{\n  \"d\": \"x\"\n}\n"),
            ("{}", "x", "{\n  \"d\": \"x\",}"),
            ("// mine\n{ a: 1, // one\n}", "x", "// mine\n{\n  \"d\": \"x\", a: 1, // one\n}"),
            ("{ d: 'old' /* why */, a: 1 }", "x", "{ d: \"x\" /* why */, a: 1 }"),
            ("{ d: 'old', a: 1 } // end", nil, "{  a: 1 } // end"),
            ("{ a: 1, d: 'old' }", nil, "{ a: 1,  }"),
            ("{ a: { d: 1 } }", nil, "{\n  \"a\": {\n    \"d\": 1\n  }\n}\n"),
        ] as [(String, String?, String)])
    func settingsText(_ text: String, _ value: String?, _ expected: String) {
        let edited = SettingsText.set("d", to: value.map(JSONValue.string), in: Array(text.utf8))
        #expect(String(decoding: edited, as: UTF8.self) == expected)
    }

    @Test("choosing the default account leaves the comments of the settings file")
    func defaultKeepsComments() throws {
        let text = "// my accounts\n{\n  accounts: { a: { jid: 'a@b' }, c: { jid: 'c@d' } }, // two\n}\n"
        try folder.write(text, to: "config/jabberctl/config.json")
        var configuration = try ConfigurationFile(paths: folder.paths)
        try configuration.setDefault("c")
        let file = folder.path + "/config/jabberctl/config.json"
        #expect(try String(contentsOfFile: file, encoding: .utf8).contains("// two"))
        #expect(try ConfigurationFile(paths: folder.paths).implicitAccount()?.jid == "c@d")
    }

    @Test("what is shown of an account never holds the password")
    func publicJSON() throws {
        var account = AccountConfiguration(name: "me", jid: "me@example.org")
        account.password = "geheim"
        account.passwordCommand = ["pass", "show", "geheim"]
        account.unknown = ["token": "geheim"]
        #expect(!JSONValue.object(account.publicJSON).text.contains("geheim"))
    }

    @Test("the address of a WebSocket takes the place of the account's host, port and kind of TLS")
    func webSocketSelection() throws {
        try folder.write(
            #"{"jid":"me@example.org","host":"a","port":5223,"tls":"direct"}"#, to: "config/jabberctl/accounts/me.json")
        var selection = SessionSelection()
        selection.host = "wss://example.org/ws"
        let account = try selection.resolve(paths: folder.paths)
        #expect(account.host == "wss://example.org/ws" && account.port == nil && account.tls == nil)
        selection.port = 443
        #expect(try selection.resolve(paths: folder.paths).port == 443, "what is said of it is kept, to be refused")
        selection.host = "b"
        selection.port = nil
        #expect(try selection.resolve(paths: folder.paths).port == 5223)
    }

    @Test(
        "fingerprints of keys are one or a list; what is none is told with its place",
        arguments: [
            (#""0a""#, nil), ("[]", []), (#""A""#, ["a"]), (#"["a","A","b"]"#, ["a", "b"]), ("1", nil), ("[1]", nil),
        ] as [(String, [String]?)])
    func pins(_ value: String, _ expected: [String]?) throws {
        // A letter stands for a fingerprint of 64.
        func long(_ letter: some StringProtocol) -> String {
            letter.count == 1 ? String(repeating: String(letter), count: 64) : String(letter)
        }
        let text = value.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
            .map { $0.offset % 2 == 1 ? long($0.element) : String($0.element) }.joined(separator: "\"")
        let object = try #require(try JSONReader.read("{\"jid\":\"a@b\",\"pin\":\(text)}".utf8).objectValue)
        do throws(ControlError) {
            let account = try AccountConfiguration(name: "me", json: object, file: "me.json")
            #expect(account.pins == expected?.map(long))
            #expect(account.isKnownByKey == (expected != []))
        } catch {
            #expect(expected == nil && error.code == .configuration && error.message.contains("me.json"), "\(error)")
        }
    }

    @Test("keys of a selection take the place of the account's, and of its authorities")
    func pinSelection() throws {
        let (one, two) = (String(repeating: "a", count: 64), String(repeating: "b", count: 64))
        try folder.write(
            "{\"jid\":\"me@example.org\",\"trust\":\"pkix\",\"pin\":\"\(one)\"}",
            to: "config/jabberctl/accounts/me.json")
        var selection = SessionSelection()
        #expect(try selection.resolve(paths: folder.paths).isKnownByKey == false)
        selection.trust = .pin
        #expect(try selection.resolve(paths: folder.paths).pins == [one])
        selection.trust = nil
        selection.pins = [two]
        let account = try selection.resolve(paths: folder.paths)
        #expect(account.isKnownByKey && account.pins == [two])
        #expect(try SessionSelection(params: ["session": .object(selection.json)]) == selection)
    }

    @Test("options override the account; a JID alone needs no account")
    func selection() throws {
        try folder.write(
            #"{"jid":"me@example.org","host":"a","passwordCommand":"pass 'show' \"x y\""}"#,
            to: "config/jabberctl/accounts/me.json")
        var selection = SessionSelection()
        selection.host = "127.0.0.1"
        selection.port = 5222
        let account = try selection.resolve(paths: folder.paths)
        #expect(account.host == "127.0.0.1" && account.port == 5222 && account.jid == "me@example.org")
        #expect(account.passwordCommand == ["pass", "show", "x y"])
        try folder.write(
            #"{"jid":"me@example.org","host":"a","port":443,"tls":"direct"}"#, to: "config/jabberctl/accounts/me.json")
        var other = SessionSelection()
        other.host = "wss://example.org/ws"
        let moved = try other.resolve(paths: folder.paths)
        #expect(moved.host == other.host && moved.port == nil && moved.tls == nil)
        selection.jid = "you@example.net"
        #expect(try selection.resolve(paths: folder.paths).name == "you@example.net")
        #expect(try SessionSelection(params: ["session": .object(selection.json)]) == selection)
        #expect(throws: ControlError.self) { try SessionSelection(params: ["session": ["port": "x"]]) }
        selection.config = folder.path + "/none.json"
        #expect { try selection.resolve(paths: folder.paths) } throws: { ($0 as? ControlError)?.code == .fileMissing }
    }

    @Test("two accounts without a default are a question, not a guess")
    func ambiguous() throws {
        try folder.write(#"{"accounts":{"a":{"jid":"a@b"},"c":{"jid":"c@d"}}}"#, to: "config/jabberctl/config.json")
        #expect { try SessionSelection().resolve(paths: folder.paths) } throws: {
            ($0 as? ControlError)?.message.contains("--account") == true
        }
    }

    @Test("the password comes from the credential, the command, the file, in this order")
    func passwordSources() throws {
        var account = AccountConfiguration(name: "me", jid: "me@example.org")
        let source = PasswordSource(environment: ["PATH": "/usr/bin:/bin", "JABBERCTL_PASSWORD": "leak"])
        #expect(try source.password(of: account) == nil)
        account.password = "from file"
        #expect(try source.password(of: account) == "from file")
        account.passwordCommand = ["sh", "-c", "printf 'from command%s\\nmore' \"$JABBERCTL_PASSWORD\""]
        #expect(try source.password(of: account) == "from command")
        account.passwordCommand = ["sh", "-c", "exit 3"]
        #expect { try source.password(of: account) } throws: { "\($0)".contains("exit code 3") }
        account.passwordCommand = ["yes"]
        #expect { try source.password(of: account) } throws: { "\($0)".contains("wrote more than") }
        account.passwordCommand = ["/no/such/program"]
        #expect { try source.password(of: account) } throws: { ($0 as? ControlError)?.code == .configuration }
        try folder.write("from credential\r\n", to: "jabberctl.me")
        let service = PasswordSource(environment: ["CREDENTIALS_DIRECTORY": folder.path])
        #expect(try service.password(of: account) == "from credential")
    }

    @Test("a command line is split into words without a shell")
    func words() throws {
        #expect(
            try CommandWords.split(#"pass show  'a b' "c\"d" e\ f '' $HOME ;x"#)
                == ["pass", "show", "a b", "c\"d", "e f", "", "$HOME", ";x"])
        #expect(throws: ControlError.self) { try CommandWords.split("pass 'open") }
        #expect(throws: ControlError.self) { try CommandWords.split("  ") }
    }

    @Test("an account's name cannot leave its folder", arguments: ["", "..", ".hidden", "a/b", "a b", "a\u{0}"])
    func names(_ name: String) {
        #expect(!AccountConfiguration.isName(name))
        #expect(AccountConfiguration.isName("me@example.org"))
    }

    @Test(
        "a proxy's address that cannot be read is taken for a secret wherever a sign in it stands, accents or not",
        arguments: ["socks5://user:secret@\u{301}h", "socks5://user:secret@h\u{301}", "user\u{301}:secret@h"])
    func unreadableProxies(_ address: String) {
        #expect(AccountConfiguration.holdsSecret(["proxy": .string(address)]))
    }
}
