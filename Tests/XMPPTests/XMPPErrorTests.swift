// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPCore
import XMPPProtocol

@testable import XMPP

@Suite("Errors")
struct XMPPErrorTests {
    @Test("what a server says becomes part of the sentence, with or without a full stop", arguments: ["No.", "No"])
    func fullStop(_ text: String) throws {
        let refused = try #require(
            XMPPError(
                .authenticationRefused(SASLFailure(.notAuthorized, text: text), mechanism: "SCRAM-SHA-1"),
                domain: "example.org"))
        #expect(refused.message.hasPrefix("example.org refused the login with SCRAM-SHA-1: not-authorized: No. Check"))
        let answered = XMPPError(StanzaError(.forbidden, kind: .auth, text: text), from: try JID("a@example.org"))
        #expect(answered.message == "a@example.org answered with an error: forbidden: No.")
    }

    @Test(
        "what to do about a refused login fits the reason (RFC 6120 §6.5)",
        arguments: [
            (SASLFailure.Condition.notAuthorized, "not-authorized. Check the address and the password."),
            (.invalidAuthzid, "invalid-authzid. Check the address and the password."),
            (.accountDisabled, "account-disabled. Ask those who run the server."),
            (.credentialsExpired, "credentials-expired. Ask those who run the server for new ones."),
            (.invalidMechanism, "invalid-mechanism."), (.mechanismTooWeak, "mechanism-too-weak."),
            (.temporaryAuthFailure, "temporary-auth-failure. Try again later."),
        ])
    func advice(_ condition: SASLFailure.Condition, _ end: String) throws {
        let end = "example.org refused the login with SCRAM-SHA-1: \(end)"
        let refusal = StreamEnd.authenticationRefused(SASLFailure(condition), mechanism: "SCRAM-SHA-1")
        #expect(XMPPError(refusal, domain: "example.org")?.message == end)
    }

    @Test("of what a server says a thousand characters are quoted, and not a million")
    func longText() throws {
        func message(_ count: Int) throws -> String {
            let text = String(repeating: "é", count: count)
            let error = XMPPError(.streamError(StreamError(.reset, text: text)), domain: "example.org")
            return try #require(error).message
        }
        let frame = "example.org ended the stream: .".count
        #expect(try message(993).count == 1_000 + frame && !message(993).contains("…"))
        #expect(try message(994).count == 1_001 + frame && message(994).hasSuffix("…."))
        #expect(try message(1_000_000) == message(994))
        let accents = StreamError(.reset, text: "e" + String(repeating: "\u{301}", count: 1_000_000))
        let accented = try #require(XMPPError(.streamError(accents), domain: "example.org"))
        #expect(accented.message.unicodeScalars.count == 1_001 + frame)
    }

    @Test(
        "a failure that trying again may mend does not stop a client",
        arguments: [XMPPError.Code.connectionLost, .timedOut, .connectionFailed, .authenticationDeferred, .tlsFailed])
    func passing(_ code: XMPPError.Code) {
        #expect(!XMPPError(code, "").isPermanent)
    }

    @Test(
        "a failure that somebody has to mend stops a client",
        arguments: [
            XMPPError.Code.authenticationRefused, .certificateRejected, .tlsUnavailable, .noMechanism,
            .channelBindingFailed,
        ])
    func lasting(_ code: XMPPError.Code) {
        #expect(XMPPError(code, "").isPermanent)
    }

    @Test(
        "a binding that the server refuses for now is tried again, any other is not (RFC 6120 §7.6.2, §8.3.2)",
        arguments: [
            (BindingFailure.refused(StanzaError(.resourceConstraint, kind: .wait)), false),
            (.refused(StanzaError(.resourceConstraint, kind: .cancel)), false),
            (.refused(StanzaError(.internalServerError, kind: .cancel)), false),
            (.refused(StanzaError(.serviceUnavailable, kind: .wait)), false),
            (.refused(StanzaError(.notAllowed, kind: .cancel)), true),
            (.refused(StanzaError(.conflict, kind: .cancel)), true), (.noFullAddress(nil), true),
        ])
    func binding(_ failure: BindingFailure, _ isPermanent: Bool) throws {
        let error = try #require(XMPPError(.bindingFailed(failure), domain: "example.org"))
        #expect(error.code == .bindingFailed && error.isPermanent == isPermanent)
    }
}
