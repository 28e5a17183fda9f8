// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Reads values out of OpenSSL's certificates.
enum CertificateReader {
    /// Names read of one certificate; the rest is ignored.
    static let maximumNames = 1000

    /// Everything of a certificate that is shown or checked.
    static func certificate(_ handle: OpaquePointer) -> TLSCertificate {
        let der = der(handle)
        return TLSCertificate(
            subject: name(X509_get_subject_name(handle)),
            issuer: name(X509_get_issuer_name(handle)),
            notBefore: time(X509_get0_notBefore(handle)),
            notAfter: time(X509_get0_notAfter(handle)),
            names: presentedNames(handle),
            der: der,
            fingerprint: digest(der, EVP_sha256()) ?? [],
            keyFingerprint: keyFingerprint(handle) ?? []
        )
    }

    /// The names in subjectAltName, in order; common names are never looked at (RFC 9525 §2).
    static func presentedNames(_ certificate: OpaquePointer) -> [PresentedName] {
        guard let raw = X509_get_ext_d2i(certificate, NID_subject_alt_name, nil, nil) else { return [] }
        let names = OpaquePointer(raw)
        defer { GENERAL_NAMES_free(names) }
        let count = min(max(0, Int(shim_sk_GENERAL_NAME_num(names))), maximumNames)
        return (0..<count).compactMap { index in
            shim_sk_GENERAL_NAME_value(names, Int32(index)).map(presentedName)
        }
    }

    private static func presentedName(_ name: UnsafeMutablePointer<GENERAL_NAME>) -> PresentedName {
        var kind: Int32 = 0
        let value = GENERAL_NAME_get0_value(name, &kind)
        switch kind {
        case GEN_DNS: return .dns(bytes(of: value))
        case GEN_IPADD: return .address(bytes(of: value))
        case GEN_URI: return .other("URI")
        case GEN_EMAIL: return .other("mail address")
        case GEN_OTHERNAME: return otherName(name)
        default: return .other("name of kind \(kind)")
        }
    }

    private static func otherName(_ name: UnsafeMutablePointer<GENERAL_NAME>) -> PresentedName {
        var oid: OpaquePointer?
        var value: UnsafeMutablePointer<ASN1_TYPE>?
        guard GENERAL_NAME_get0_otherName(name, &oid, &value) == 1, let value else { return .other("otherName") }
        let type = ASN1_TYPE_get(value)
        switch OBJ_obj2nid(oid) {
        case NID_SRVName where type == V_ASN1_IA5STRING:
            return .service(bytes(of: value.pointee.value.ia5string))
        case NID_XmppAddr where type == V_ASN1_UTF8STRING:
            return .xmppAddress(bytes(of: value.pointee.value.utf8string))
        default:
            return .other("otherName")
        }
    }

    private static func bytes(of string: UnsafeMutableRawPointer?) -> [UInt8] {
        guard let string else { return [] }
        return bytes(of: string.assumingMemoryBound(to: ASN1_STRING.self))
    }

    private static func bytes(of string: UnsafeMutablePointer<ASN1_STRING>?) -> [UInt8] {
        guard let string, let data = ASN1_STRING_get0_data(string) else { return [] }
        return Array(UnsafeBufferPointer(start: data, count: max(0, Int(ASN1_STRING_length(string)))))
    }

    /// The first error of a path that OpenSSL refused, in terms for people.
    static func error(of store: OpaquePointer) -> TLSError {
        let code = X509_STORE_CTX_get_error(store)
        let current = X509_STORE_CTX_get_current_cert(store) ?? X509_STORE_CTX_get0_cert(store)
        guard let current else { return .handshakeFailed(reason: "the server sent no certificate") }
        let subject = name(X509_get_subject_name(current))
        switch code {
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
            return .selfSigned(subject: subject)
        case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT,
            X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE,
            X509_V_ERR_CERT_UNTRUSTED:
            return .untrustedIssuer(subject: subject, issuer: name(X509_get_issuer_name(current)))
        case X509_V_ERR_CERT_HAS_EXPIRED:
            return .expired(subject: subject, notAfter: time(X509_get0_notAfter(current)))
        case X509_V_ERR_CERT_NOT_YET_VALID:
            return .notYetValid(subject: subject, notBefore: time(X509_get0_notBefore(current)))
        case X509_V_ERR_CERT_REVOKED:
            return .revoked(subject: subject)
        default:
            return .certificateRejected(
                subject: subject, reason: String(cString: X509_verify_cert_error_string(Int(code))))
        }
    }

    /// A distinguished name as one line; its own escapes keep control characters out, ours the rest.
    static func name(_ name: OpaquePointer?) -> String {
        guard let name, let bio = BIO_new(BIO_s_mem()) else { return "?" }
        defer { BIO_free(bio) }
        let flags = shim_XN_FLAG_RFC2253() & ~UInt(ASN1_STRFLGS_ESC_MSB)
        guard X509_NAME_print_ex(bio, name, 0, flags) >= 0 else { return "?" }
        let bytes = readAll(bio)
        return bytes.isEmpty ? "an unnamed certificate" : PrintableText.clean(bytes)
    }

    /// A time as ISO 8601 in UTC.
    static func time(_ time: UnsafePointer<ASN1_TIME>?) -> String {
        var parts = tm()
        guard let time, ASN1_TIME_to_tm(time, &parts) == 1 else { return "an unreadable date" }
        func two(_ value: Int32) -> String { value < 10 ? "0\(value)" : "\(value)" }
        let date = "\(Int(parts.tm_year) + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
        return "\(date)T\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))Z"
    }

    /// The certificate as DER.
    static func der(_ certificate: OpaquePointer) -> [UInt8] {
        var buffer: UnsafeMutablePointer<UInt8>?
        let count = i2d_X509(certificate, &buffer)
        guard count > 0, let buffer else { return [] }
        defer { CRYPTO_free(buffer, nil, 0) }
        return Array(UnsafeBufferPointer(start: buffer, count: Int(count)))
    }

    /// SHA-256 of the key in a certificate, with its algorithm (SubjectPublicKeyInfo): what a TLSA record with selector
    /// 1 and matching type 1 holds (RFC 6698 §2.1).
    static func keyFingerprint(_ certificate: OpaquePointer) -> [UInt8]? {
        var buffer: UnsafeMutablePointer<UInt8>?
        let count = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &buffer)
        guard count > 0, let buffer else { return nil }
        defer { CRYPTO_free(buffer, nil, 0) }
        return digest(Array(UnsafeBufferPointer(start: buffer, count: Int(count))), EVP_sha256())
    }

    /// The `tls-server-end-point` channel binding of a server's certificate: a hash of it by the hash of its signature,
    /// with SHA-256 in place of MD5 and SHA-1 (RFC 5929 §4.1). `nil` where the signature names no hash, as Ed25519
    /// does.
    static func serverEndPoint(_ certificate: OpaquePointer) -> [UInt8]? {
        var hash: Int32 = 0
        guard X509_get_signature_info(certificate, &hash, nil, nil, nil) == 1 else { return nil }
        let algorithm: OpaquePointer?
        switch hash {
        case NID_md5, NID_sha1, NID_md5_sha1: algorithm = EVP_sha256()
        case NID_undef: return nil
        default: algorithm = shim_EVP_get_digestbynid(hash)
        }
        guard let algorithm else { return nil }
        return digest(der(certificate), algorithm)
    }

    private static func digest(_ bytes: [UInt8], _ algorithm: OpaquePointer?) -> [UInt8]? {
        var result = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        guard EVP_Digest(bytes, bytes.count, &result, &count, algorithm, nil) == 1 else { return nil }
        return Array(result.prefix(Int(count)))
    }

    private static func readAll(_ bio: OpaquePointer) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: BIO_ctrl_pending(bio))
        guard let capacity = Int32(exactly: bytes.count) else { return [] }
        let count = BIO_read(bio, &bytes, capacity)
        return Array(bytes.prefix(max(0, Int(count))))
    }
}
