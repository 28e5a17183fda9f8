// SPDX-License-Identifier: Apache-2.0

import Foundation
import JabberControl
import SocketIO
import Testing
import XMPP
import XMPPTestSupport

@testable import JabberDaemon

@Suite("Logging in")
struct LoginTests {
    @Test("A wrong password is exit code 77, names the mechanism, and is tried once (RFC 6120 §6.4.5)")
    func wrongPassword() async throws {
        try await DaemonHarness.run(password: "wrong") { daemon in
            let first = await daemon.failure("ping")
            #expect(first?.code == .authRefused)
            #expect(first?.exit == .authenticationRefused)
            #expect(first?.message.contains("SCRAM-SHA-512") == true)
            #expect(first?.account == "juliet@example.org")
            #expect(await daemon.failure("send", ["to": ["nurse@example.org"], "text": "x"])?.code == .authRefused)
            let attempts = await daemon.server.transcript.filter { $0.element.localName == "auth" }
            #expect(attempts.count == 1)
            try await daemon.give(password: "secret")
            #expect(await daemon.failure("ping") == nil)
        }
    }

    @Test("Without a password the tool is told that one is needed, and may hand it over")
    func passwordNeeded() async throws {
        try await DaemonHarness.run(password: nil) { daemon in
            let error = await daemon.failure("ping")
            #expect(error?.code == .passwordNeeded)
            #expect(error?.exit == .configuration)
            #expect(error?.account == "juliet@example.org")
            #expect(await daemon.server.openConnections == 0)
            try await daemon.give(password: "secret")
            try await daemon.call("ping")
        }
    }

    @Test("Time that is up on the way to a session is exit code 5 with the place and the part of the way")
    func silence() async throws {
        let silent = try ListeningSocket(.loopback(port: 0), on: StreamExecutor())
        let port = try #require(silent.address.port)
        let place = "127.0.0.1:\(port)"
        try await DaemonHarness.run { daemon in
            var session = daemon.session
            session["port"] = .integer(Int64(port))
            for (method, params) in [("ping", [:]), ("account.register", ["target": "new@example.org"])]
                as [(String, JSONObject)]
            {
                var params = params
                params["session"] = .object(session)
                if method == "ping" {
                    _ = try await daemon.client.call(
                        MethodTable.passwordMethod, ["session": .object(session), "password": "secret"])
                }
                let error = await daemon.failure(method, params, timeout: 4)
                #expect(error?.code == .timedOut && error?.exit == .timedOut, "\(error as Any)")
                #expect(error?.message == "no answer of example.org in time. (At \(place), during TLS.)")
                #expect(error?.endpoint == place && error?.phase == "tls")
            }
        }
        withExtendedLifetime(silent) {}
    }

    @Test("A login that has taken too long is told by its part of the way")
    func progress() {
        let progress = LoginProgress()
        func said() -> String? { progress.delay(at: "example.org")?.message }
        let first = StreamPlace(endpoint: "a:1", way: .startTLS)
        let second = StreamPlace(endpoint: "b:2", way: .startTLS)
        #expect(said() == nil)
        progress.begin()
        #expect(said() == "no name server has said in time where example.org is.")
        progress.reached(.resolved([first, second, first, first, first]))
        #expect(said() == "no connection for example.org in time: a:1, b:2, a:1 and 2 more.")
        progress.reached(.resolved([first, second]))
        progress.reached(.connected(first))
        #expect(said() == "no answer of example.org in time. (At a:1, during TLS.)")
        progress.reached(.failed(first, XMPPError(.connectionLost, "")))
        progress.reached(.connected(second))
        progress.reached(.authenticated(mechanism: "PLAIN"))
        #expect(said() == "no answer of example.org in time. (At b:2, at the start of the session.)")
        #expect(progress.delay(at: "example.org")?.phase == "session")
        progress.end()
        #expect(said() == nil)
    }

    @Test(
        "A certificate for another name is exit code 76, names both, and not one byte of SASL was sent (RFC 6120 §13.7.2)"
    )
    func wrongName() async throws {
        var options = LoopbackOptions()
        options.certificateFlaw = .wrongName
        try await DaemonHarness.run(options: options) { daemon in
            let error = await daemon.failure("ping")
            #expect(error?.code == .certificate)
            #expect(error?.exit == .protocolFailure)
            #expect(error?.message.contains("not valid for example.org") == true)
            #expect(error?.message.contains("wrong.example.org") == true)
            #expect(await daemon.server.transcript.allSatisfy { $0.element.localName != "auth" })
        }
    }

    @Test(
        "An unusable certificate is exit code 76 and says why",
        arguments: [
            (TestCertificate.Flaw.expired, "expired"), (.selfSigned, "self-signed"), (.notYetValid, "not valid before"),
            (.unknownAuthority, "not trusted"),
        ])
    func flaws(_ flaw: TestCertificate.Flaw, _ word: String) async throws {
        var options = LoopbackOptions()
        options.certificateFlaw = flaw
        try await DaemonHarness.run(options: options) { daemon in
            let error = await daemon.failure("ping")
            #expect(error?.exit == .protocolFailure)
            #expect(error?.message.contains(word) == true, "\(error?.message ?? "")")
        }
    }

    @Test("A key that is not the account's is exit code 76, names both and the way to accept it; then it is accepted")
    func pinned() async throws {
        var options = LoopbackOptions()
        options.certificateFlaw = .selfSigned
        let pin = String(repeating: "ab", count: 32)
        try await DaemonHarness.run(options: options) { daemon in
            var session = daemon.session
            session["pin"] = [.string(pin)]
            let error = try #require(await daemon.failureWithPassword(session))
            #expect(error.code == .certificate && error.exit == .protocolFailure)
            #expect(error.message.contains("only \(pin)"), "\(error.message)")
            #expect(await daemon.server.transcript.allSatisfy { $0.element.localName != "auth" })
            let key = try #require(error.message.split(separator: " ").last.map(String.init))
            #expect(error.message.hasSuffix("If that key is the right one: --pin \(key)"))
            session["pin"] = [.string(key)]
            #expect(await daemon.failureWithPassword(session) == nil)
            session["trust"] = "pkix"
            #expect(await daemon.failureWithPassword(session)?.message.contains("self-signed") == true)
        }
        try await Self.withSettings(["password": "secret", "pin": .string(pin)]) { server, folder in
            let daemon = try DaemonHarness(server) { $0.paths.config = folder.path }
            let error = await daemon.failure("ping", ["session": ["account": "home"]])
            #expect(error?.message.contains("jabberctl account set home --pin ") == true, "\(error?.message ?? "")")
            #expect(await server.transcript.isEmpty)
            await daemon.end()
        }
    }

    @Test("A server without TLS is exit code 76 (RFC 6120 §13.8)")
    func noTLS() async throws {
        var options = LoopbackOptions()
        options.offersStartTLS = false
        options.allowsPlaintext = true
        try await DaemonHarness.run(options: options) { daemon in
            let error = await daemon.failure("ping")
            #expect(error?.code == .tlsRequired)
            #expect(error?.exit == .protocolFailure)
            #expect(await daemon.server.transcript.allSatisfy { $0.element.localName != "auth" })
        }
    }

    @Test("Nothing that listens is exit code 69, a host that does not exist 68, an address that is none 65")
    func places() async throws {
        try await DaemonHarness.run { daemon in
            var session = daemon.session
            session["port"] = 1
            #expect(await daemon.failureWithPassword(session)?.exit == .unavailable)
            session["host"] = "nowhere.invalid"
            #expect(await daemon.failureWithPassword(session)?.exit == .hostNotFound)
            session["jid"] = "juliet@"
            let invalid = await daemon.failureWithPassword(session)
            #expect(invalid?.exit == .badData)
            #expect(invalid?.message.contains("domainpart") == true)
        }
    }

    @Test("No account and no address is exit code 78, an unknown account 4")
    func noAccount() async throws {
        try await DaemonHarness.run { daemon in
            #expect(await daemon.failure("ping", ["session": [:]])?.exit == .configuration)
            #expect(await daemon.failure("ping", ["session": ["account": "work"]])?.exit == .notFound)
        }
    }

    @Test("An account of the settings logs in with its own password; a file that others can read is exit code 78")
    func configured() async throws {
        try await Self.withSettings(["password": "secret", "resource": "balcony"]) { server, folder in
            let daemon = try DaemonHarness(server) { $0.paths.config = folder.path }
            let result = try await daemon.call("ping", ["session": ["account": "home"]])
            #expect(result.string("account") == "juliet@example.org")
            #expect(await server.connected.map(\.description).contains("juliet@example.org/balcony"))
            await daemon.end()
            let file = folder.appending(path: "config.json").path
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
            let other = try DaemonHarness(server) { $0.paths.config = folder.path }
            let open = await other.failure("ping", ["session": ["account": "home"]])
            #expect(open?.exit == .configuration)
            #expect(open?.message.contains("chmod 600") == true)
            await other.end()
        }
    }

    @Test("A password command is asked when a method first needs the account; one that fails is exit code 78")
    func passwordCommand() async throws {
        try await Self.withSettings(["passwordCommand": ["/bin/echo", "secret"]]) { server, folder in
            let daemon = try DaemonHarness(server) { $0.paths.config = folder.path }
            #expect(try await daemon.call("ping", ["session": [:]]).string("jid") == "example.org")
            await daemon.end()
        }
        try await Self.withSettings(["passwordCommand": "/bin/false"]) { server, folder in
            let daemon = try DaemonHarness(server) { $0.paths.config = folder.path }
            let error = await daemon.failure("ping", ["session": [:]])
            #expect(error?.exit == .configuration)
            #expect(error?.message.contains("exit code 1") == true)
            #expect(await server.openConnections == 0)
            await daemon.end()
        }
    }

    @Test("A proxy of the settings is gone through, with the password from there or from a command; diag says so")
    func proxy() async throws {
        for isCommand in [false, true] {
            try await Self.withSettings(["password": "secret"]) { server, folder in
                let port = try #require(server.directTLSPort)
                let proxy = try LoopbackProxy(.socks5, to: [port: port], username: "me", password: "geheim")
                let login = isCommand ? "me" : "me:geheim"
                var keys: JSONObject = ["proxy": .string("socks5://\(login)@127.0.0.1:\(proxy.port)")]
                if isCommand { keys["proxyPasswordCommand"] = ["/bin/echo", "geheim"] }
                try Self.add(keys, to: folder)
                let daemon = try DaemonHarness(server) { $0.paths.config = folder.path }
                #expect(try await daemon.call("ping", ["session": [:]]).string("jid") == "example.org")
                let report = try await daemon.call("diag", ["session": [:]])
                #expect(report["ok"] == true, "\(report)")
                let way = report.objects("steps").first { $0.string("step") == "connect" }?.string("detail")
                #expect(way?.hasSuffix("through socks5://127.0.0.1:\(proxy.port)") == true)
                let text = String(decoding: JSONValue.object(report).encoded(), as: UTF8.self)
                #expect(!text.contains("geheim") && !text.contains("me:"))
                // For the ping, for the login of diag and for its survey; more where a second try raced the first.
                #expect(proxy.requests.count >= 3 && Set(proxy.requests) == ["127.0.0.1:\(port)"])
                await daemon.end()
                proxy.stop()
            }
        }
    }

    @Test(
        "A certificate of the settings logs in (EXTERNAL), in PEM and in PKCS #12; a key that others can read does not")
    func certificate() async throws {
        try await Self.withSettings([:]) { server, folder in
            let made = try server.authority.issue(
                names: [.xmppAddress("juliet@example.org")], flaw: .missingServerPurpose)
            func write(_ bytes: [UInt8], to name: String, mode: Int = 0o600) throws -> JSONValue {
                let file = folder.appending(path: name)
                try Data(bytes).write(to: file)
                try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
                return .string(file.path)
            }
            let certificate = try write(made.certificate, to: "cert.pem", mode: 0o644)
            let key = try write(made.privateKey, to: "key.pem")
            let open = try write(made.privateKey, to: "open.pem", mode: 0o640)
            let both = try write(made.certificate + made.privateKey, to: "both.pem")
            let p12 = try write(try made.pkcs12(password: "p12"), to: "me.p12")
            let cases: [(JSONObject, ExitCode?, String)] = [
                (["certificate": certificate, "key": key], nil, ""), (["certificate": both], nil, ""),
                (["certificate": p12, "certificatePassword": "p12"], nil, ""),
                (["certificate": p12, "certificatePasswordCommand": "/bin/echo p12"], nil, ""),
                (["certificate": p12, "certificatePassword": "falsch"], .configuration, "cannot be read"),
                (["certificate": p12, "key": key], .configuration, "leave \"key\" out"),
                (["certificate": certificate, "key": open], .configuration, "chmod 600"),
                (["certificate": certificate], .configuration, "private key"),
                (["certificate": "/nonexistent/cert.pem"], .noInput, "/nonexistent/cert.pem"),
            ]
            for (keys, code, words) in cases {
                try Self.replace(with: keys, in: folder)
                let daemon = try DaemonHarness(server) { $0.paths.config = folder.path }
                let error = await daemon.failure("ping", ["session": [:]])
                #expect(error?.exit == code && (error?.message.contains(words) ?? true), "\(error as Any)")
                #expect(error?.message.contains("falsch") != true)
                await daemon.end()
            }
        } options: { options in
            options.asksForCertificates = true
            options.mechanisms.append("EXTERNAL")
        }
    }

    @Test(
        "An access token of the settings logs in (OAUTHBEARER); a command is asked at each login, so that a new one counts"
    )
    func accessToken() async throws {
        try await Self.withSettings([:]) { server, folder in
            let token = folder.appending(path: "token")
            let cases: [(JSONObject, String, ExitCode?)] = [
                (["accessToken": "secret"], "", nil), (["accessToken": "stale"], "", .authenticationRefused),
                (["accessTokenCommand": "/bin/false"], "", .configuration),
            ]
            for (keys, _, code) in cases {
                try Self.replace(with: keys, in: folder)
                let daemon = try DaemonHarness(server) { $0.paths.config = folder.path }
                let error = await daemon.failure("ping", ["session": [:]])
                #expect(error?.exit == code && error?.message.contains("stale") != true, "\(error as Any)")
                await daemon.end()
            }
            try Self.replace(with: ["accessTokenCommand": ["/bin/cat", .string(token.path)]], in: folder)
            let daemon = try DaemonHarness(server) { $0.paths.config = folder.path }
            try Data("stale\n".utf8).write(to: token)
            let stale = await daemon.failure("ping", ["session": [:]])
            #expect(stale?.exit == .authenticationRefused && stale?.message.contains("access token") == true)
            try Data("secret\n".utf8).write(to: token)
            #expect(try await daemon.call("ping", ["session": [:]]).string("jid") == "example.org")
            await daemon.end()
        } options: { options in
            options.mechanisms = ["OAUTHBEARER"]
        }
    }

    @Test("An access token that the tool hands over logs in (RFC 7628); another one may follow a refusal")
    func givenToken() async throws {
        var options = LoopbackOptions()
        options.mechanisms = ["OAUTHBEARER"]
        try await DaemonHarness.run(options: options, password: nil) { daemon in
            for (token, code) in [("stale", ExitCode.authenticationRefused), ("secret", nil)] as [(String, ExitCode?)] {
                _ = try await daemon.client.call(
                    MethodTable.passwordMethod, ["session": .object(daemon.session), "token": .string(token)])
                #expect(await daemon.failure("ping")?.exit == code)
            }
        }
    }

    /// Gives the account `home` these keys in the place of those that a test has given it before.
    private static func replace(with keys: JSONObject, in folder: URL) throws {
        let base = folder.appending(path: "base.json")
        let file = folder.appending(path: "config.json")
        if !FileManager.default.fileExists(atPath: base.path) { try FileManager.default.copyItem(at: file, to: base) }
        try Data(contentsOf: base).write(to: file)
        try add(keys, to: folder)
    }

    /// Adds keys to the account `home`.
    private static func add(_ keys: JSONObject, to folder: URL) throws {
        let file = folder.appending(path: "config.json")
        var account = try JSONReader.read(try Data(contentsOf: file))["accounts"]?["home"]?.objectValue ?? [:]
        for entry in keys.entries { account[entry.key] = entry.value }
        try Data(JSONValue.object(["accounts": ["home": .object(account)]]).encoded()).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    }

    @Test("A proxy that is not there is exit code 69, one that refuses the login 78; the password is in neither text")
    func proxyFailures() async throws {
        let proxy = try LoopbackProxy(.http, to: [:], username: "me", password: "geheim")
        let cases: [(JSONObject, ExitCode)] = [
            (["proxy": "socks5://me:falsch@127.0.0.1:1"], .unavailable),
            (["proxy": .string("http://me:falsch@127.0.0.1:\(proxy.port)")], .configuration),
            (["proxy": .string("http://me:geheim@127.0.0.1:\(proxy.port)")], .unavailable),
            (["proxy": "http://me@127.0.0.1:1", "proxyPasswordCommand": "/bin/false"], .configuration),
        ]
        for (keys, code) in cases {
            var settings = keys
            settings["password"] = "secret"
            try await Self.withSettings(settings) { server, folder in
                let daemon = try DaemonHarness(server) { $0.paths.config = folder.path }
                let error = await daemon.failure("ping", ["session": [:]])
                #expect(error?.exit == code, "\(error as Any)")
                #expect(error?.message.contains("proxy") == true && error?.message.contains("falsch") == false)
                #expect(await server.openConnections == 0)
                await daemon.end()
            }
        }
        proxy.stop()
    }

    /// Runs `body` with a server and a folder of settings with one account, `home`.
    private static func withSettings(
        _ keys: JSONObject, _ body: (LoopbackServer, URL) async throws -> Void,
        options change: (inout LoopbackOptions) -> Void = { _ in }
    ) async throws {
        var options = LoopbackOptions()
        change(&options)
        let server = try await LoopbackServer.start(
            domain: "example.org", accounts: ["juliet": "secret"], options: options)
        let folder = FileManager.default.temporaryDirectory.appending(path: "daemon-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var account: JSONObject = [
            "jid": "juliet@example.org", "host": "127.0.0.1", "port": .integer(Int64(server.directTLSPort ?? 0)),
            "tls": "direct", "ca": .string(server.certificateAuthorityFile),
        ]
        for entry in keys.entries { account[entry.key] = entry.value }
        let settings: JSONValue = ["accounts": ["home": .object(account)]]
        let file = folder.appending(path: "config.json")
        try Data(settings.encoded()).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        do {
            try await body(server, folder)
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    @Test("One login serves every command of a connection")
    func oneLogin() async throws {
        try await DaemonHarness.run { daemon in
            async let ping = daemon.call("ping")
            async let list = daemon.call("roster.list")
            async let online = daemon.call("online")
            _ = try await (ping, list, online)
            #expect(await daemon.server.transcript.filter { $0.element.localName == "auth" }.count == 1)
            let rosters = await daemon.server.received(from: "juliet").filter {
                $0.firstChild("query", namespace: Namespace.roster) != nil
            }
            #expect(rosters.count == 1)
        }
    }

    @Test("When the tool goes, the stream is closed in good order (RFC 6120 §4.4)")
    func vanishes() async throws {
        let server = try await LoopbackServer.start(domain: "example.org", accounts: ["juliet": "secret"])
        let daemon = try DaemonHarness(server)
        try await daemon.give(password: "secret")
        try await daemon.call("presence.show")
        #expect(await server.connected.count == 1)
        await daemon.end()
        #expect(await server.connected.isEmpty)
        await server.stop()
    }

    @Test("A command that waits is answered when its time is up, though the server says nothing")
    func timeLimit() async throws {
        try await DaemonHarness.run { daemon in
            await daemon.server.planNextConnection([.stall(afterBytes: 10)])
            let error = await daemon.failure("ping", timeout: 0.3)
            #expect(error?.code == .timedOut)
            #expect(error?.exit == .timedOut)
        }
    }
}

extension DaemonHarness {
    /// The error of a ping for another session, for which the daemon has a password.
    func failureWithPassword(_ session: JSONObject) async -> ControlError? {
        do throws(ControlError) {
            _ = try await client.call(
                MethodTable.passwordMethod, ["session": .object(session), "password": "secret"])
        } catch {
            return error
        }
        return await failure("ping", ["session": .object(session)])
    }
}
