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
    /// Whether the account has logged in bound to its channel before: from then on an exchange that is not is a
    /// downgrade.
    package var hasUsedChannelBinding = false
    /// Whether a weaker exchange than those before may be used all the same: PLAIN, or an access token in place of the
    /// password's proof, after SCRAM; an exchange without channel binding after one with it; false by default.
    package var allowsWeakerLogin = false

    /// The defaults.
    package init() {}
}
