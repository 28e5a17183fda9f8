// SPDX-License-Identifier: Apache-2.0

internal import XMPPTransport

/// How a channel is protected, for people to see.
public struct ChannelSecurity: Sendable, Hashable {
    /// How a server has proven itself.
    public enum Proof: String, Sendable, Hashable {
        /// An authority vouches for a certificate that is made out to it (``ServerTrust/authorities``).
        case authority
        /// It has a key that the account names (``ServerTrust/keys(_:)``), or the domain over HTTPS (XEP-0487).
        case pinnedKey
        /// Its certificate is what the domain's DNS says, signed (``ServerTrust/dane``).
        case dane
    }

    /// What DNS says about a server in TLSA records (RFC 7673 §3). Where a signature is wrong or missing that ought to
    /// be there, the server is not used.
    public enum TLSA: String, Sendable, Hashable {
        /// There are records, and they are signed: the certificate is what they say.
        case secure
        /// There are none, and that is signed.
        case absent
        /// There is nothing that is signed.
        case insecure
    }

    /// A certificate on the way from the server's own to an authority's.
    public struct Certificate: Sendable, Hashable {
        /// Whose certificate it is, as one line.
        public var subject: String
        /// Who issued it, as one line.
        public var issuer: String
        /// Begin of its validity, ISO 8601 in UTC.
        public var notBefore: String
        /// End of its validity, ISO 8601 in UTC.
        public var notAfter: String
        /// The names it is made out to; an authority's has none as a rule.
        public var names: [String]
        /// SHA-256 of it, 32 bytes.
        public var fingerprint: [UInt8]
        /// What its key is known by; `nil` where that cannot be read.
        public var keyFingerprint: KeyFingerprint?
    }

    /// `TLSv1.2` or `TLSv1.3`.
    public var version: String
    /// The cipher suite, as OpenSSL names it.
    public var cipher: String
    /// Whose certificate the server showed, as one line.
    public var subject: String
    /// Who issued it, as one line.
    public var issuer: String
    /// End of its validity, in UTC.
    public var notAfter: String
    /// The names it is made out to.
    public var names: [String]
    /// How the server has proven itself.
    public var proof: Proof
    /// The name that proved the domain; `nil` where a key did.
    public var matchedName: String?
    /// SHA-256 of the certificate, 32 bytes.
    public var fingerprint: [UInt8]
    /// What the server's key is known by.
    public var keyFingerprint: KeyFingerprint?
    /// The server's certificate and those above it, up to the authority that is trusted; where a key is the proof, what
    /// the server has shown. 16 at most.
    public var certificates: [Certificate]
    /// What DNS says about the server; `nil` where that was not asked (``ServerTrust/dane`` asks).
    public var tlsa: TLSA?
    /// Whether the TLS session of an earlier connection went on: the certificate is that one's, validated once more.
    public var isResumed: Bool
    /// The application protocol that was agreed on (RFC 7301), `xmpp-client` with direct TLS; `nil` for none.
    public var applicationProtocol: String?
}

extension ChannelSecurity {
    /// What a handshake brought.
    init(_ properties: TLSProperties) {
        let certificate = properties.certificates.first
        let proof: Proof =
            switch properties.proof {
            case .authority, nil: .authority
            case .pinnedKey: .pinnedKey
            case .dane: .dane
            }
        self.init(
            version: properties.version, cipher: properties.cipher, subject: certificate?.subject ?? "",
            issuer: certificate?.issuer ?? "", notAfter: certificate?.notAfter ?? "",
            names: certificate?.names.map(\.description) ?? [], proof: proof,
            matchedName: properties.matchedName?.description, fingerprint: certificate?.fingerprint ?? [],
            keyFingerprint: certificate.flatMap { KeyFingerprint($0.keyFingerprint) },
            certificates: properties.certificates.map(Certificate.init), tlsa: nil, isResumed: properties.isResumed,
            applicationProtocol: properties.applicationProtocol)
    }
}

extension ChannelSecurity.TLSA {
    /// What was asked; `nil` for nothing.
    init?(_ answer: DANEAnswer) {
        switch answer {
        case .notAsked: return nil
        case .absent: self = .absent
        case .insecure: self = .insecure
        case .secure: self = .secure
        }
    }
}

extension ChannelSecurity.Certificate {
    init(_ certificate: TLSCertificate) {
        self.init(
            subject: certificate.subject, issuer: certificate.issuer, notBefore: certificate.notBefore,
            notAfter: certificate.notAfter, names: certificate.names.map(\.description),
            fingerprint: certificate.fingerprint, keyFingerprint: KeyFingerprint(certificate.keyFingerprint))
    }
}
