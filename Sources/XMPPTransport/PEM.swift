// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
internal import Glibc

/// Owns a certificate of OpenSSL (`X509`).
final class X509Handle {
    let handle: OpaquePointer

    init(owning handle: OpaquePointer) {
        self.handle = handle
    }

    deinit {
        X509_free(handle)
    }
}

/// Owns a key of OpenSSL (`EVP_PKEY`).
final class KeyHandle {
    let handle: OpaquePointer

    init(owning handle: OpaquePointer) {
        self.handle = handle
    }

    deinit {
        EVP_PKEY_free(handle)
    }
}

/// Reads PEM text with OpenSSL.
enum PEM {
    /// The certificates in a text, in order.
    ///
    /// - Throws: ``TLSError/configuration(_:)`` when there is none, or one is damaged.
    static func certificates(_ bytes: [UInt8]) throws(TLSError) -> [X509Handle] {
        ERR_clear_error()
        var result: [X509Handle] = []
        withBIO(bytes) { bio in
            while let certificate = PEM_read_bio_X509(bio, nil, nil, nil) {
                result.append(X509Handle(owning: certificate))
            }
        }
        ERR_clear_error()
        guard !result.isEmpty else { throw TLSError.configuration("no certificate found in the PEM text") }
        return result
    }

    /// The private key in a text.
    static func privateKey(_ bytes: [UInt8]) throws(TLSError) -> KeyHandle {
        ERR_clear_error()
        // An encrypted key must fail here: without a callback OpenSSL would ask at the terminal.
        let refuse: @convention(c) (UnsafeMutablePointer<CChar>?, Int32, Int32, UnsafeMutableRawPointer?) -> Int32 = {
            _, _, _, _ in -1
        }
        let key = withBIO(bytes) { PEM_read_bio_PrivateKey($0, nil, refuse, nil) }
        guard let key = key ?? nil else {
            throw TLSError.configuration("no usable private key found in the PEM text: \(OpenSSLErrors.drain().text)")
        }
        return KeyHandle(owning: key)
    }

    /// Hands bytes to OpenSSL.
    @discardableResult
    static func withBIO<Result>(_ bytes: [UInt8], _ body: (OpaquePointer) -> Result) -> Result? {
        bytes.withUnsafeBytes { buffer in
            guard let count = Int32(exactly: buffer.count), let bio = BIO_new_mem_buf(buffer.baseAddress, count) else {
                return nil
            }
            defer { BIO_free(bio) }
            return body(bio)
        }
    }
}

/// Looks whether a folder can serve as OpenSSL's hashed folder of authorities.
enum HashedFolder {
    /// Entries looked at before the answer is "no".
    private static let maximumEntries = 2000

    /// Whether the folder holds at least one link named after a subject's hash, such as `002c0b4f.0`.
    static func isUsable(_ path: String) -> Bool {
        guard let directory = opendir(path) else { return false }
        defer { closedir(directory) }
        for _ in 0..<maximumEntries {
            guard let entry = readdir(directory) else { return false }
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            let digits = name.prefix(8)
            if name.count == 10, name[8] == UInt8(ascii: "."), digits.allSatisfy(isHexDigit) { return true }
        }
        return false
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }
}
