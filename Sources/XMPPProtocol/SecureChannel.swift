// SPDX-License-Identifier: Apache-2.0

/// The proof that credentials may be sent: authentication cannot be begun without a value of this type, and a value
/// exists only for TLS with a verified peer, or for an explicit permission that holds on loopback alone.
package struct SecureChannel: Sendable, Equatable {
    /// What protects the bytes.
    package enum Protection: Sendable, Equatable {
        /// TLS, with a certificate that proves the domain.
        case tls
        /// Nothing but the loopback interface.
        case loopback
    }

    /// What protects the bytes.
    package let protection: Protection
    /// What TLS offers to bind to, best first (RFC 9266, RFC 5929); empty on loopback.
    package let channelBindings: [ChannelBindingData]
    /// The version of TLS as it stands in its records, `0x0304` for TLS 1.3 (RFC 8446 §4.2.1); `nil` where it is not
    /// known.
    package let tlsVersion: UInt16?

    private init(
        _ protection: Protection, channelBindings: [ChannelBindingData] = [], tlsVersion: UInt16? = nil
    ) {
        self.protection = protection
        self.channelBindings = channelBindings
        self.tlsVersion = tlsVersion
    }

    /// The channel after a TLS handshake in which the certificate was verified for the account's domain.
    package static func verifiedTLS(
        channelBindings: [ChannelBindingData] = [], tlsVersion: UInt16? = nil
    ) -> SecureChannel {
        SecureChannel(.tls, channelBindings: channelBindings, tlsVersion: tlsVersion)
    }

    /// An unprotected channel; `nil` unless the peer is on loopback and the account's configuration permits it.
    package static func plaintext(peerIsLoopback: Bool, policy: SecurityPolicy) -> SecureChannel? {
        peerIsLoopback && policy == .plaintextOnLoopback ? SecureChannel(.loopback) : nil
    }
}

/// How much protection an account insists on.
public enum SecurityPolicy: Sendable, Hashable {
    /// Nothing secret without TLS to a server whose certificate proves the domain (RFC 6120 §13.8, RFC 7590). The
    /// default.
    case tlsRequired
    /// As ``tlsRequired``, but a server on loopback may be spoken to in the clear: for tests and demonstrations.
    case plaintextOnLoopback
}
