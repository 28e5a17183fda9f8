// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPCrypto

@testable import XMPPProtocol

@Suite struct PlainMechanismTests {
    @Test("the message is identity, name and password between U+0000 (RFC 4616 §2)")
    func message() throws {
        var mechanism = try PlainMechanism(username: "juliet", password: SecretBytes("r0m30myr0m30"))
        #expect(mechanism.name == .plain)
        #expect(SASLPayload.encodeInitialResponse(try mechanism.start()) == "AGp1bGlldAByMG0zMG15cjBtMzA=")
        try mechanism.succeed(with: nil)
        var other = try PlainMechanism(
            username: "jülîet", password: SecretBytes("päss"), authorizationID: "romeo@example.org")
        #expect(text(try other.start()) == "romeo@example.org\u{0}jülîet\u{0}päss")
    }

    @Test("no part holds the separator, and neither name nor password is empty (RFC 4616 §2)")
    func unusable() {
        func attempt(_ name: String, _ password: String, _ identity: String? = nil) throws {
            _ = try PlainMechanism(username: name, password: SecretBytes(password), authorizationID: identity)
        }
        #expect(throws: SASLError.invalidUsername) { try attempt("", "x") }
        #expect(throws: SASLError.invalidUsername) { try attempt("a\u{0}b", "x") }
        #expect(throws: SASLError.invalidUsername) { try attempt("a", "x", "b\u{0}c") }
        #expect(throws: SASLError.invalidPassword) { try attempt("a", "") }
        #expect(throws: SASLError.invalidPassword) { try attempt("a", "x\u{0}y") }
    }

    @Test("a challenge is not answered, success before the start is not believed")
    func outOfTurn() throws {
        var challenged = try PlainMechanism(username: "a", password: SecretBytes("x"))
        _ = try challenged.start()
        #expect(throws: SASLError.unexpectedMessage) { try challenged.respond(to: []) }
        #expect(throws: SASLError.unexpectedMessage) { try challenged.succeed(with: nil) }
        var early = try PlainMechanism(username: "a", password: SecretBytes("x"))
        #expect(throws: SASLError.unexpectedMessage) { try early.succeed(with: nil) }
        var twice = try PlainMechanism(username: "a", password: SecretBytes("x"))
        _ = try twice.start()
        #expect(throws: SASLError.unexpectedMessage) { try twice.start() }
    }

    @Test("the password shows in nothing that is printed")
    func redacted() throws {
        let mechanism = try PlainMechanism(username: "juliet", password: SecretBytes("r0m30"))
        var printed = "\(mechanism) \(String(reflecting: mechanism))"
        dump(mechanism, to: &printed)
        #expect(!printed.contains("r0m30"))
        #expect(!printed.contains("114, 48"))
    }
}

@Suite struct AnonymousMechanismTests {
    @Test("nothing is said about who asks (RFC 4505, XEP-0175 §3)")
    func exchange() throws {
        var mechanism = AnonymousMechanism()
        #expect(mechanism.name == .anonymous)
        #expect(try mechanism.start() == nil)
        try mechanism.succeed(with: nil)
        #expect(throws: SASLError.unexpectedMessage) { try mechanism.succeed(with: nil) }
    }

    @Test("one empty challenge is answered with nothing, any other is refused (RFC 4505 §2)")
    func challenge() throws {
        var mechanism = AnonymousMechanism()
        _ = try mechanism.start()
        #expect(try mechanism.respond(to: []) == [])
        var again = mechanism
        #expect(throws: SASLError.unexpectedMessage) { try again.respond(to: []) }
        try mechanism.succeed(with: nil)
        var asked = AnonymousMechanism()
        _ = try asked.start()
        #expect(throws: SASLError.unexpectedMessage) { try asked.respond(to: [1]) }
        var unstarted = AnonymousMechanism()
        #expect(throws: SASLError.unexpectedMessage) { try unstarted.succeed(with: nil) }
    }
}

@Suite struct SASLPayloadTests {
    @Test("no initial response, an empty one and one with data differ (RFC 6120 §6.4.2)")
    func initialResponse() {
        #expect(SASLPayload.encodeInitialResponse(nil) == nil)
        #expect(SASLPayload.encodeInitialResponse([]) == "=")
        #expect(SASLPayload.encodeInitialResponse([0x66]) == "Zg==")
        #expect(SASLPayload.encode([]) == "")
        #expect(SASLPayload.encode([0x66]) == "Zg==")
    }

    @Test("what is too long is not even looked at (RFC 6120 §13.12)")
    func tooLong() {
        #expect(throws: SASLError.challengeTooLong(maximum: 8_192)) {
            try SASLPayload.decode(String(repeating: "!", count: 1_000_000))
        }
        #expect(throws: SASLError.notBase64) { try SASLPayload.decode(String(repeating: "!", count: 8_000)) }
    }

    @Test("an empty success has no data, one with = has empty data (RFC 6120 §6.4.6)")
    func additionalData() throws {
        #expect(try SASLPayload.decodeAdditionalData("") == nil)
        #expect(try SASLPayload.decodeAdditionalData("=") == [])
        #expect(try SASLPayload.decodeAdditionalData("Zg==") == [0x66])
        #expect(try SASLPayload.decode("") == [])
        #expect(try SASLPayload.decode("=") == [])
    }

    @Test(
        "what is not canonical base64 is refused (RFC 6120 §13.9.1)",
        arguments: ["Zg", "Z g==", "Zh==", "Zg==\n", "=="])
    func strict(payload: String) {
        #expect(throws: SASLError.notBase64) { try SASLPayload.decode(payload) }
    }

    @Test("8 KiB are taken, one octet more is not")
    func limit() throws {
        #expect(try SASLPayload.decode(Base64.encode([UInt8](repeating: 1, count: 8_192))).count == 8_192)
        for count in [8_193, 8_194, 8_195, 100_000] {
            #expect(throws: SASLError.challengeTooLong(maximum: 8_192)) {
                try SASLPayload.decode(Base64.encode([UInt8](repeating: 1, count: count)))
            }
        }
    }
}
