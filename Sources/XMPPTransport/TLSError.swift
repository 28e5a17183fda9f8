// SPDX-License-Identifier: Apache-2.0

internal import SocketIO

/// Why a channel could not be secured, or was not trusted. Nothing secret is ever in it.
package enum TLSError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The certificate is valid, for somebody else: the JID's domain, and the names it is made out to.
    case certificateNameMismatch(expected: String, presented: [String])
    /// The certificate vouches for itself and is no trust anchor.
    case selfSigned(subject: String)
    /// A certificate's time has run out: subject, end of validity in UTC.
    case expired(subject: String, notAfter: String)
    /// A certificate's time has not begun: subject, begin of validity in UTC.
    case notYetValid(subject: String, notBefore: String)
    /// No path leads to a trust anchor: subject and issuer of the last certificate reached.
    case untrustedIssuer(subject: String, issuer: String)
    /// The server's key is none of those that it is known by: SHA-256 of it, and of those.
    case keyNotPinned(presented: [UInt8], pinned: Set<[UInt8]>)
    /// A certificate was taken back.
    case revoked(subject: String)
    /// Any other fault of the certificates: subject and reason.
    case certificateRejected(subject: String, reason: String)
    /// Bytes that are not TLS followed `<proceed/>`: somebody injected them (RFC 6120 §5.4.2.3).
    case plaintextInjected
    /// The peer answers, but not in TLS.
    case notTLS
    /// The peer speaks only versions older than TLS 1.2.
    case versionTooOld
    /// The peer chose another application protocol than `xmpp-client`.
    case wrongApplicationProtocol(String)
    /// The peer asked to negotiate again, which is refused.
    case renegotiationRefused
    /// The handshake failed for another reason, in OpenSSL's words.
    case handshakeFailed(reason: String)
    /// An established channel broke: a damaged record, or an alert.
    case channelFailed(reason: String)
    /// The handshake was not done in time.
    case timedOut(within: Duration)
    /// The connection ended during the handshake.
    case connectionLost(String)
    /// Certificate files or settings of this side are unusable.
    case configuration(String)

    /// What happened, why, and with which names.
    package var description: String {
        switch self {
        case .certificateNameMismatch(let expected, let presented):
            "the server's certificate is not valid for \(expected): it is made out to "
                + (presented.isEmpty ? "no name at all" : presented.joined(separator: ", "))
        case .selfSigned(let subject):
            "the server's certificate (\(subject)) is self-signed and not trusted; "
                + "if it is the right one, name it as the account's CA file, or pin its key"
        case .expired(let subject, let notAfter):
            "the certificate of \(subject) expired on \(notAfter) (or this machine's clock is wrong)"
        case .notYetValid(let subject, let notBefore):
            "the certificate of \(subject) is not valid before \(notBefore) (or this machine's clock is wrong)"
        case .untrustedIssuer(let subject, let issuer):
            "the certificate of \(subject) was issued by \(issuer), which is not trusted here"
        case .keyNotPinned(let presented, let pinned):
            "the server's key has the SHA-256 fingerprint \(presented.hexadecimal), and the account trusts "
                + (pinned.isEmpty ? "none" : "only " + pinned.map(\.hexadecimal).sorted().joined(separator: ", "))
        case .revoked(let subject):
            "the certificate of \(subject) has been revoked"
        case .certificateRejected(let subject, let reason):
            "the certificate of \(subject) is not acceptable: \(reason)"
        case .plaintextInjected:
            "unencrypted bytes were injected before the TLS handshake"
        case .notTLS:
            "the server does not speak TLS on this port"
        case .versionTooOld:
            "the server offers no TLS version newer than 1.1"
        case .wrongApplicationProtocol(let name):
            "the server chose the application protocol \(name) instead of xmpp-client"
        case .renegotiationRefused:
            "the server asked to renegotiate TLS, which is not allowed"
        case .handshakeFailed(let reason):
            "the TLS handshake failed: \(reason)"
        case .channelFailed(let reason):
            "the TLS channel broke: \(reason)"
        case .timedOut(let time):
            "the server did not finish the TLS handshake within \(time.spoken)"
        case .connectionLost(let reason):
            "the connection ended during the TLS handshake: \(reason)"
        case .configuration(let reason):
            reason
        }
    }

    /// Whether nothing was heard that says anything about the server: another address of it may do better.
    package var isSilence: Bool {
        switch self {
        case .timedOut, .connectionLost: true
        case .certificateNameMismatch, .selfSigned, .expired, .notYetValid, .untrustedIssuer, .keyNotPinned,
            .revoked, .certificateRejected, .plaintextInjected, .notTLS, .versionTooOld, .wrongApplicationProtocol,
            .renegotiationRefused, .handshakeFailed, .channelFailed, .configuration:
            false
        }
    }

    /// Whether the fault lies in the server's certificate: trying again does not help, and another path to the server
    /// must not be believed more easily.
    package var concernsCertificate: Bool {
        switch self {
        case .certificateNameMismatch, .selfSigned, .expired, .notYetValid, .untrustedIssuer, .keyNotPinned,
            .revoked, .certificateRejected:
            true
        case .plaintextInjected, .notTLS, .versionTooOld, .wrongApplicationProtocol, .renegotiationRefused,
            .handshakeFailed, .channelFailed, .timedOut, .connectionLost, .configuration:
            false
        }
    }
}
