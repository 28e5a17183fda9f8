// SPDX-License-Identifier: Apache-2.0

import JabberControl
import Testing
import XMPP

@testable import JabberDaemon

@Suite("Failures as the command tells them")
struct ErrorMappingTests {
    static let table: [XMPPError.Code: (ControlErrorCode, ExitCode)] = [
        .hostNotFound: (.hostNotFound, .hostNotFound),
        .resolverFailed: (.temporary, .temporary),
        .serviceUnavailable: (.serviceUnavailable, .unavailable),
        .connectionFailed: (.serviceUnavailable, .unavailable),
        .proxyFailed: (.serviceUnavailable, .unavailable),
        .timedOut: (.timedOut, .timedOut),
        .tlsUnavailable: (.tlsRequired, .protocolFailure),
        .tlsFailed: (.tlsFailed, .protocolFailure),
        .certificateRejected: (.certificate, .protocolFailure),
        .noMechanism: (.noMechanism, .authenticationRefused),
        .channelBindingFailed: (.channelBinding, .protocolFailure),
        .authenticationRefused: (.authRefused, .authenticationRefused),
        .authenticationDeferred: (.temporary, .temporary),
        .serverNotAuthenticated: (.protocolFailure, .protocolFailure),
        .bindingFailed: (.refused, .refused),
        .streamError: (.protocolFailure, .protocolFailure),
        .protocolViolation: (.protocolFailure, .protocolFailure),
        .connectionLost: (.connectionLost, .temporary),
        .stanzaError: (.refused, .refused),
        .notConnected: (.notConnected, .notRunning),
        .invalidStanza: (.badData, .badData),
        .tooLarge: (.badData, .badData),
        .overflow: (.temporary, .temporary),
        .cancelled: (.cancelled, .interrupted),
        .invalidConfiguration: (.configuration, .configuration),
        .storageFailed: (.inputOutput, .inputOutput),
    ]

    @Test("Every failure of the library has its exit code", arguments: XMPPError.Code.allCases)
    func everyCode(_ code: XMPPError.Code) throws {
        let expected = try #require(Self.table[code])
        let error = ControlError(XMPPError(code, "The reason."), account: "juliet@example.org")
        #expect(error.code == expected.0)
        #expect(error.exit == expected.1)
        #expect(error.message == "the reason.")
        #expect(error.account == "juliet@example.org")
    }

    @Test(
        "A sentence of the library goes on after the command's name; what begins with a name keeps its capital",
        arguments: ["A b.", "An a.", "More than that.", "Too long.", "Waiting ended.", "You are not in r@example.org."])
    func sentences(_ sentence: String) {
        let message = ControlError(XMPPError(.notConnected, sentence)).message
        #expect(message == sentence.prefix(1).lowercased() + sentence.dropFirst())
        #expect(ControlError(XMPPError(.tlsFailed, "TLS broke.")).message == "TLS broke.")
    }

    @Test(
        "A stream error says who is at fault and whether it passes (RFC 6120 §4.9.3)",
        arguments: [
            (StreamError.Condition.conflict, ControlErrorCode.conflict), (.hostUnknown, .hostNotFound),
            (.hostGone, .hostNotFound), (.notAuthorized, .authRefused), (.systemShutdown, .temporary),
            (.resourceConstraint, .temporary), (.policyViolation, .temporary), (.notWellFormed, .protocolFailure),
            (.init(rawValue: "never-heard-of"), .protocolFailure),
        ])
    func streamErrors(_ condition: StreamError.Condition, _ code: ControlErrorCode) {
        let error = XMPPError(.streamError, "The stream ended.", streamError: StreamError(condition))
        #expect(ControlError(error).code == code)
    }

    @Test("A channel binding that does not match is told apart (RFC 5802 §6)")
    func channelBinding() {
        let error = XMPPError(.serverNotAuthenticated, "No.", mechanism: "SCRAM-SHA-256-PLUS")
        #expect(ControlError(error).code == .channelBinding)
        #expect(ControlError(error).exit == .protocolFailure)
    }

    @Test("A stanza error comes along, and only `wait` may be tried again (RFC 6120 §8.3.2)")
    func stanzaErrors() {
        let full = StanzaError(.resourceConstraint, kind: .wait, text: "too busy")
        let busy = ControlError(XMPPError(.stanzaError, "It answered.", stanzaError: full))
        #expect(busy.retry)
        #expect(busy.stanza == ["type": "wait", "condition": "resource-constraint", "text": "too busy"])
        let gone = ControlError(XMPPError(.stanzaError, "x", stanzaError: StanzaError(.gone, kind: .cancel)))
        #expect(!gone.retry)
    }

    @Test("A binding that is refused for now is a temporary failure, any other a refusal (RFC 6120 §7.6.2)")
    func binding() {
        let busy = StanzaError(.internalServerError, kind: .cancel)
        let passing = ControlError(XMPPError(.bindingFailed, "No session.", stanzaError: busy))
        #expect(passing.retry && passing.exit == .temporary)
        let no = StanzaError(.notAllowed, kind: .cancel)
        let lasting = ControlError(XMPPError(.bindingFailed, "No session.", stanzaError: no))
        #expect(!lasting.retry && lasting.exit == .refused)
    }

    @Test("What is asked of a daemon that ends is answered so, and not as a call that was cancelled")
    func ending() async throws {
        try await DaemonHarness.run { daemon in
            await daemon.daemon.stop()
            let error = await daemon.failure("ping")
            #expect(error?.code == .daemonNotRunning && error?.message == "the daemon is ending")
        }
    }

    @Test("An invalid address names the part (RFC 7622)")
    func invalidAddress() throws {
        let error = try #require(throws: ControlError.self) { try Parameters.jid("ro meo@example.org") }
        #expect(error.exit == .badData)
        #expect(error.message.contains("localpart"))
    }
}
