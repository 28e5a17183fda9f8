// SPDX-License-Identifier: Apache-2.0

/// A server certificate with its key, as a test wants it: right, or wrong in one way.
///
/// ```swift
/// let authority = try TestAuthority()
/// let good = try authority.issue(for: "example.org")
/// let stale = try authority.issue(for: "example.org", flaw: .expired)
/// ```
public struct TestCertificate: Sendable {
    /// A name that a certificate presents (RFC 6120 §13.7.1.2).
    public enum Name: Sendable, Hashable {
        /// A dNSName, `*.example.org` included.
        case dns(String)
        /// An SRV-ID for XMPP clients: `_xmpp-client.` and this domain (RFC 4985).
        case service(String)
        /// An XmppAddr: a JID (RFC 6120 §13.7.1.4).
        case xmppAddress(String)
        /// An IP address.
        case address(String)
    }

    /// What is wrong with a certificate.
    public enum Flaw: String, Sendable, Hashable, CaseIterable {
        /// It ended yesterday.
        case expired
        /// It begins tomorrow.
        case notYetValid
        /// Its own key signed it.
        case selfSigned
        /// It presents another domain: `wrong.` in front of the right one.
        case wrongName
        /// It is good for clients only: the purpose `serverAuth` is missing (RFC 5280 §4.2.1.12).
        case missingServerPurpose
        /// An authority that nobody trusts signed it.
        case unknownAuthority
    }

    /// The certificate and what is above it, as PEM text.
    public let certificate: [UInt8]
    /// The private key as PEM text, not encrypted.
    public let privateKey: [UInt8]

    init(certificate: [UInt8], privateKey: [UInt8]) {
        self.certificate = certificate
        self.privateKey = privateKey
    }
}

extension TestCertificate.Name {
    /// The name in the notation of OpenSSL's configuration files.
    var notation: String {
        switch self {
        case .dns(let name): "DNS:\(name)"
        case .service(let domain): "otherName:1.3.6.1.5.5.7.8.7;IA5STRING:_xmpp-client.\(domain)"
        case .xmppAddress(let jid): "otherName:1.3.6.1.5.5.7.8.5;UTF8:\(jid)"
        case .address(let address): "IP:\(address)"
        }
    }
}
