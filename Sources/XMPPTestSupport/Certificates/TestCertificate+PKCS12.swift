// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

extension TestCertificate {
    /// Certificate and key in PKCS #12, as browsers export them.
    ///
    /// - Parameter password: What to encrypt it with.
    /// - Throws: ``TestSupportError`` when OpenSSL refuses.
    public func pkcs12(password: String) throws(TestSupportError) -> [UInt8] {
        let certificate = Self.withBIO(self.certificate) { PEM_read_bio_X509($0, nil, nil, nil) }
        let key = Self.withBIO(privateKey) { PEM_read_bio_PrivateKey($0, nil, nil, nil) }
        defer {
            X509_free(certificate)
            EVP_PKEY_free(key)
        }
        guard let container = PKCS12_create(password, "test", key, certificate, nil, 0, 0, 0, 0, 0),
            let output = BIO_new(BIO_s_mem())
        else { throw TestSupportError("no PKCS #12 can be made") }
        defer {
            PKCS12_free(container)
            BIO_free(output)
        }
        guard i2d_PKCS12_bio(output, container) == 1 else { throw TestSupportError("no PKCS #12 can be written") }
        let count = BIO_ctrl_pending(output)
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, length in
            length = max(0, Int(BIO_read(output, buffer.baseAddress, Int32(truncatingIfNeeded: count))))
        }
    }

    private static func withBIO(_ bytes: [UInt8], _ body: (OpaquePointer?) -> OpaquePointer?) -> OpaquePointer? {
        bytes.withUnsafeBytes { buffer in
            let bio = BIO_new_mem_buf(buffer.baseAddress, Int32(truncatingIfNeeded: buffer.count))
            defer { BIO_free(bio) }
            return body(bio)
        }
    }
}
