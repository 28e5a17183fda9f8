// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import JabberControl
import SocketIO
import Testing
import XMPP
import XMPPTestSupport

@testable import JabberDaemon

@Suite("The daemon that stays", .timeLimit(.minutes(5)))
struct LastingDaemonTests {
    private static let romeo = LoopbackBuddy("romeo", name: "Romeo", behaviors: [])

    @Test("Every command uses the one session that is held open")
    func oneSession() async throws {
        try await LastingHarness.run(buddies: [Self.romeo]) { daemon in
            try await daemon.call("connect")
            let status = try await daemon.status("juliet")
            #expect(status.string("connection") == "connected")
            #expect(status["security"]?["version"]?.stringValue?.hasPrefix("TLS") == true)
            #expect(status.string("session")?.hasPrefix("juliet@example.org/") == true)
            let online = try await daemon.call("online")
            #expect(online.objects("contacts").map { $0.string("jid") } == ["romeo@example.org"])
            let sent = try await daemon.call("send", ["to": ["romeo@example.org"], "text": "x", "id": "once"])
            let again = try await daemon.call("send", ["to": ["romeo@example.org"], "text": "x", "id": "once"])
            #expect(sent == again, "the same id twice is one message")
            #expect(await daemon.server.openConnections == 1)
        }
    }

    @Test("One bad account never touches another")
    func isolation() async throws {
        try await LastingHarness.run(["juliet": "secret", "nurse": "wrong"]) { daemon in
            try await daemon.call("connect")
            let refused = await daemon.failure("connect", account: "nurse")
            #expect(refused?.code == .authRefused)
            #expect(
                await daemon.failure("send", ["to": ["x@example.org"], "text": "x"], account: "nurse")?.exit
                    == .authenticationRefused)
            #expect(try await daemon.status("nurse").string("connection") == "failed")
            #expect(try await daemon.status("juliet").string("connection") == "connected")
            #expect(await daemon.failure("online", account: "romeo")?.code == .accountNotFound)
        }
    }

    @Test(
        "When the network has changed, an account that waits is tried at once; one that its user has disconnected is not"
    )
    func networkChange() async throws {
        try await LastingHarness.run(["juliet": "secret", "nurse": "secret"]) { daemon in
            try await daemon.call("connect")
            try await daemon.call("disconnect", account: "nurse")
            await daemon.server.changeOptions { $0.authenticationFailure = .temporaryAuthFailure }
            await daemon.server.endStreams(of: "juliet", with: StreamError(.systemShutdown))
            while try await daemon.status("juliet").string("connection") != "waiting" {}
            await daemon.server.changeOptions { $0.authenticationFailure = nil }
            await daemon.changeNetwork()
            try await Patience.wait(for: "the account to be connected", within: .seconds(20)) {
                try await daemon.status("juliet").string("connection") == "connected"
            }
            #expect(try await daemon.status("nurse").string("connection") == "disconnected")
        }
    }

    @Test("When the network has changed, an account is tried again that met somebody in between on the one before")
    func leavingTheHotel() async throws {
        try await LastingHarness.run { daemon in
            try await daemon.call("connect")
            await daemon.server.changeOptions { $0.offersStartTLS = false }
            _ = try? await daemon.call("reconnect")
            try await Patience.wait(for: "the account to be given up") {
                try await daemon.status("juliet").string("connection") == "failed"
            }
            await daemon.server.changeOptions { $0.offersStartTLS = true }
            await daemon.changeNetwork()
            try await Patience.wait(for: "the account to be connected", within: .seconds(20)) {
                try await daemon.status("juliet").string("connection") == "connected"
            }
        }
    }

    @Test(
        "An account whose connection breaks off while it is being made tries again, at whatever byte",
        arguments: [100, 600, 800, 1_000, 1_300, 1_600, 2_200])
    func breaksOff(_ bytes: Int) async throws {
        try await LastingHarness.run { daemon in
            try await daemon.call("connect")
            await daemon.server.planNextConnection([.cut(afterBytes: bytes)])
            _ = try? await daemon.call("reconnect")
            #expect(try await daemon.status("juliet").string("connection") != "failed")
            try await Patience.wait(for: "the account to be connected") {
                await daemon.changeNetwork()
                return try await daemon.status("juliet").string("connection") == "connected"
            }
        }
    }

    @Test("A disconnected account stays so until it is connected again: exit code 3 meanwhile")
    func disconnect() async throws {
        try await LastingHarness.run { daemon in
            try await daemon.call("connect")
            #expect(try await daemon.call("disconnect").string("connection") == "disconnected")
            #expect(await daemon.server.openConnections == 0)
            let error = await daemon.failure("online")
            #expect(error?.exit == .notRunning)
            #expect(error?.message.contains("jabberctl connect juliet") == true)
            #expect(await daemon.failure("presence.set", ["show": "away"])?.code == .notConnected)
            #expect(try await daemon.call("connect").string("connection") == "connected")
            #expect(try await daemon.call("reconnect").string("connection") == "connected")
            #expect(await daemon.server.openConnections == 1)
        }
    }

    @Test("The session comes back with its presence when the connection was lost")
    func comesBack() async throws {
        try await LastingHarness.run(buddies: [Self.romeo]) { daemon in
            try await daemon.call("connect")
            try await daemon.call("presence.set", ["show": "dnd", "status": "busy"])
            let client = try await daemon.client()
            let events = Events()
            async let listening = client.call(
                "listen", ["kind": ["account"], "count": 3, "session": ["account": "juliet"]], onEvent: events.sink)
            // The subscription stands before the answer to a later request of the same connection.
            _ = try await client.call("status")
            await daemon.server.cutConnections(of: "juliet")
            _ = await events.first(1)
            // Not after the minute that a first loss may take (RFC 6120 §3.3), but now.
            try await daemon.call("connect")
            let changes = await events.first(3)
            #expect(changes.map { $0.string("connection") } == ["disconnected", "connecting", "connected"])
            _ = try await listening
            await client.close()
            try await daemon.call("connect")
            let status = try await daemon.status("juliet")
            #expect(status.int("reconnects") == 1)
            #expect(status.string("show") == "dnd")
            #expect(status.string("status") == "busy")
        }
    }

    @Test("A server with a key that no login has met is told of, by listen, by status and in words (RFC 7590 §3.6)")
    func keyChange() async throws {
        try await LastingHarness.run { daemon in
            try await daemon.call("connect")
            let key = try await daemon.status("juliet")["security"]?["key"]?.stringValue
            let old = String(repeating: "07", count: 32)
            try await daemon.anew(.stop) {
                let paths = RuntimePaths(environment: ["HOME": daemon.folder])
                let files = try #require(AccountFiles(of: "juliet", paths: paths))
                let jid = try JID("juliet@example.org")
                let store = LoginMemoryFile(files, owner: .daemon)
                var memory = try #require(await store.memory(of: jid))
                memory.serverKeys = [
                    ServerKey(
                        identity: "example.org", fingerprint: try #require(KeyFingerprint(old)), issuer: "CN=old",
                        notAfter: "2040-01-01T00:00:00Z")
                ]
                await store.save(memory, of: jid)
            }
            try await daemon.call("connect")
            let security = try await daemon.status("juliet")["security"]
            #expect(security?["key"]?.stringValue == key && security?["previousKey"]?.stringValue == old)
            let all = try await heard(daemon, ["kind": ["account"], "count": 3, "since": "0"], 3)
            let keys = all.compactMap { $0["serverKey"]?.objectValue }
            let told = try #require(keys.first, "\(all)")
            #expect(told.string("host") == "example.org" && told.string("key") == key)
            #expect(told.string("previousKey") == old && told.string("issuer")?.isEmpty == false)
        }
    }

    @Test("listen --since gives what was missed; what is kept no more is a gap")
    func since() async throws {
        try await LastingHarness.run(buddies: [Self.romeo]) { daemon in
            try await daemon.call("connect")
            let first = try await heard(daemon, ["kind": ["account"], "count": 1, "since": "1"], 2)
            #expect(first.map { $0.string("type") } == ["gap", "account"])
            #expect(first[0].string("after") == "1")
            let cursor = try #require(first[1].string("cursor"))
            for text in ["one", "two"] {
                try await daemon.server.send(
                    Message(to: try JID("juliet@example.org"), body: text), as: "romeo")
            }
            let missed = try await heard(daemon, ["count": 2, "since": .string(cursor)], 2)
            #expect(missed.map { $0.string("body") } == ["one", "two"])
            let after = try await heard(daemon, ["count": 1, "since": missed[0]["cursor"] ?? .null], 1)
            #expect(after[0].string("body") == "two")
            #expect(await daemon.failure("listen", ["since": "yesterday"])?.code == .badParameters)
        }
    }

    private func heard(_ daemon: LastingHarness, _ params: JSONObject, _ count: Int) async throws -> [JSONObject] {
        var params = params
        params["session"] = ["account": "juliet"]
        let client = try await daemon.client()
        let events = Events()
        _ = try await client.call("listen", params, onEvent: events.sink)
        await client.close()
        return await events.first(count)
    }

    @Test("Settings are read again; wrong ones leave those in force, and the error is told")
    func reload() async throws {
        try await LastingHarness.run { daemon in
            try await daemon.call("connect")
            let session = try await daemon.status("juliet").string("session")
            try daemon.write("nurse", "secret")
            #expect(try await daemon.call("daemon.reload").int("accounts") == 2)
            try await daemon.call("connect", account: "nurse")
            #expect(try await daemon.status("juliet").string("session") == session, "its session goes on")
            try PrivateFile.write(Array("{ not JSON".utf8), to: daemon.folder + "/config/jabberctl/config.json")
            let error = await daemon.failure("daemon.reload")
            #expect(error?.code == .configuration)
            #expect(error?.message.contains("config.json") == true)
            #expect(try await daemon.status("nurse").string("connection") == "connected")
            try PrivateFile.remove(daemon.folder + "/config/jabberctl/config.json")
            try PrivateFile.remove(daemon.folder + "/config/jabberctl/accounts/nurse.json")
            let files = AccountFiles(of: "nurse", paths: RuntimePaths(environment: ["HOME": daemon.folder]))
            let logins = try #require(files).logins(of: .daemon)
            #expect(try PrivateFile.read(logins) != nil)
            #expect(try await daemon.call("daemon.reload").int("accounts") == 1)
            #expect(try PrivateFile.read(logins) == nil, "what lets anybody log in as a removed account goes with it")
            #expect(await daemon.failure("online", account: "nurse")?.code == .accountNotFound)
            #expect(await daemon.server.openConnections == 1)
        }
    }

    @Test("An account that cannot be read stops no other, and status says what is wrong with it")
    func unreadable() async throws {
        try await LastingHarness.run(broken: ["nurse": "{ not JSON"]) { daemon in
            try await daemon.call("connect")
            #expect(try await daemon.status("juliet").string("connection") == "connected")
            let nurse = try await daemon.status("nurse")
            #expect(nurse.string("connection") == "failed" && nurse["jid"] == nil)
            #expect(nurse["reason"]?["message"]?.stringValue?.contains("nurse.json") == true)
            #expect(await daemon.failure("online", account: "nurse")?.exit == .configuration)
            #expect(try await daemon.call("daemon.info").int("accounts") == 2)
            // Mended, and then spoilt again: what is in force stays so.
            try daemon.write("nurse", "secret")
            try await daemon.call("daemon.reload")
            try await daemon.call("connect", account: "nurse")
            try daemon.write("nurse", text: "{")
            try daemon.write("juliet", text: "[]")
            let error = await daemon.failure("daemon.reload")
            #expect(error?.exit == .configuration && error?.message.contains("juliet.json") == true)
            #expect(try await daemon.status("nurse").string("connection") == "connected")
            #expect(try await daemon.call("online").string("account") == "juliet@example.org")
        }
    }

    @Test("An account that was mended, or added, is taken when a command is for it")
    func mended() async throws {
        try await LastingHarness.run(["juliet": "secret"], broken: ["nurse": "{ not JSON"]) { daemon in
            #expect(await daemon.failure("ping", account: "nurse")?.exit == .configuration)
            try daemon.write("nurse", "wrong")
            #expect(await daemon.failure("ping", account: "nurse")?.code == .authRefused)
            // Nothing has changed: the same refusal, without another attempt.
            #expect(await daemon.failure("ping", account: "nurse")?.code == .authRefused)
            try daemon.write("nurse", "secret")
            try await daemon.call("ping", account: "nurse")
            let session = try await daemon.status("juliet").string("session")
            try daemon.write("again", text: "{}")
            #expect(await daemon.failure("ping", account: "again")?.exit == .configuration)
            // Others are left alone.
            #expect(try await daemon.status("juliet").string("session") == session)
        }
        try await LastingHarness.run([:]) { daemon in
            #expect(await daemon.failure("ping", account: nil)?.exit == .configuration)
            try daemon.write("juliet", "secret")
            try await daemon.call("ping", account: nil)
        }
    }

    @Test("A restart with settings that would lose a session is refused, and the daemon goes on")
    func badRestart() async throws {
        try await LastingHarness.run(["juliet": "secret"], broken: ["nurse": "{ not JSON"]) { daemon in
            try await daemon.call("connect")
            let session = try await daemon.status("juliet").string("session")
            for text in ["{ not JSON", #"{"jid": "a b@example.org"}"#] {
                try daemon.write("juliet", text: text)
                let error = await daemon.failure("daemon.restart", account: nil)
                #expect(error?.exit == .configuration && error?.message.contains("the daemon goes on") == true)
            }
            try PrivateFile.write(Array("{".utf8), to: daemon.folder + "/config/jabberctl/config.json")
            #expect(await daemon.failure("daemon.restart", account: nil)?.exit == .configuration)
            try PrivateFile.remove(daemon.folder + "/config/jabberctl/config.json")
            #expect(try await daemon.status("juliet").string("session") == session)
            // One that was broken before has nothing to lose.
            try daemon.write("juliet", "secret")
            try await daemon.call("daemon.restart", account: nil)
            #expect(await daemon.end() == .restart)
        }
    }

    @Test("Who listens hears that the daemon ends, not that an account is gone")
    func endWhileListening() async throws {
        try await LastingHarness.run { daemon in
            try await daemon.call("connect")
            let client = try await daemon.client()
            async let heard: ControlError? = {
                do throws(ControlError) {
                    _ = try await client.call("listen", ["session": ["account": "juliet"]], onEvent: { _ in true })
                    return nil
                } catch {
                    return error
                }
            }()
            // The subscription stands before the answer to a later request of the same connection.
            _ = try await client.call("status")
            daemon.beginEnd()
            let error = await heard
            #expect(
                error?.code == .daemonNotRunning && error?.message.contains("daemon") == true,
                "\(String(describing: error))")
            await client.close()
        }
    }

    @Test("Settings that mean nothing are told with file, line and what may be meant")
    func warnings() async throws {
        try await LastingHarness.run([:], broken: ["nurse": "{\n  jid: 'nurse@example.org',\n  pasword: 'x'\n}"]) {
            daemon in
            let expected = "nurse.json:3: there is no setting \"pasword\"; did you mean \"password\"?"
            for method in ["status", "daemon.info"] {
                let warnings = try await daemon.call(method, account: nil)["warnings"]?.stringsValue ?? []
                #expect(warnings.count == 1 && warnings.first?.hasSuffix(expected) == true, "\(warnings)")
            }
        }
    }

    @Test("At most 64 clients are served, the next one is told why not; and its turn comes")
    func clients() async throws {
        try await LastingHarness.run(clock: TestClock()) { daemon in
            var clients: [ControlCaller] = []
            for _ in 0..<ControlServer.maximumClients {
                let client = try await daemon.client()
                _ = try await client.hello()
                clients.append(client)
            }
            #expect(await daemon.failure("status")?.code == .busy)
            await clients.removeLast().close()
            // The daemon hears of the end a moment later.
            try await Patience.wait(for: "a place") { await daemon.failure("status")?.code != .busy }
            for client in clients { await client.close() }
        }
    }

    @Test("Whoever connects and says nothing for 10 s holds a place only until another one wants it")
    func silence() async throws {
        let clock = TestClock()
        try await LastingHarness.run([:], clock: clock) { daemon in
            var clients: [ControlCaller] = []
            for number in 0..<ControlServer.maximumClients {
                let client = try await daemon.client()
                _ = try await client.hello()
                if number == 0 { _ = try await client.call("status") }
                clients.append(client)
            }
            await clock.advance(by: ControlServer.maximumSilence - .milliseconds(1))
            #expect(await daemon.failure("status", account: nil)?.code == .busy)
            await clock.advance(by: .milliseconds(1))
            try await daemon.call("status", account: nil)
            // The first had asked something, so it was the second that had to go.
            _ = try await clients[0].call("status")
            var reason: ControlError?
            while reason == nil {
                do throws(ControlError) { _ = try await clients[1].call("status") } catch { reason = error }
            }
            #expect(reason?.code == .temporary && reason?.message.contains("10 s") == true)
            for client in clients { await client.close() }
        }
    }

    @Test("A hundred commands at once each get their own answer, and what they send arrives once")
    func crowd() async throws {
        try await LastingHarness.run(buddies: [Self.romeo]) { daemon in
            try await daemon.call("connect")
            let ids = (0..<50).map { "crowd-\($0)" }
            let wrong = try await withThrowingTaskGroup(of: String?.self) { group in
                for number in 0..<100 { group.addTask { try await Self.crossed(number, ids, daemon) } }
                return try await group.reduce(into: []) { wrong, answer in wrong += answer.map { [$0] } ?? [] }
            }
            #expect(wrong == [])
            let arrived = try await daemon.server.stanzas(for: "romeo").compactMap { $0["id"] }
            #expect(arrived.filter { $0.hasPrefix("crowd-") }.sorted() == ids.sorted())
            #expect(await daemon.server.openConnections == 1)
        }
    }

    /// Gives one of the commands of a crowd.
    ///
    /// - Returns: Its answer when it is that of another command.
    private static func crossed(_ number: Int, _ ids: [String], _ daemon: LastingHarness) async throws -> String? {
        let id = ids[number / 2]
        let (method, params): (String, JSONObject) =
            switch number % 6 {
            case 0, 2, 4: ("send", ["to": ["romeo@example.org"], "text": .string(id), "id": .string(id)])
            case 1: ("online", [:])
            case 3: ("ping", ["jid": "example.org"])
            default: ("status", [:])
            }
        let answer = try await daemon.patientCall(method, params)
        let isItsOwn =
            switch number % 6 {
            case 0, 2, 4: answer.objects("results").map { [$0.string("id"), $0.string("state")] } == [[id, "server"]]
            case 1: answer.objects("contacts").map { $0.string("jid") } == ["romeo@example.org"]
            case 3: answer.string("jid") == "example.org" && answer["roundTrips"]?.arrayValue?.count == 1
            default: answer.objects("accounts").map { $0.string("connection") } == ["connected"]
            }
        return isItsOwn ? nil : "\(number) \(method): \(answer)"
    }

    @Test("A request that brings settings of its own is not served by a session that others share")
    func ownSettings() async throws {
        try await LastingHarness.run { daemon in
            let pin = String(repeating: "ab", count: 32)
            for settings in [
                ["host": "127.0.0.1"], ["port": 1], ["tls": "direct"], ["proxy": "socks5://h:1"], ["ca": "/ca.pem"],
                ["trust": "dane"], ["pin": [.string(pin)]], ["hostMeta": "never"], ["config": "/config.json"],
                ["account": "juliet", "jid": "juliet@example.org"],
            ] as [JSONObject] {
                let error = await daemon.failure("ping", ["session": .object(settings)], account: nil)
                #expect(error?.exit == .usage, "\(settings)")
            }
            let raw = await daemon.failure("raw", ["xml": "<presence/>"])
            #expect(raw?.exit == .usage && raw?.message.contains("--force") == true)
        }
    }

    @Test("A supervisor hears of readiness, of reloading and of the end (sd_notify(3))")
    func notifications() async throws {
        let path = FileManager.default.temporaryDirectory.path + "/notify-\(UUID().uuidString.prefix(8))"
        let number = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer {
            close(number)
            unlink(path)
        }
        let address = try #require(SocketAddress(unixPath: path))
        #expect(address.withSockaddr { bind(number, $0, $1) } == 0)
        let texts = Locked<[String]>([])
        // A thread of its own, as a supervisor is a program of its own: a full socket is waited for a second only.
        let ended = Handover<Void>()
        Thread.detachNewThread {
            var buffer = [UInt8](repeating: 0, count: 4096)
            while !texts.withLock({ $0.last?.hasPrefix("STOPPING") == true }) {
                let count = recv(number, &buffer, buffer.count, 0)
                guard count > 0 else { break }
                let text = String(decoding: buffer.prefix(count), as: UTF8.self)
                texts.withLock { $0.append(text) }
            }
            ended.give(())
        }
        try await LastingHarness.run(variables: ["NOTIFY_SOCKET": path, "WATCHDOG_USEC": "20000"]) { daemon in
            try await daemon.call("connect")
            try await daemon.call("daemon.reload")
        }
        await ended.value()
        let words = texts.withLock { $0.map { String($0.prefix { $0 != "=" }) } }
        #expect(texts.withLock { $0.contains { $0.hasPrefix("RELOADING=1\nMONOTONIC_USEC=") } })
        #expect(words.first == "READY" && words.last == "STOPPING")
        #expect(words.contains("WATCHDOG"))
        let reloading = try #require(words.firstIndex(of: "RELOADING"))
        #expect(words[reloading...].contains("READY"))
    }
}
