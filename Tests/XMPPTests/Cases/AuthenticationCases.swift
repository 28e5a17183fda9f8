// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import XMPP
import XMPPCore
import XMPPTestSupport
import XMPPXML

@Suite("Passwords that were sent wrongly, too often, or to the wrong party")
struct AuthenticationCases {
    /// The mechanism that the client chose, and what it sent with it.
    private func choice(
        of mechanisms: String, server: ScriptedServer? = nil,
        configure: (inout XMPPConfiguration) -> Void = { _ in }
    ) async throws -> (mechanism: String?, text: String, error: XMPPError?) {
        let scene = try await Scene(
            "#! prelude tls\n#! features SASL: \(mechanisms)\n#! await <auth\n#! fin", server: server,
            configure: configure)
        let auth = try await scene.server.received.joined().first { $0.contains("<auth") }.map { try Element.parse($0) }
        return (auth?["mechanism"], auth?.text ?? "", scene.error)
    }

    @Test("a password with umlauts goes out as UTF-8, without a second name (RFC 4616 §2)")
    func umlauts() async throws {
        let (mechanism, text, _) = try await choice(of: "PLAIN") { configuration in
            configuration.password = "p\u{E4}ssw\u{F6}rd\u{20AC}"
        }
        let data = try #require(Data(base64Encoded: text))
        #expect(mechanism == "PLAIN")
        #expect(String(decoding: data, as: UTF8.self) == "\0juliet\0pässwörd€")
    }

    @Test(
        "the best mechanism is chosen, whatever the server puts first (RFC 6120 §6.3.3)",
        arguments: [
            ("ANONYMOUS, PLAIN, X-UNKNOWN, SCRAM-SHA-1, SCRAM-SHA-256", "SCRAM-SHA-256"),
            ("ANONYMOUS, PLAIN", "PLAIN"), ("GSSAPI, DIGEST-MD5, CRAM-MD5, JIVE-SHAREDSECRET, PLAIN", "PLAIN"),
            ("SCRAM-SHA-1, SCRAM-SHA-512, PLAIN", "SCRAM-SHA-512"),
        ])
    func choices(offer: String, expected: String) async throws {
        // A server in the clear would not be given PLAIN by most accounts; behind TLS all may have it.
        let chosen = try await choice(of: offer, server: try ScriptedServer())
        #expect(chosen.mechanism == expected)
    }

    @Test("an account is never logged in without its name", arguments: ["ANONYMOUS", "DIGEST-MD5, X-MAGIC"])
    func notAnonymous(offer: String) async throws {
        let scene = try await Scene("#! prelude tls\n#! features SASL: \(offer)")
        #expect(scene.error?.code == .noMechanism)
        #expect(await scene.server.received.joined().allSatisfy { !$0.contains("<auth") })
    }

    @Test(
        "too few or too many iterations, or no number of them, get no proof of the password (RFC 7677 §4, RFC 5802 §9)",
        arguments: [
            "1", "4095", "10000001", "1000000000", "99999999999999999999", "0", "-1", "", "4096x", "٤٠٩٦", "04096",
        ])
    func iterations(count: String) async throws {
        let server = try ScriptedServer(usesTLS: false)
        let played = Task {
            try await server.play(StreamScript(.advance(to: .sasl)))
            let auth = try Element.parse(try await server.next(containing: "<auth"))
            let first = String(decoding: Data(base64Encoded: auth.text) ?? Data(), as: UTF8.self)
            let nonce = first.split(separator: ",").first { $0.hasPrefix("r=") }.map(String.init) ?? ""
            let answer = Data("\(nonce)more,s=QSXCR+Q6sek8bf92,i=\(count)".utf8).base64EncodedString()
            try await server.play(
                StreamScript(.send("<challenge xmlns='urn:ietf:params:xml:ns:xmpp-sasl'>\(answer)</challenge>")))
        }
        let stream = XMPPStream(server.configuration)
        let error = await #expect(throws: XMPPError.self) { try await stream.connect() }
        #expect(error?.code == .serverNotAuthenticated)
        try await played.value

        try await server.waitForEnd()
        let sent = await server.received.joined()
        #expect(sent.allSatisfy { !$0.contains("<response") } && sent.contains { $0.contains("<abort") })
    }

    @Test("a mechanism that the server takes back is replaced by the next, on the same stream (RFC 6120 §6.5.7)")
    func fallBack() async throws {
        let scene = try await Scene(
            """
            #! prelude tls
            #! features SASL: SCRAM-SHA-1, SCRAM-SHA-256
            #! await <auth
            <failure xmlns='urn:ietf:params:xml:ns:xmpp-sasl'><mechanism-too-weak/></failure>
            #! scram normal
            #! continue online
            """)
        #expect(scene.error == nil)
        #expect(await scene.stream.mechanism == "SCRAM-SHA-1")
        #expect(await scene.server.received.count == 1)
        await scene.close()
    }

    @Test("without TLS no mechanism is used, not even where the account allows PLAIN (RFC 6120 §13.8.3)")
    func plainWithoutTLS() async throws {
        let scene = try await Scene(
            "#! prelude tcp\n#! features SASL: PLAIN, SCRAM-SHA-1",
            configure: { configuration in
                configuration.securityPolicy = .tlsRequired
                configuration.allowsPlain = true
            })
        #expect(scene.error?.code == .tlsUnavailable)
        #expect(await scene.server.received.joined().allSatisfy { !$0.contains("<auth") })
    }

    @Test(
        "a wrong password is tried once, and the server's reason is told (RFC 6120 §6.4.5)",
        arguments: ["not-authorized", "account-disabled", "credentials-expired"])
    func wrongPassword(condition: String) async throws {
        let scene = try await Scene(
            """
            #! prelude sasl
            #! await <auth
            <failure xmlns='urn:ietf:params:xml:ns:xmpp-sasl'><\(condition)/><text xml:lang='en'>Bad password</text></failure>
            """)
        #expect(scene.error?.code == .authenticationRefused && scene.error?.isPermanent == true)
        #expect(scene.error?.saslFailure?.condition.rawValue == condition)
        #expect(scene.error?.message.contains("Bad password") == true)
        #expect(await scene.server.received.joined().count { $0.contains("<auth") } == 1)
    }
}
