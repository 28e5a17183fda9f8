// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPCrypto
import XMPPTestSupport

@testable import XMPPProtocol

@Suite struct SASLMechanismSelectorTests {
    private static let exporter = ChannelBindingData(type: .tlsExporter, bytes: [1])
    private static let endPoint = ChannelBindingData(type: .tlsServerEndPoint, bytes: [2])

    private static let juliet = SASLCredentials.account(
        SASLAccount(username: "juliet", password: SecretBytes("r0m30myr0m30")))

    private func select(
        _ names: [String],
        credentials: SASLCredentials = juliet,
        security: SASLChannelSecurity = .verifiedTLS,
        policy: SASLPolicy = SASLPolicy()
    ) throws -> String {
        try SASLMechanismSelector(credentials: credentials, security: security, policy: policy)
            .select(from: SASLAdvertisement(mechanisms: names.map(SASLMechanismName.init(rawValue:)))).name.rawValue
    }

    /// Why a single selection failed.
    private func refusal(
        _ names: [String],
        credentials: SASLCredentials = juliet,
        security: SASLChannelSecurity = .verifiedTLS,
        policy: SASLPolicy = SASLPolicy()
    ) throws -> SASLSelectionError {
        try #require(throws: SASLSelectionError.self) {
            try select(names, credentials: credentials, security: security, policy: policy)
        }
    }

    @Test("flag and mechanism follow the rules (RFC 5802 §6, XEP-0440)", arguments: SASLVectors.all.gs2_rules)
    func gs2Rules(row: SASLVectors.GS2Rule) throws {
        var bindings = row.client_cb ? [Self.exporter, Self.endPoint] : []
        // RFC 9266 §2: without extended master secret the transport has no tls-exporter to give.
        if row.tls?.hasPrefix("1.2 without") == true { bindings = [Self.endPoint] }
        var policy = SASLPolicy()
        policy.hasUsedSCRAM = row.pinned_scram ?? false
        let selector = SASLMechanismSelector(
            credentials: Self.juliet, security: row.tls == "none" ? .clear : .verifiedTLS, bindings: bindings,
            policy: policy)
        let offer = SASLAdvertisement(
            mechanisms: row.mechs.map(SASLMechanismName.init(rawValue:)),
            channelBindingTypes: row.cbs?.map(ChannelBindingType.init(rawValue:)), isSASL2: row.sasl2 ?? false)
        if row.flag == "abort" {
            #expect(throws: SASLSelectionError.self) { try selector.select(from: offer) }
        } else {
            let selection = try selector.select(from: offer)
            #expect(selection.binding.flag == row.flag)
            #expect(selection.name.rawValue == row.mech)
        }
    }

    @Test("our order decides, whatever the server's is (RFC 6120 §6.3.3)")
    func order() throws {
        let ours = ["SCRAM-SHA-512", "SCRAM-SHA-256", "SCRAM-SHA-1", "PLAIN"]
        var generator = SeededGenerator(seed: 4)
        for first in ours.indices {
            for _ in 0..<20 {
                let offered = (ours[first...] + ["X-OTHER", "DIGEST-MD5", "ANONYMOUS", "EXTERNAL"])
                    .shuffled(using: &generator)
                #expect(try select(offered) == ours[first])
            }
        }
    }

    @Test(
        "names are compared exactly",
        arguments: ["scram-sha-1", "plain", "Plain", " PLAIN", "PLAIN ", "PLAIN\u{0}", ""])
    func exactNames(name: String) throws {
        #expect(try refusal([name]).rejections.map(\.reason) == [.unknown])
    }

    @Test("PLAIN needs verified TLS, or loopback with permission (RFC 6120 §13.8.3)")
    func plainAndSecurity() throws {
        #expect(try select(["PLAIN"], security: .verifiedTLS) == "PLAIN")
        #expect(try select(["PLAIN"], security: .permittedLoopback) == "PLAIN")
        #expect(try refusal(["PLAIN"], security: .unverifiedTLS).rejections.map(\.reason) == [.needsVerifiedTLS])
        #expect(try select(["PLAIN", "SCRAM-SHA-1"], security: .unverifiedTLS) == "SCRAM-SHA-1")
    }

    @Test("without TLS nothing at all is used (RFC 6120 §13.9.4)", arguments: ["PLAIN", "SCRAM-SHA-512", "ANONYMOUS"])
    func clear(name: String) throws {
        for credentials in [Self.juliet, .anonymous] {
            #expect(try refusal([name], credentials: credentials, security: .clear).cause == .channelNotSecure)
        }
    }

    @Test("PLAIN is refused once SCRAM was used, unless the account allows it (XEP-0474)")
    func plainAfterSCRAM() throws {
        var policy = SASLPolicy()
        policy.hasUsedSCRAM = true
        #expect(try refusal(["PLAIN"], policy: policy).rejections.map(\.reason) == [.weakerThanBefore])
        #expect(try select(["PLAIN", "SCRAM-SHA-1"], policy: policy) == "SCRAM-SHA-1")
        policy.allowsWeakerLogin = true
        #expect(try select(["PLAIN"], policy: policy) == "PLAIN")
        policy.allowsPlain = false
        #expect(try refusal(["PLAIN"], policy: policy).rejections.map(\.reason) == [.notAllowed])
    }

    @Test("an access token is shown to nobody who has taken SCRAM off the list, but by permission (XEP-0474)")
    func bearerAfterSCRAM() throws {
        func account(password: String?) -> SASLCredentials {
            .account(
                SASLAccount(
                    username: "juliet", password: password.map { SecretBytes($0) }, accessToken: SecretBytes("t0k")))
        }
        var policy = SASLPolicy()
        #expect(try select(["OAUTHBEARER"], credentials: account(password: "x")) == "OAUTHBEARER")
        policy.hasUsedSCRAM = true
        let error = try refusal(["OAUTHBEARER"], credentials: account(password: "x"), policy: policy)
        #expect(error.rejections.map(\.reason) == [.weakerThanBefore])
        // There is a token in place of the password now.
        #expect(try select(["OAUTHBEARER"], credentials: account(password: nil), policy: policy) == "OAUTHBEARER")
        policy.allowsWeakerLogin = true
        #expect(try select(["OAUTHBEARER"], credentials: account(password: "x"), policy: policy) == "OAUTHBEARER")
    }

    @Test("ANONYMOUS is used only when asked for, and then nothing else (XEP-0175)")
    func anonymous() throws {
        #expect(try select(["PLAIN", "ANONYMOUS"], credentials: .anonymous) == "ANONYMOUS")
        let asked = try refusal(["PLAIN", "SCRAM-SHA-1"], credentials: .anonymous)
        #expect(asked.rejections.map(\.reason) == [.notAnonymous, .notAnonymous])
        #expect(try refusal(["ANONYMOUS"]).rejections.map(\.reason) == [.notAskedFor])
    }

    @Test("kept keys serve their own hash function only, and never PLAIN")
    func keysOnly() throws {
        let keys = SCRAMKeyMaterial(
            digest: .sha256, salt: [], iterations: 4_096, clientKey: SecretBytes([1]), serverKey: SecretBytes([2]))
        let credentials = SASLCredentials.account(SASLAccount(username: "juliet", password: nil, keys: keys))
        #expect(try select(["SCRAM-SHA-512", "SCRAM-SHA-256", "PLAIN"], credentials: credentials) == "SCRAM-SHA-256")
        let error = try refusal(["SCRAM-SHA-512", "PLAIN"], credentials: credentials)
        #expect(error.rejections.map(\.reason) == [.needsPassword, .needsPassword])
    }

    @Test("a server with channel binding of an unknown hash gets no lie from us (RFC 5802 §6)")
    func foreignPlus() throws {
        let selector = SASLMechanismSelector(
            credentials: Self.juliet, security: .verifiedTLS, bindings: [Self.exporter])
        let offer = SASLAdvertisement(mechanisms: [.scramSHA1, SASLMechanismName(rawValue: "SCRAM-SHA3-512-PLUS")])
        #expect(try selector.select(from: offer) == SASLSelection(name: .scramSHA1, binding: .none))
    }

    @Test("without the list of XEP-0440 no type is guessed, unless nothing else is left")
    func unlistedTypes() throws {
        let selector = SASLMechanismSelector(
            credentials: Self.juliet, security: .verifiedTLS, bindings: [Self.exporter, Self.endPoint])
        let offer = SASLAdvertisement(mechanisms: [.scramSHA512, .scramSHA1Plus])
        #expect(try selector.select(from: offer) == SASLSelection(name: .scramSHA512, binding: .none))
        let boundOnly = SASLAdvertisement(mechanisms: [.scramSHA1Plus, .plain])
        #expect(
            try selector.select(from: boundOnly)
                == SASLSelection(name: .scramSHA1Plus, binding: .bound(Self.exporter)))
    }

    @Test("without the list of XEP-0440 the best type is guessed where the account has logged in bound before")
    func unlistedTypesAfterBinding() throws {
        var policy = SASLPolicy()
        policy.hasUsedChannelBinding = true
        let selector = SASLMechanismSelector(
            credentials: Self.juliet, security: .verifiedTLS, bindings: [Self.exporter, Self.endPoint], policy: policy)
        let offer = SASLAdvertisement(mechanisms: [.scramSHA512, .scramSHA1Plus])
        #expect(
            try selector.select(from: offer) == SASLSelection(name: .scramSHA1Plus, binding: .bound(Self.exporter)))
    }

    @Test("1,000 mechanisms are looked at, one more is refused, and the report stays short")
    func manyMechanisms() throws {
        let many = (0..<999).map { "X-\($0)-" + String(repeating: "é", count: 500) }
        #expect(try select(many + ["PLAIN"]) == "PLAIN")
        let none = try refusal(many)
        #expect(none.rejections.count == SASLSelectionError.maximumRejections)
        #expect(none.offeredCount == 999)
        #expect("\(none)".count < 2_000)
        #expect("\(none)".hasSuffix("and 979 more"))
        #expect(try refusal(many + ["PLAIN", "X-LAST"]).cause == .tooManyOffered(maximum: 1_000))
        #expect(try refusal([]).cause == .nothingOffered)
    }

    @Test("a refusal names what was offered and why each is not used")
    func report() throws {
        let error = try refusal(["DIGEST-MD5", "SCRAM-SHA-1-PLUS", "PLAIN"], security: .unverifiedTLS)
        #expect(
            "\(error)" == "no offered mechanism can be used: DIGEST-MD5 (not supported), "
                + "SCRAM-SHA-1-PLUS (needs channel binding), PLAIN (needs verified TLS)")
    }

    @Test("the mechanism that is made is the one that was selected")
    func makeMechanism() throws {
        for name in ["SCRAM-SHA-512", "SCRAM-SHA-256", "SCRAM-SHA-1", "PLAIN"] {
            let offer = SASLAdvertisement(mechanisms: [SASLMechanismName(rawValue: name)])
            let selection = try SASLMechanismSelector(credentials: Self.juliet, security: .verifiedTLS)
                .select(from: offer)
            var mechanism = try selection.makeMechanism(credentials: Self.juliet, advertisement: offer, nonce: "abc")
            #expect(mechanism.name.rawValue == name)
            #expect(try mechanism.start() != nil)
        }
        let bound = SASLSelection(name: .scramSHA256Plus, binding: .bound(Self.exporter))
        var plus = try bound.makeMechanism(
            credentials: Self.juliet, advertisement: SASLAdvertisement(mechanisms: []), nonce: "abc")
        #expect(plus.name == .scramSHA256Plus)
        #expect(text(try plus.start()) == "p=tls-exporter,,n=juliet,r=abc")
        let anonymous = SASLSelection(name: .anonymous, binding: .none)
        let offer = SASLAdvertisement(mechanisms: [.anonymous])
        #expect(
            try anonymous.makeMechanism(credentials: .anonymous, advertisement: offer, nonce: "abc").name == .anonymous)
    }

    @Test("a password that SASLprep forbids is refused before anything is sent (RFC 5802 §2.2)")
    func forbiddenPassword() throws {
        let account = SASLAccount(username: "juliet", password: SecretBytes("pass\u{7}word"))
        let offer = SASLAdvertisement(mechanisms: [.scramSHA256])
        #expect(throws: SASLError.invalidPassword) {
            try SASLSelection(name: .scramSHA256, binding: .none).makeMechanism(
                credentials: .account(account), advertisement: offer, nonce: "abc")
        }
    }
}
