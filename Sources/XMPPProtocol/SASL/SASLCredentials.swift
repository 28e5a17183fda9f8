// SPDX-License-Identifier: Apache-2.0

package import XMPPCrypto

/// What an account logs in with.
package enum SASLCredentials: Sendable {
    /// A user name with a password, keys kept from an earlier login, or both.
    case account(SASLAccount)
    /// No account: a temporary one is asked for (XEP-0175).
    case anonymous
    /// Nothing: what is offered is looked at, and nobody logs in.
    case nobody
}

/// A user name and what proves it.
package struct SASLAccount: Sendable {
    /// The JID's localpart, prepared as such.
    package let username: String
    /// The password in UTF-8, as the user typed it.
    package let password: SecretBytes?
    /// SCRAM keys kept from an earlier login instead of, or beside, the password.
    package let keys: SCRAMKeyMaterial?
    /// An access token of an authorization server, for OAUTHBEARER.
    package let accessToken: SecretBytes?
    /// Whether a certificate is shown in the TLS handshake, for EXTERNAL.
    package let showsCertificate: Bool
    /// The account's bare address, which goes with an access token.
    package let address: String
    /// The bare JID to act for; `nil`, the default, for the account's own (RFC 6120 §6.3.8).
    package let authorizationID: String?

    /// An account.
    package init(
        username: String,
        password: SecretBytes?,
        keys: SCRAMKeyMaterial? = nil,
        accessToken: SecretBytes? = nil,
        showsCertificate: Bool = false,
        address: String? = nil,
        authorizationID: String? = nil
    ) {
        self.username = username
        self.password = password
        self.keys = keys
        self.accessToken = accessToken
        self.showsCertificate = showsCertificate
        self.address = address ?? username
        self.authorizationID = authorizationID
    }

    /// Whether a SCRAM mechanism with this hash can be attempted.
    internal func canUse(_ digest: Digest) -> Bool {
        password != nil || keys?.digest == digest
    }
}
