// SPDX-License-Identifier: Apache-2.0

import Foundation
import JabberControl
import Testing
import XMPP
import XMPPTestSupport

@testable import JabberDaemon

@Suite("What logins leave for the next, on disk", .timeLimit(.minutes(5)))
struct LoginMemoryFileTests {
    /// A folder that goes with the test.
    private final class Folder {
        let path = FileManager.default.temporaryDirectory.path + "/logins-\(UUID().uuidString.prefix(8))"
        var paths: RuntimePaths { RuntimePaths(environment: ["HOME": path]) }
        var file: String { paths.state + "/logins/home.daemon.json" }
        var files: AccountFiles { get throws { try #require(AccountFiles(of: "home", paths: paths)) } }
        deinit { try? FileManager.default.removeItem(atPath: path) }
    }

    private static let secret = "secret-token:\u{1F511}"

    private func memory() throws -> LoginMemory {
        var memory = LoginMemory()
        memory.hasUsedSCRAM = true
        memory.lastOversized = DateTime("2026-01-02T03:04:05.678Z")
        memory.token = LoginToken(
            mechanism: SASLMechanismName(rawValue: "HT-SHA-256-EXPR"), bytes: Array(Self.secret.utf8),
            expiry: try #require(DateTime("2040-01-01T00:00:00Z")), count: 4_000_000_000)
        memory.serverKeys = try [1, 2].map { number in
            ServerKey(
                identity: "example.org",
                fingerprint: try #require(KeyFingerprint([UInt8](repeating: number, count: 32))),
                issuer: "CN=\u{1F511} & \"co\"", notAfter: "2040-01-01T00:00:00Z")
        }
        var offered = OfferedFeatures()
        var features = Element("features", namespace: "http://etherx.jabber.org/streams")
        features.append(Element("authentication", namespace: "urn:xmpp:sasl:2", text: "<&>"))
        offered.beforeLogin = StreamFeatures(features)
        memory.offered = offered
        return memory
    }

    @Test("what was saved comes back whole, in a file for the user alone")
    func roundTrip() async throws {
        let folder = Folder()
        let jid = try JID("juliet@example.org")
        let store = LoginMemoryFile(try folder.files, owner: .daemon)
        #expect(await store.memory(of: jid) == nil)
        let saved = try memory()
        await store.save(saved, of: jid)
        let next = LoginMemoryFile(try folder.files, owner: .daemon)
        let found = try #require(await next.memory(of: jid))
        #expect(found.userAgentID == saved.userAgentID && found.token == saved.token)
        #expect(found.hasUsedSCRAM && !found.hasUsedChannelBinding && found.offered == saved.offered)
        #expect(found.serverKeys == saved.serverKeys)
        #expect(found.lastOversized != nil && found.lastOversized == saved.lastOversized)
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.file)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test("a file that others can read, that is broken, or that is about somebody else is none")
    func unusable() async throws {
        let folder = Folder()
        let jid = try JID("juliet@example.org")
        let store = LoginMemoryFile(try folder.files, owner: .daemon)
        await store.save(try memory(), of: jid)
        #expect(await store.memory(of: try JID("romeo@example.org")) == nil)
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: folder.file)
        #expect(await store.memory(of: jid) == nil)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder.file)
        #expect(await store.memory(of: jid) != nil)
        for text in ["", "[]", "{\"jid\":\"juliet@example.org\"}", "\u{0}"] {
            try Data(text.utf8).write(to: URL(filePath: folder.file))
            #expect(await store.memory(of: jid) == nil)
        }
    }

    @Test("of commands that run at the same time one has the memory, and the next one after it")
    func commands() async throws {
        let folder = Folder()
        let jid = try JID("juliet@example.org")
        do {
            let first = LoginMemoryFile(try folder.files, owner: .command)
            let second = LoginMemoryFile(try folder.files, owner: .command)
            await first.save(try memory(), of: jid)
            #expect(await second.memory(of: jid) == nil)
            await second.save(LoginMemory(), of: jid)
            #expect(await first.memory(of: jid)?.token != nil)
        }
        // The lock goes with the last reference, which is not always at the end of the scope.
        var found: LoginMemory?
        while found == nil {
            found = await LoginMemoryFile(try folder.files, owner: .command).memory(of: jid)
        }
        #expect(found?.token != nil)
    }

    @Test("tokens are forgotten wherever they are, and with --all what was proven too")
    func forget() async throws {
        let folder = Folder()
        let jid = try JID("juliet@example.org")
        for owner in LoginMemoryFile.Owner.allCases {
            await LoginMemoryFile(try folder.files, owner: owner).save(try memory(), of: jid)
        }
        let store = LoginMemoryFile(try folder.files, owner: .daemon)
        let name = await store.memory(of: jid)?.userAgentID
        #expect(try LoginMemoryFile.forget(folder.files, jid, includingProofs: false) == 2)
        #expect(await store.memory(of: jid)?.hasUsedSCRAM == true)
        #expect(await store.memory(of: jid)?.token == nil)
        #expect(try LoginMemoryFile.forget(folder.files, jid, includingProofs: true) == 0)
        #expect(await store.memory(of: jid)?.hasUsedSCRAM == false)
        #expect(await store.memory(of: jid)?.serverKeys == [])
        #expect(await store.memory(of: jid)?.userAgentID == name, "the installation is still the same")
        #expect(try !String(contentsOfFile: folder.file, encoding: .utf8).contains("secret-token"))
    }

    @Test("the daemon logs in with a token after it was started anew, and with the password when that is forgotten")
    func daemon() async throws {
        var options = LoopbackOptions.modern
        options.resumption = .notOffered
        let server = try await LoopbackServer.start(
            domain: "example.org", accounts: ["juliet": "secret"], options: options)
        let harness = try await LastingHarness(server, accounts: ["juliet": "secret"])
        func mechanisms() async -> [String] {
            await server.transcript.filter { $0.element.localName == "authenticate" }
                .compactMap { $0.element["mechanism"] }
        }
        func reconnect() async throws {
            #expect(try await harness.call("reconnect").string("connection") == "connected")
        }
        #expect(try await harness.call("connect").string("connection") == "connected")
        try await reconnect()
        let forgotten = try await harness.call("account.forget-token")
        #expect(forgotten.int("tokens") == 1 && forgotten.int("ended") == 1 && forgotten["warnings"] == nil)
        try await reconnect()
        #expect(
            await mechanisms() == [
                "SCRAM-SHA-512-PLUS", "HT-SHA-256-EXPR", "HT-SHA-256-EXPR", "SCRAM-SHA-512-PLUS",
            ])
        await harness.end()
    }

    @Test("who was disconnected stays so: the token is forgotten here, and it is told how long the server takes it")
    func disconnected() async throws {
        let server = try await LoopbackServer.start(
            domain: "example.org", accounts: ["juliet": "secret"], options: .modern)
        let harness = try await LastingHarness(server, accounts: ["juliet": "secret"])
        #expect(try await harness.call("connect").string("connection") == "connected")
        #expect(try await harness.call("disconnect").string("connection") == "disconnected")
        let forgotten = try await harness.call("account.forget-token")
        #expect(forgotten.int("tokens") == 1 && forgotten.int("ended") == 0)
        let warning = try #require(forgotten["warnings"]?.stringsValue?.first)
        #expect(warning.contains("is not connected") && warning.contains("until 20"))
        let none = try await harness.call("account.forget-token")
        #expect(none.int("tokens") == 0 && none["ended"] == nil && none["warnings"] == nil)
        await harness.end()
    }
}
