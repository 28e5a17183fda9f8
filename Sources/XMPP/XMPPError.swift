// SPDX-License-Identifier: Apache-2.0

public import XMPPCore

/// What went wrong, for programs (``code``) and for people (``message``).
///
/// Never holds a password, a SASL payload or the body of a message. Texts that the server wrote may be in ``message``:
/// they are foreign, so a terminal should get them sanitised.
public struct XMPPError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The domain has no address.
        case hostNotFound
        /// The name servers did not answer, or not usefully.
        case resolverFailed
        /// The domain says that it offers no XMPP service to clients.
        case serviceUnavailable
        /// No address of the domain accepted a connection.
        case connectionFailed
        /// The proxy cannot be reached, does not answer, or is none.
        case proxyFailed
        /// Something did not happen in time.
        case timedOut
        /// The server cannot do TLS, or refused to (RFC 6120 §13.8); nothing secret was sent.
        case tlsUnavailable
        /// The TLS handshake failed.
        case tlsFailed
        /// The certificate does not prove the account's domain; nothing secret was sent.
        case certificateRejected
        /// The server offers no mechanism that may be used.
        case noMechanism
        /// What the server offers of channel binding contradicts itself, or what it offered at earlier logins
        /// (XEP-0440): somebody may sit in between, with a certificate that is valid all the same. Nothing of the login
        /// was sent.
        case channelBindingFailed
        /// The server refused the credentials (RFC 6120 §6.5).
        case authenticationRefused
        /// The server could not check the credentials just now.
        case authenticationDeferred
        /// The server broke the rules of authentication, or could not prove that it knows the account.
        case serverNotAuthenticated
        /// No resource could be bound (RFC 6120 §7).
        case bindingFailed
        /// The server closed the stream with an error (RFC 6120 §4.9).
        case streamError
        /// The server broke the protocol; the stream was closed.
        case protocolViolation
        /// The connection went away.
        case connectionLost
        /// The other side answered a request with an error (RFC 6120 §8.3), or bounced a message.
        case stanzaError
        /// What was asked needs an established stream, and there is none (any more).
        case notConnected
        /// A stanza cannot be sent as it is.
        case invalidStanza
        /// A stanza is larger than the server takes (XEP-0478).
        case tooLarge
        /// More has piled up than a maximum allows: events for a reader that is too slow, requests that nobody has
        /// answered yet, results of an archive, or rooms.
        case overflow
        /// The task was cancelled.
        case cancelled
        /// The configuration makes no sense.
        case invalidConfiguration
        /// What has to be kept before it counts could not be kept, for lack of room on the disk as a rule; nothing was
        /// sent.
        case storageFailed
    }

    /// The kind of failure.
    public var code: Code
    /// What failed, where, why, and what to do, in one or two sentences.
    public var message: String
    /// The stream error, where there was one.
    public var streamError: StreamError?
    /// The stanza error, where there was one.
    public var stanzaError: StanzaError?
    /// What the other side wants to be filled in before it does what it was asked, where its error says so (XEP-0077
    /// §3.2, §3.3).
    public var form: DataForm?
    /// The refusal of authentication, where there was one.
    public var saslFailure: SASLFailure?
    /// The mechanism in use, where authentication failed.
    public var mechanism: String?
    /// The key that the server has shown, where its certificate was refused (``Code/certificateRejected``): whoever
    /// knows it to be the right one may name it in ``XMPPConfiguration/trust``.
    public var presentedKey: KeyFingerprint?
    /// The certificates that the server has shown, its own first, where they were refused
    /// (``Code/certificateRejected``).
    public var presentedCertificates: [ChannelSecurity.Certificate] = []

    /// What is wrong with them.
    public var certificateFault: CertificateFault?

    /// Where it happened: `host:port`, or the address of a WebSocket; `nil` where it was at no place, such as while
    /// names were looked up, and for what is no failure of a connection.
    public var endpoint: String?
    /// The part of the way to a session in which it happened; `nil` once there was one.
    public var phase: LoginPhase.Name?

    /// What can be wrong with a server's certificate.
    public enum CertificateFault: String, Sendable, Hashable, CaseIterable {
        /// It is made out to others.
        case name
        /// Its time has run out, or that of one above it.
        case expired
        /// Its time has not begun.
        case notYetValid
        /// It vouches for itself.
        case selfSigned
        /// Nobody vouches for it who is trusted here.
        case issuer
        /// Its key is none of those that the account trusts.
        case key
        /// It was taken back.
        case revoked
        /// Something else.
        case other
    }

    /// Makes an error.
    public init(
        _ code: Code, _ message: String, streamError: StreamError? = nil, stanzaError: StanzaError? = nil,
        saslFailure: SASLFailure? = nil, mechanism: String? = nil
    ) {
        self.code = code
        self.message = message
        self.streamError = streamError
        self.stanzaError = stanzaError
        self.saslFailure = saslFailure
        self.mechanism = mechanism
    }

    /// ``message``.
    public var description: String { message }

    /// Whether trying again cannot help until somebody changes something: ``XMPPClient`` stops at such an error.
    public var isPermanent: Bool {
        switch code {
        case .authenticationRefused, .noMechanism, .channelBindingFailed, .serverNotAuthenticated, .certificateRejected,
            .tlsUnavailable, .invalidConfiguration, .hostNotFound, .serviceUnavailable:
            true
        // RFC 6120 §7.6.2: too many sessions now, or a server in trouble, is not the account's fault.
        case .bindingFailed: stanzaError?.isTemporary != true
        // RFC 6120 §4.9.3.3: after `conflict` the resource belongs to somebody else.
        case .streamError:
            switch streamError?.condition {
            case .some(.conflict), .some(.hostUnknown), .some(.hostGone), .some(.notAuthorized): true
            default: false
            }
        case .resolverFailed, .connectionFailed, .proxyFailed, .timedOut, .tlsFailed, .authenticationDeferred,
            .protocolViolation,
            .connectionLost, .stanzaError, .notConnected, .invalidStanza, .tooLarge, .overflow, .cancelled,
            .storageFailed:
            false
        }
    }
}

extension XMPPError {
    /// What the end of a stream means to its user; `nil` when the user ended it.
    package init?(_ end: StreamEnd, domain: String) {
        switch end {
        case .closed:
            return nil
        case .closedByServer:
            self.init(.connectionLost, "\(domain) closed the stream.")
        case .streamError(let error):
            self.init(.streamError, "\(domain) ended the stream: \(clause(error)).", streamError: error)
        case .violation(let error):
            self.init(
                .protocolViolation, "\(domain) broke the protocol (\(clause(error))); the stream was closed.",
                streamError: error)
        case .tlsUnavailable(let reason):
            self.init(
                .tlsUnavailable, "No TLS with \(domain): \(reason). Nothing secret was sent.")
        case .noMechanism(let reason):
            self.init(.noMechanism, "Cannot log in to \(domain): \(reason).")
        case .channelBindingContradicted(let reason):
            self.init(
                .channelBindingFailed,
                "Cannot log in to \(domain): \(reason). Somebody may sit in between (channel binding mismatch).")
        case .authenticationRefused(let failure, let mechanism):
            let isDeferred = failure.condition == .temporaryAuthFailure
            self.init(
                isDeferred ? .authenticationDeferred : .authenticationRefused,
                "\(domain) refused the login with \(mechanism): \(clause(failure))."
                    + (isDeferred ? " Try again later." : Self.advice(mechanism, failure.condition)),
                saslFailure: failure, mechanism: mechanism)
        case .serverNotAuthenticated(let reason, let mechanism):
            self.init(
                .serverNotAuthenticated,
                "\(domain) did not authenticate itself\(mechanism.isEmpty ? "" : " with \(mechanism)"): \(reason).",
                mechanism: mechanism)
        case .bindingFailed(let failure):
            let refusal: StanzaError? = if case .refused(let error) = failure { error } else { nil }
            self.init(.bindingFailed, "No session with \(domain): \(clause(failure)).", stanzaError: refusal)
        case .timedOut(let phase):
            self.init(.timedOut, "\(domain) did not finish \(phase.rawValue) in time.")
        case .transportEnded(let reason):
            self.init(
                .connectionLost,
                reason.isEmpty
                    ? "\(domain) closed the connection without a word."
                    : "The connection to \(domain) was lost: \(reason).")
        }
    }

    /// What to think of refused credentials. A login that is bound to the channel fails too when somebody sits in
    /// between.
    private static func advice(_ mechanism: String, _ condition: SASLFailure.Condition) -> String {
        switch condition {
        case .accountDisabled: return " Ask those who run the server."
        case .credentialsExpired: return " Ask those who run the server for new ones."
        case .encryptionRequired, .incorrectEncoding, .invalidMechanism, .malformedRequest, .mechanismTooWeak: return ""
        default: break
        }
        let isBound = mechanism.hasSuffix("-PLUS") || mechanism.hasSuffix("-EXPR") || mechanism.hasSuffix("-ENDP")
        let proof =
            switch mechanism {
            case "EXTERNAL": "certificate"
            case "OAUTHBEARER": "access token"
            default: "password"
            }
        return " Check the address and the \(proof)."
            + (isBound
                ? " The login was bound to the TLS channel: if both are right, somebody else holds the other end of it, with "
                    + "a certificate that is valid all the same (channel binding mismatch)." : "")
    }

    /// The error for a request that was answered with an error, or with something that is no answer to it.
    ///
    /// - Parameters:
    ///   - error: What the answer says, or what is wrong with it.
    ///   - jid: Who answered; `nil` for the server.
    public init(_ error: StanzaError, from jid: JID?) {
        let sender = jid.map(\.description) ?? "The server"
        self.init(.stanzaError, "\(sender) answered with an error: \(clause(error)).", stanzaError: error)
    }

    /// What is answered where a stream is needed and none is established.
    package static let notConnected = XMPPError(.notConnected, "The stream is not connected.")
}

extension StanzaError {
    /// Whether the same may succeed later: the sender says so (RFC 6120 §8.3.2), or it speaks of itself.
    fileprivate var isTemporary: Bool {
        kind == .wait || [.internalServerError, .resourceConstraint].contains(condition)
    }
}

extension XMPPError {
    /// A port was spoken to in the clear that wants TLS from the first byte.
    static func speaksTLSAtOnce(_ endpoint: String) -> XMPPError {
        XMPPError(
            .tlsFailed,
            "\(endpoint) speaks TLS from the first byte. Choose direct TLS for this host, or the port for STARTTLS.")
    }
}

/// What a server said as part of a sentence of ours, which brings its own full stop: 1,000 characters of it at most,
/// since there may be a million.
private func clause(_ said: some CustomStringConvertible) -> Substring {
    let text = said.description
    // By scalars: a letter may have a million accents.
    let scalars = text.unicodeScalars
    let end = scalars.index(scalars.startIndex, offsetBy: maximumQuotation, limitedBy: scalars.endIndex)
    if let end, end != scalars.endIndex { return text[..<end] + "…" }
    return text.hasSuffix(".") ? text.dropLast() : text[...]
}

/// How much of what a server said is told in a sentence of ours, in characters.
private let maximumQuotation = 1_000
