// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPCrypto

@testable import XMPPProtocol

@Suite("OAUTHBEARER (RFC 7628)")
struct OAuthBearerTests {
    private func mechanism(
        _ token: String = "vF9dft4qmTc2Nvb3RlckBhbHRhdmlzdGEuY29tCg=="
    ) throws -> OAuthBearerMechanism {
        try OAuthBearerMechanism(token: SecretBytes(token), authorizationID: "user@example.com")
    }

    @Test("the message is the GS2 header and the token, with U+0001 behind each field (§3.1, §4.1)")
    func message() throws {
        var mechanism = try mechanism()
        let start = try mechanism.start()
        #expect(
            start.map { String(decoding: $0, as: UTF8.self) }
                == "n,a=user@example.com,\u{1}auth=Bearer vF9dft4qmTc2Nvb3RlckBhbHRhdmlzdGEuY29tCg==\u{1}\u{1}")
        try mechanism.succeed(with: nil)
    }

    @Test("what GS2 reserves in an address is escaped (RFC 5801 §4)")
    func escaped() throws {
        var mechanism = try OAuthBearerMechanism(token: SecretBytes("t"), authorizationID: "a=b,c@example.com")
        let start = try #require(try mechanism.start())
        #expect(String(decoding: start, as: UTF8.self).hasPrefix("n,a=a=3Db=2Cc@example.com,\u{1}"))
    }

    @Test("a refusal is acknowledged, and can end in nothing but failure (§3.2.3)")
    func refusal() throws {
        var mechanism = try mechanism()
        _ = try mechanism.start()
        #expect(try mechanism.respond(to: Array("{}".utf8)) == [1])
        #expect(throws: SASLError.unexpectedMessage) { try mechanism.succeed(with: nil) }
        #expect(throws: SASLError.unexpectedMessage) { try mechanism.respond(to: []) }
    }

    @Test("a token that could end a field is none", arguments: ["", "a\u{1}b", "a b", "\u{e9}", "a\nb"])
    func notAToken(token: String) {
        #expect(throws: SASLError.invalidPassword) { try self.mechanism(token) }
    }

    @Test("it is used inside verified TLS, behind SCRAM and before PLAIN")
    func order() throws {
        func selected(
            _ offered: [String], password: String? = nil, token: String? = "t",
            security: SASLChannelSecurity = .verifiedTLS
        ) throws -> String {
            let account = SASLAccount(
                username: "user", password: password.map { SecretBytes($0) }, accessToken: token.map { SecretBytes($0) }
            )
            let selector = SASLMechanismSelector(credentials: .account(account), security: security)
            return try selector.select(from: SASLAdvertisement(mechanisms: offered.map(SASLMechanismName.init))).name
                .rawValue
        }
        let all = ["PLAIN", "OAUTHBEARER", "SCRAM-SHA-1"]
        #expect(try selected(all) == "OAUTHBEARER")
        #expect(try selected(all, password: "p") == "SCRAM-SHA-1")
        #expect(try selected(["PLAIN", "OAUTHBEARER"], password: "p") == "OAUTHBEARER")
        #expect(try selected(all, password: "p", token: nil) == "SCRAM-SHA-1")
        #expect(throws: SASLSelectionError.self) { try selected(["OAUTHBEARER"], token: nil) }
        #expect(throws: SASLSelectionError.self) { try selected(["OAUTHBEARER"], security: .unverifiedTLS) }
    }
}
