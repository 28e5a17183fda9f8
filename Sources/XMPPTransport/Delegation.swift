// SPDX-License-Identifier: Apache-2.0

/// What a domain says over HTTPS of a place where its service is, beside the address (XEP-0487 §3). It is believed as
/// the domain is, which has proven itself to say it.
package struct Delegation: Sendable, Hashable {
    /// The name to ask for by Server Name Indication; a certificate for it proves the domain as well (XEP-0487 §4).
    package let serverName: String
    /// SHA-256 of keys (SubjectPublicKeyInfo). Where there are some, one of them has to be in the server's certificate
    /// or in one above it; in the server's own it is proof enough (XEP-0487 §4, RFC 7469 §2.6).
    package let pinnedKeys: Set<[UInt8]>
    /// What the field `Host` of HTTP says at a web server (RFC 9110 §7.2); `nil` for other places.
    package let hostField: String?

    /// Makes a delegation.
    package init(serverName: String, pinnedKeys: Set<[UInt8]> = [], hostField: String? = nil) {
        self.serverName = serverName
        self.pinnedKeys = pinnedKeys
        self.hostField = hostField
    }
}
