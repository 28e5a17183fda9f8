// SPDX-License-Identifier: Apache-2.0

import COpenSSL
import Testing

/// A key that a test makes: P-256, or RSA when bits are given.
final class TestKey {
    let handle: OpaquePointer

    init(rsaBits: Int32? = nil) throws {
        let context = try #require(EVP_PKEY_CTX_new_id(rsaBits == nil ? EVP_PKEY_EC : EVP_PKEY_RSA, nil))
        defer { EVP_PKEY_CTX_free(context) }
        _ = EVP_PKEY_keygen_init(context)
        if let rsaBits {
            _ = EVP_PKEY_CTX_set_rsa_keygen_bits(context, rsaBits)
        } else {
            _ = EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, NID_X9_62_prime256v1)
        }
        var key: OpaquePointer?
        _ = EVP_PKEY_keygen(context, &key)
        handle = try #require(key)
    }

    deinit {
        EVP_PKEY_free(handle)
    }

    var pem: [UInt8] {
        PEMText.write { PEM_write_bio_PrivateKey($0, handle, nil, nil, 0, nil, nil) }
    }
}

/// What a certificate of a test shall say.
struct TestCertificateRequest {
    var commonName = ""
    /// The whole subjectAltName extension, DER; none when `nil`.
    var alternativeNames: [UInt8]?
    var isAuthority = false
    /// The last number of the extended key usage: 1 is serverAuth, 2 clientAuth.
    var purpose: UInt8? = 1
    /// Begin and end of validity, seconds from now.
    var notBefore = -3600
    var notAfter = 86_400
    var excludedDomain: String?
    var digest = EVP_sha256()
}

/// A certificate with its key, that can issue others.
final class TestAuthority {
    let handle: OpaquePointer
    let key: TestKey

    /// Makes a certificate; signed by `issuer`, or by itself.
    init(_ request: TestCertificateRequest, issuer: TestAuthority? = nil, key: TestKey? = nil) throws {
        let key = try key ?? TestKey()
        let certificate = try #require(X509_new())
        handle = certificate
        self.key = key
        _ = X509_set_version(certificate, 2)
        _ = ASN1_INTEGER_set(X509_get_serialNumber(certificate), Int.random(in: 1...Int(Int32.max)))
        _ = X509_gmtime_adj(X509_getm_notBefore(certificate), request.notBefore)
        _ = X509_gmtime_adj(X509_getm_notAfter(certificate), request.notAfter)
        _ = X509_set_pubkey(certificate, key.handle)
        let name = X509_get_subject_name(certificate)
        if !request.commonName.isEmpty {
            let utf8 = Array(request.commonName.utf8)
            _ = X509_NAME_add_entry_by_txt(name, "CN", 0x1000, utf8, Int32(utf8.count), -1, 0)
        }
        _ = X509_set_issuer_name(certificate, issuer.map { X509_get_subject_name($0.handle) } ?? name)
        add(NID_basic_constraints, DER.sequence(request.isAuthority ? [DER.value(0x01, [0xFF])] : []), isCritical: true)
        if let purpose = request.purpose, !request.isAuthority {
            add(NID_ext_key_usage, DER.sequence([DER.value(0x06, DER.pkix + [3, purpose])]))
        }
        if let names = request.alternativeNames {
            add(NID_subject_alt_name, names, isCritical: request.commonName.isEmpty)
        }
        if let domain = request.excludedDomain {
            let subtree = DER.sequence([DER.value(0x82, Array(domain.utf8))])
            add(NID_name_constraints, DER.sequence([DER.value(0xA1, subtree)]), isCritical: true)
        }
        #expect(X509_sign(certificate, issuer?.key.handle ?? key.handle, request.digest) > 0)
    }

    deinit {
        X509_free(handle)
    }

    var pem: [UInt8] {
        PEMText.write { PEM_write_bio_X509($0, handle) }
    }

    static func root(_ name: String = "Test Root", excludedDomain: String? = nil) throws -> TestAuthority {
        try TestAuthority(
            TestCertificateRequest(commonName: name, isAuthority: true, excludedDomain: excludedDomain))
    }

    private func add(_ kind: Int32, _ der: [UInt8], isCritical: Bool = false) {
        let data = ASN1_OCTET_STRING_new()
        defer { ASN1_OCTET_STRING_free(data) }
        _ = ASN1_OCTET_STRING_set(data, der, Int32(der.count))
        let item = X509_EXTENSION_create_by_NID(nil, kind, isCritical ? 1 : 0, data)
        defer { X509_EXTENSION_free(item) }
        _ = X509_add_ext(handle, item, -1)
    }
}

/// Writes PEM text.
enum PEMText {
    static func write(_ body: (OpaquePointer?) -> Int32) -> [UInt8] {
        let bio = BIO_new(BIO_s_mem())
        defer { BIO_free(bio) }
        guard body(bio) == 1 else { return [] }
        var bytes = [UInt8](repeating: 0, count: BIO_ctrl_pending(bio))
        _ = BIO_read(bio, &bytes, Int32(bytes.count))
        return bytes
    }
}

/// The little DER that extensions need, so that a test can write names no tool would.
enum DER {
    /// 1.3.6.1.5.5.7
    static let pkix: [UInt8] = [0x2B, 6, 1, 5, 5, 7]

    static func value(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let count = content.count
        if count < 128 { return [tag, UInt8(count)] + content }
        if count < 256 { return [tag, 0x81, UInt8(count)] + content }
        return [tag, 0x82, UInt8(count >> 8), UInt8(count & 0xFF)] + content
    }

    static func sequence(_ parts: [[UInt8]]) -> [UInt8] {
        value(0x30, parts.flatMap(\.self))
    }

    static func dns(_ name: String) -> [UInt8] {
        value(0x82, Array(name.utf8))
    }

    static func address(_ bytes: [UInt8]) -> [UInt8] {
        value(0x87, bytes)
    }

    /// otherName SRVName (RFC 4985).
    static func service(_ name: String) -> [UInt8] {
        value(0xA0, value(0x06, pkix + [8, 7]) + value(0xA0, value(0x16, Array(name.utf8))))
    }

    /// otherName id-on-xmppAddr (RFC 6120 §13.7.1.4).
    static func xmpp(_ name: String) -> [UInt8] {
        value(0xA0, value(0x06, pkix + [8, 5]) + value(0xA0, value(0x0C, Array(name.utf8))))
    }
}
