// SPDX-License-Identifier: Apache-2.0

import SocketIO
import Testing
import XMPPTestSupport

@testable import XMPP

@Suite("What a server has to show, and whether it is the one of before (RFC 7590 §3.6)", .timeLimit(.minutes(5)))
struct ServerTrustTests {
    /// Logs in and out again.
    private func login(
        _ configuration: XMPPConfiguration
    ) async throws -> (security: ChannelSecurity?, change: ServerKeyChange?, heard: [String]) {
        let stream = XMPPStream(configuration)
        let recorder = Recorder()
        stream.add(chatDelegate: recorder)
        try await stream.connect()
        let result = await (stream.security, stream.keyChange)
        await stream.disconnect()
        await recorder.heard("disconnected ")
        return (result.0, result.1, recorder.lines)
    }

    private func key(of server: LoopbackServer) async throws -> KeyFingerprint {
        let probe = try await login(server.configuration(for: "romeo"))
        return try #require(probe.security?.keyFingerprint)
    }

    @Test(
        "a fingerprint is 64 hexadecimal digits, with or without colons; anything else is none",
        arguments: [
            (String(repeating: "0a", count: 32), true), (String(repeating: "0A", count: 32), true),
            (Array(repeating: "fF", count: 32).joined(separator: ":"), true), ("", false),
            (String(repeating: "0", count: 63), false), (String(repeating: "0", count: 65), false),
            (String(repeating: "0", count: 63) + "g", false), (String(repeating: "0", count: 63) + "٣", false),
            (String(repeating: "0", count: 32) + " " + String(repeating: "0", count: 31), false),
        ])
    func fingerprints(_ text: String, _ isOne: Bool) {
        let fingerprint = KeyFingerprint(text)
        #expect((fingerprint != nil) == isOne)
        let digits = text.lowercased().split(separator: ":").joined()
        if let fingerprint {
            #expect(fingerprint.description == digits && KeyFingerprint(fingerprint.bytes) == fingerprint)
        }
        #expect(KeyFingerprint([UInt8](repeating: 0, count: 31)) == nil)
    }

    @Test(
        "a key that the account names is proof enough, whatever is wrong with the certificate",
        arguments: [nil, .selfSigned, .expired, .wrongName] as [TestCertificate.Flaw?], [true, false])
    func pinned(_ flaw: TestCertificate.Flaw?, directTLS: Bool) async throws {
        let server = try await verona { $0.certificateFlaw = flaw }
        var configuration = try await server.configuration(for: "romeo", directTLS: directTLS)
        configuration.trust = .keys([])
        let refused = await #expect(throws: XMPPError.self) { try await login(configuration) }
        #expect(refused?.code == .certificateRejected && refused?.isPermanent == true)
        let key = try #require(refused?.presentedKey)
        #expect(refused?.message.contains(key.description) == true)
        #expect(await server.transcript.allSatisfy { $0.element.localName != "auth" })
        configuration.trust = .keys([key])
        configuration.certificateAuthorityFile = nil
        let security = try await login(configuration).security
        #expect(security?.proof == .pinnedKey && security?.keyFingerprint == key && security?.matchedName == nil)
        await server.stop()
    }

    @Test(
        "a server with another key is refused though an authority vouches for it; nothing is sent after the handshake")
    func other() async throws {
        let server = try await verona { $0.certificateFlaw = .selfSigned }
        var configuration = try await server.configuration(for: "romeo")
        configuration.trust = .keys([])
        let refused = await #expect(throws: XMPPError.self) { try await login(configuration) }
        let key = try #require(refused?.presentedKey)
        await server.stop()
        let intruder = try await verona()
        var second = try await intruder.configuration(for: "romeo", directTLS: true)
        second.trust = .keys([key])
        let error = await #expect(throws: XMPPError.self) { try await login(second) }
        #expect(error?.code == .certificateRejected)
        #expect(error?.message.contains(key.description) == true)
        #expect(error?.presentedKey != key)
        #expect(error.flatMap { error in error.presentedKey.map { error.message.contains($0.description) } } == true)
        #expect(await intruder.transcript.isEmpty)
        await intruder.stop()
    }

    @Test("the way from the server's certificate to the authority is there to see")
    func certificates() async throws {
        let server = try await verona()
        let security = try #require(try await login(server.configuration(for: "romeo")).security)
        #expect(security.proof == .authority)
        #expect(security.certificates.map(\.subject) == ["CN=swift-xmpp test server", "CN=swift-xmpp test authority"])
        #expect(security.certificates.first?.fingerprint == security.fingerprint)
        #expect(security.certificates.last?.issuer == "CN=swift-xmpp test authority")
        await server.stop()
    }

    @Test("a key that no earlier login has met is told of before the login, and known after it")
    func change() async throws {
        let first = try await verona()
        let configuration = try await first.configuration(for: "romeo")
        let old = try #require(try await login(configuration).security?.keyFingerprint)
        #expect(try await login(configuration).heard.allSatisfy { !$0.hasPrefix("key") })
        let second = try await verona()
        var other = try await second.configuration(for: "romeo")
        other.loginMemory = configuration.loginMemory
        // A login that fails leaves the key unknown.
        var wrong = other
        wrong.password = "wrong"
        await #expect(throws: XMPPError.self) { try await login(wrong) }
        let met = try await login(other)
        let new = try #require(met.security?.keyFingerprint)
        #expect(met.change?.old.fingerprint == old && met.change?.new.fingerprint == new)
        #expect(met.change?.new.identity == "example.net")
        #expect(met.change?.new.issuer == "CN=swift-xmpp test authority")
        let told = try #require(met.heard.firstIndex(of: "key \(old) \(new)"))
        #expect(told < met.heard.firstIndex { $0.hasPrefix("authenticated") } ?? 0)
        let again = try await login(other)
        #expect(again.change == nil && again.heard.allSatisfy { !$0.hasPrefix("key") })
        #expect(try await login(configuration).change == nil, "a domain may have several servers")
        await first.stop()
        await second.stop()
    }

    @Test("of an account's keys the latest are remembered, and those of other names count for nothing")
    func bound() async throws {
        let server = try await verona()
        let configuration = try await server.configuration(for: "romeo")
        let account = configuration.jid.bare
        var memory = LoginMemory()
        memory.serverKeys = try (0..<8).map { number in
            ServerKey(
                identity: number == 0 ? "example.net" : "chat.example.net",
                fingerprint: try #require(KeyFingerprint([UInt8](repeating: UInt8(number), count: 32))), issuer: "",
                notAfter: "")
        }
        let oldest = memory.serverKeys[0].fingerprint
        await configuration.loginMemory.save(memory, of: account)
        #expect(try await login(configuration).change?.old.fingerprint == oldest)
        let keys = try #require(await configuration.loginMemory.memory(of: account)).serverKeys
        #expect(keys.count == ServerKey.maximumRemembered && keys[0].identity == "example.net")
        #expect(keys[1...].map(\.fingerprint) == memory.serverKeys.dropLast().map(\.fingerprint))
        await server.stop()
    }
}
