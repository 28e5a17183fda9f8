// SPDX-License-Identifier: Apache-2.0

/// How well the channel protects what is sent over it.
package enum SASLChannelSecurity: Hashable, Sendable, CaseIterable {
    /// TLS, and the certificate proves the server's identity.
    case verifiedTLS
    /// TLS, with a certificate that proves nothing, which the user chose to accept.
    case unverifiedTLS
    /// No TLS, to a loopback address, which the user explicitly allowed.
    case permittedLoopback
    /// No TLS: nothing may be sent (RFC 6120 §13.8.3, §13.9.4).
    case clear
}

/// What an account allows, and what it has seen before.
package struct SASLPolicy: Hashable, Sendable {
    /// Whether PLAIN may be used at all, where the channel is fit for it; true by default.
    package var allowsPlain = true
    /// Whether the account has logged in with SCRAM before: from then on PLAIN is a downgrade (XEP-0474).
    package var hasUsedSCRAM = false
    /// Whether PLAIN may be used all the same after SCRAM was; false by default.
    package var allowsPlainAfterSCRAM = false

    /// The defaults.
    package init() {}
}
