// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Reads a certificate with its key from PKCS #12 (RFC 7292), as browsers and mail programs export them.
enum PKCS12 {
    /// What such a file holds.
    struct Contents {
        let key: KeyHandle
        let certificate: X509Handle
        /// The certificates above it.
        let chain: [X509Handle]
    }

    /// Reads the bytes of a file.
    ///
    /// - Parameters:
    ///   - bytes: The file's content.
    ///   - password: What it is encrypted with, in UTF-8; empty for nothing.
    /// - Throws: ``TLSError/configuration(_:)`` when it is damaged, the password is wrong, or key or certificate is
    ///   missing.
    static func read(_ bytes: [UInt8], password: [UInt8]) throws(TLSError) -> Contents {
        ERR_clear_error()
        guard let container = PEM.withBIO(bytes, { d2i_PKCS12_bio($0, nil) }) ?? nil else {
            throw TLSError.configuration("the client certificate is not PKCS #12: \(OpenSSLErrors.drain().text)")
        }
        defer { PKCS12_free(container) }
        var key: OpaquePointer?
        var certificate: OpaquePointer?
        var chain: OpaquePointer?
        let isRead = (password + [0]).withUnsafeBufferPointer { text in
            text.withMemoryRebound(to: CChar.self) {
                PKCS12_parse(container, $0.baseAddress, &key, &certificate, &chain)
            }
        }
        let owned = (key.map(KeyHandle.init(owning:)), certificate.map(X509Handle.init(owning:)))
        var above: [X509Handle] = []
        if let chain {
            for index in 0..<max(0, shim_sk_X509_num(chain)) {
                if let one = shim_sk_X509_value(chain, index) { above.append(X509Handle(owning: one)) }
            }
            // The certificates in it are ours now.
            shim_sk_X509_free(chain)
        }
        guard isRead == 1, let key = owned.0, let certificate = owned.1 else {
            throw TLSError.configuration("the client certificate cannot be read: \(OpenSSLErrors.drain().text)")
        }
        return Contents(key: key, certificate: certificate, chain: above)
    }
}
