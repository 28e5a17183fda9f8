// SPDX-License-Identifier: Apache-2.0

package import JabberControl
package import XMPP

extension ControlError {
    /// A failure of the library as the control protocol tells it: each code of ``XMPPError`` has its place in the table
    /// of exit codes.
    ///
    /// - Parameter account: The bare JID that it happened to.
    package init(_ error: XMPPError, account: String? = nil) {
        self.init(
            Self.code(of: error), Self.lowercasingFirst(error.message), stanza: error.stanzaError.map(Self.stanza),
            account: account)
        (endpoint, phase) = (error.endpoint, error.phase?.rawValue)
        // A connection that breaks off may do so at any byte, one of the TLS handshake included.
        if [.bindingFailed, .tlsFailed, .protocolViolation, .streamError].contains(error.code) {
            retry = !error.isPermanent
        } else if let stanzaError = error.stanzaError {
            // RFC 6120 §8.3.2: only `wait` says that the same may succeed later.
            retry = stanzaError.kind == .wait
        }
    }

    /// A string that is no JID: the part that is wrong is named.
    package init(_ error: JIDError) {
        self.init(.badJID, error.description)
    }

    /// A stanza error as `stanza` in the table of results: type, condition, text.
    package static func stanza(_ error: StanzaError) -> JSONObject {
        JSONObject(present: [
            "type": .string(error.kind.rawValue), "condition": .string(error.condition.rawValue),
            "text": error.text.map(JSONValue.string), "by": error.by.map(JSONValue.string),
        ])
    }

    /// The code of a failure. No `default`: a new code of the library asks for a decision here.
    package static func code(of error: XMPPError) -> ControlErrorCode {
        switch error.code {
        case .hostNotFound: .hostNotFound
        case .resolverFailed, .authenticationDeferred, .overflow: .temporary
        case .serviceUnavailable, .connectionFailed, .proxyFailed: .serviceUnavailable
        case .timedOut: .timedOut
        case .tlsUnavailable: .tlsRequired
        case .tlsFailed: .tlsFailed
        case .certificateRejected: .certificate
        case .noMechanism: .noMechanism
        case .channelBindingFailed: .channelBinding
        case .authenticationRefused: .authRefused
        case .serverNotAuthenticated: error.mechanism?.hasSuffix("-PLUS") == true ? .channelBinding : .protocolFailure
        case .bindingFailed: error.isPermanent ? .refused : .temporary
        case .stanzaError: .refused
        case .streamError: error.streamError.map(code) ?? .protocolFailure
        case .protocolViolation: .protocolFailure
        case .connectionLost: .connectionLost
        case .notConnected: .notConnected
        case .invalidStanza, .tooLarge: .badData
        case .cancelled: .cancelled
        case .invalidConfiguration: .configuration
        case .storageFailed: .inputOutput
        }
    }

    /// The code of a stream error (RFC 6120 §4.9.3): who is at fault, and whether it passes.
    private static func code(of error: StreamError) -> ControlErrorCode {
        switch error.condition {
        case .conflict: .conflict
        case .hostUnknown, .hostGone: .hostNotFound
        case .notAuthorized: .authRefused
        case .connectionTimeout, .internalServerError, .policyViolation, .remoteConnectionFailed, .reset,
            .resourceConstraint, .systemShutdown:
            .temporary
        default: .protocolFailure
        }
    }

    /// The words that the library's sentences begin with, where that is no name.
    private static let firstWords = [
        "A ", "An ", "Cannot ", "Connecting ", "More ", "No ", "Nothing ", "The ", "Too ", "Waiting ", "You ",
    ]

    /// The library writes sentences, the command what follows `jabberctl: `. A name keeps its capital.
    private static func lowercasingFirst(_ message: String) -> String {
        for word in firstWords where message.hasPrefix(word) {
            return word.lowercased() + message.dropFirst(word.count)
        }
        return message
    }
}
