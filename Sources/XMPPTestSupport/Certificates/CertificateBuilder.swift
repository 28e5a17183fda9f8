// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// A key pair of OpenSSL (`EVP_PKEY`), on the curve P-256: made in a fraction of a millisecond.
///
/// Unchecked: the key is not changed after `init`, and OpenSSL counts references atomically.
final class CertificateKey: @unchecked Sendable {
    let handle: OpaquePointer

    init() throws(TestSupportError) {
        guard let context = EVP_PKEY_CTX_new_id(NID_X9_62_id_ecPublicKey, nil) else {
            throw TestSupportError("OpenSSL has no elliptic curves")
        }
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1,
            EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, NID_X9_62_prime256v1) == 1,
            EVP_PKEY_keygen(context, &key) == 1, let key
        else { throw TestSupportError("OpenSSL made no key") }
        handle = key
    }

    deinit {
        EVP_PKEY_free(handle)
    }

    /// The private key as PEM text, not encrypted.
    var pem: [UInt8] {
        withMemoryBIO { _ = PEM_write_bio_PrivateKey($0, handle, nil, nil, 0, nil, nil) }
    }
}

/// A certificate of OpenSSL (`X509`).
///
/// Unchecked: the certificate is not changed once ``CertificateBuilder`` has signed it.
final class CertificateHandle: @unchecked Sendable {
    let handle: OpaquePointer

    init() throws(TestSupportError) {
        guard let handle = X509_new() else { throw TestSupportError("OpenSSL made no certificate") }
        self.handle = handle
    }

    deinit {
        X509_free(handle)
    }

    /// The certificate as PEM text.
    var pem: [UInt8] {
        withMemoryBIO { _ = PEM_write_bio_X509($0, handle) }
    }
}

/// Puts X.509 certificates together with OpenSSL.
struct CertificateBuilder {
    /// The subject's common name; never what a client should look at.
    var commonName: String
    /// Seconds from now at which validity begins, usually negative.
    var validFrom: Int
    /// Seconds from now at which validity ends.
    var validUntil: Int
    /// Extensions by OpenSSL's number and its configuration text.
    var extensions: [(number: Int32, text: String)]

    /// Makes and signs the certificate.
    ///
    /// - Parameters:
    ///   - key: The subject's key.
    ///   - issuer: Whose name signs; `nil` for a self-signed certificate.
    ///   - issuerKey: The key that signs.
    func build(
        key: CertificateKey, issuer: CertificateHandle?, issuerKey: CertificateKey
    ) throws(TestSupportError) -> CertificateHandle {
        let certificate = try CertificateHandle()
        let x509 = certificate.handle
        let serial = Int(UInt32.random(in: 1...UInt32.max))
        guard X509_set_version(x509, 2) == 1, ASN1_INTEGER_set(X509_get_serialNumber(x509), serial) == 1,
            X509_gmtime_adj(X509_getm_notBefore(x509), validFrom) != nil,
            X509_gmtime_adj(X509_getm_notAfter(x509), validUntil) != nil,
            X509_set_pubkey(x509, key.handle) == 1,
            X509_NAME_add_entry_by_txt(
                X509_get_subject_name(x509), "CN", MBSTRING_UTF8, commonName, Int32(commonName.utf8.count), -1, 0) == 1,
            X509_set_issuer_name(x509, X509_get_subject_name(issuer?.handle ?? x509)) == 1
        else { throw TestSupportError("OpenSSL refused the names or dates of a certificate") }
        for (number, text) in extensions {
            try add(number, text, to: x509, issuer: issuer?.handle ?? x509)
        }
        guard X509_sign(x509, issuerKey.handle, EVP_sha256()) > 0 else {
            throw TestSupportError("OpenSSL did not sign a certificate")
        }
        return certificate
    }

    private func add(
        _ number: Int32, _ text: String, to x509: OpaquePointer, issuer: OpaquePointer
    ) throws(TestSupportError) {
        var context = X509V3_CTX()
        X509V3_set_ctx(&context, issuer, x509, nil, nil, 0)
        guard let addition = X509V3_EXT_conf_nid(nil, &context, number, text) else {
            throw TestSupportError("OpenSSL does not understand the certificate extension “\(text)”")
        }
        defer { X509_EXTENSION_free(addition) }
        guard X509_add_ext(x509, addition, -1) == 1 else {
            throw TestSupportError("OpenSSL did not take the certificate extension “\(text)”")
        }
    }
}

extension CertificateBuilder {
    /// Marks an authority, or the opposite.
    static func basicConstraints(isAuthority: Bool) -> (number: Int32, text: String) {
        (NID_basic_constraints, isAuthority ? "critical,CA:TRUE" : "critical,CA:FALSE")
    }

    /// What the key may sign.
    static func keyUsage(isAuthority: Bool) -> (number: Int32, text: String) {
        (NID_key_usage, isAuthority ? "critical,keyCertSign,cRLSign" : "critical,digitalSignature")
    }

    /// What the certificate is for: `serverAuth`, `clientAuth`.
    static func purpose(_ text: String) -> (number: Int32, text: String) {
        (NID_ext_key_usage, text)
    }

    /// Fingerprints by which chains are put together.
    static func keyIdentifiers(isSelfSigned: Bool) -> [(number: Int32, text: String)] {
        let subject = (number: NID_subject_key_identifier, text: "hash")
        return isSelfSigned ? [subject] : [subject, (number: NID_authority_key_identifier, text: "keyid")]
    }

    /// Subject alternative names in OpenSSL's notation, such as `DNS:example.org`.
    static func names(_ names: [String]) -> (number: Int32, text: String) {
        (NID_subject_alt_name, names.joined(separator: ","))
    }
}

/// What `body` wrote into OpenSSL's memory.
private func withMemoryBIO(_ body: (OpaquePointer) -> Void) -> [UInt8] {
    guard let bio = BIO_new(BIO_s_mem()) else { return [] }
    defer { BIO_free(bio) }
    body(bio)
    let pending = BIO_ctrl_pending(bio)
    guard pending > 0, let limit = Int32(exactly: pending) else { return [] }
    return [UInt8](unsafeUninitializedCapacity: pending) { buffer, count in
        count = max(0, Int(BIO_read(bio, buffer.baseAddress, limit)))
    }
}
