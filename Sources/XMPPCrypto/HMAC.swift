// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Keyed message authentication codes (RFC 2104), by OpenSSL's one-shot `HMAC`.
package enum HMAC {
    /// The code of `message` under a secret key.
    ///
    /// - Throws: ``CryptoError/unavailable(_:)`` when OpenSSL does not provide the hash function.
    package static func authenticate(
        _ message: [UInt8],
        key: SecretBytes,
        using digest: Digest
    ) throws(CryptoError) -> [UInt8] {
        try key.withUnsafeBytes { (key) throws(CryptoError) in
            try authenticate(message, rawKey: key, using: digest)
        }
    }

    /// The code of `message` under a key that is no secret, or that the caller wipes.
    ///
    /// - Throws: ``CryptoError/unavailable(_:)`` when OpenSSL does not provide the hash function.
    package static func authenticate(
        _ message: [UInt8],
        key: [UInt8],
        using digest: Digest
    ) throws(CryptoError) -> [UInt8] {
        try key.withUnsafeBufferPointer { (key) throws(CryptoError) in
            try authenticate(message, rawKey: UnsafeRawBufferPointer(key), using: digest)
        }
    }

    private static func authenticate(
        _ message: [UInt8],
        rawKey: UnsafeRawBufferPointer,
        using digest: Digest
    ) throws(CryptoError) -> [UInt8] {
        guard let keyLength = Int32(exactly: rawKey.count) else { throw .invalidParameter }
        var output = [UInt8](repeating: 0, count: digest.byteCount)
        let done = message.withUnsafeBufferPointer { input in
            output.withUnsafeMutableBufferPointer { result in
                COpenSSL.HMAC(
                    digest.implementation, rawKey.baseAddress, keyLength, input.baseAddress, input.count,
                    result.baseAddress, nil) != nil
            }
        }
        guard done else { throw .unavailable(digest) }
        return output
    }
}
