// SPDX-License-Identifier: Apache-2.0

/// What a certificate says, for people and for checks; a value without a handle behind it.
package struct TLSCertificate: Sendable, Hashable {
    /// Whose certificate it is, as one line; escaped for terminals.
    package let subject: String
    /// Who issued it, as one line; escaped for terminals.
    package let issuer: String
    /// Begin of validity, ISO 8601 in UTC.
    package let notBefore: String
    /// End of validity, ISO 8601 in UTC.
    package let notAfter: String
    /// The names it is made out to (subjectAltName).
    package let names: [PresentedName]
    /// The certificate itself, DER.
    package let der: [UInt8]
    /// SHA-256 of the DER bytes, 32 bytes.
    package let fingerprint: [UInt8]
    /// SHA-256 of its key (SubjectPublicKeyInfo), 32 bytes; empty when the key is unreadable.
    package let keyFingerprint: [UInt8]
}

/// How a server has proven itself.
package enum TLSProof: Sendable, Hashable {
    /// An authority vouches for a certificate that is made out to it.
    case authority
    /// It has a key that it is known by.
    case pinnedKey
    /// Its certificate is what DNS says, signed (RFC 7671).
    case dane
}

/// What is known about an established channel.
package struct TLSProperties: Sendable, Hashable {
    /// `TLSv1.2` or `TLSv1.3`.
    package let version: String
    /// The version as it stands in records: `0x0303` or `0x0304` (RFC 8446 §4.2.1).
    package let versionNumber: UInt16
    /// The cipher suite, as OpenSSL names it.
    package let cipher: String
    /// The peer's certificates: its own first, then the path to the trust anchor as far as it was built, or what the
    /// server has shown where its key is pinned. Empty on the server's side.
    package let certificates: [TLSCertificate]
    /// The identity that was proven; `nil` on the server's side.
    package let identity: ReferenceIdentity?
    /// How it was proven; `nil` on the server's side.
    package let proof: TLSProof?
    /// The name in the certificate that proved it; `nil` where a pinned key did.
    package let matchedName: PresentedName?
    /// Channel binding `tls-exporter` (RFC 9266): 32 bytes; `nil` on TLS 1.2 without extended master secret.
    package let exporterBinding: [UInt8]?
    /// Channel binding `tls-server-end-point` (RFC 5929 §4); `nil` when the certificate's signature defines no hash.
    package let serverEndPointBinding: [UInt8]?
    /// The application protocol that was negotiated.
    package let applicationProtocol: String?
    /// Whether an earlier session was resumed.
    package let isResumed: Bool
}
