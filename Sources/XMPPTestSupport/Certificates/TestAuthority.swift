// SPDX-License-Identifier: Apache-2.0

/// A certificate authority that lives as long as a test: trust ``certificate`` and it vouches for your test's servers.
public struct TestAuthority: Sendable {
    private static let day = 86_400

    /// The authority's certificate as PEM text: what a client is told to trust.
    public let certificate: [UInt8]

    private let key: CertificateKey
    private let handle: CertificateHandle

    /// Makes an authority with a fresh key.
    ///
    /// - Throws: ``TestSupportError`` when OpenSSL refuses.
    public init(name: String = "swift-xmpp test authority") throws(TestSupportError) {
        key = try CertificateKey()
        let builder = CertificateBuilder(
            commonName: name, validFrom: -Self.day, validUntil: 30 * Self.day,
            extensions: [
                CertificateBuilder.basicConstraints(isAuthority: true),
                CertificateBuilder.keyUsage(isAuthority: true),
            ] + CertificateBuilder.keyIdentifiers(isSelfSigned: true))
        handle = try builder.build(key: key, issuer: nil, issuerKey: key)
        certificate = handle.pem
    }

    /// Issues a certificate for a domain: as dNSName, SRV-ID and XmppAddr.
    ///
    /// - Parameters:
    ///   - domain: The domain as an A-label.
    ///   - others: Other names that it presents as well.
    ///   - flaw: What is wrong with the certificate; `nil` for a good one.
    /// - Throws: ``TestSupportError`` when OpenSSL refuses.
    public func issue(
        for domain: String, and others: [TestCertificate.Name] = [], flaw: TestCertificate.Flaw? = nil
    ) throws(TestSupportError) -> TestCertificate {
        let shown = flaw == .wrongName ? "wrong.\(domain)" : domain
        return try issue(names: [.dns(shown), .service(shown), .xmppAddress(shown)] + others, flaw: flaw)
    }

    /// Issues a certificate that presents exactly these names.
    ///
    /// - Throws: ``TestSupportError`` when a name cannot be written, or OpenSSL refuses.
    public func issue(
        names: [TestCertificate.Name], commonName: String = "swift-xmpp test server", flaw: TestCertificate.Flaw? = nil
    ) throws(TestSupportError) -> TestCertificate {
        if flaw == .unknownAuthority {
            return try TestAuthority(name: "unknown authority").issue(names: names, commonName: commonName)
        }
        let ownKey = try CertificateKey()
        let isSelfSigned = flaw == .selfSigned
        var extensions = [
            CertificateBuilder.basicConstraints(isAuthority: false),
            CertificateBuilder.keyUsage(isAuthority: false),
            CertificateBuilder.purpose(flaw == .missingServerPurpose ? "clientAuth" : "serverAuth"),
        ]
        extensions += CertificateBuilder.keyIdentifiers(isSelfSigned: isSelfSigned)
        if !names.isEmpty { extensions.append(CertificateBuilder.names(names.map(\.notation))) }
        let builder = CertificateBuilder(
            commonName: commonName,
            validFrom: flaw == .notYetValid ? Self.day : -2 * Self.day,
            validUntil: flaw == .expired ? -Self.day : 30 * Self.day,
            extensions: extensions)
        let issued = try builder.build(
            key: ownKey, issuer: isSelfSigned ? nil : handle, issuerKey: isSelfSigned ? ownKey : key)
        return TestCertificate(certificate: issued.pem, privateKey: ownKey.pem)
    }
}
