// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Password-based key derivation (RFC 8018 §5.2) with HMAC, by `PKCS5_PBKDF2_HMAC`.
package enum PBKDF2 {
    /// Derives a key as long as the digest: `Hi(password, salt, iterations)` of RFC 5802 §2.2.
    ///
    /// Takes time in proportion to `iterations`; the caller refuses counts it is not willing to pay for.
    /// - Throws: ``CryptoError/invalidParameter`` when `iterations` is below 1 or does not fit 31 bits;
    ///   ``CryptoError/unavailable(_:)`` when OpenSSL does not provide the hash function.
    package static func derive(
        password: SecretBytes,
        salt: [UInt8],
        iterations: Int,
        using digest: Digest
    ) throws(CryptoError) -> SecretBytes {
        guard iterations >= 1, let rounds = Int32(exactly: iterations),
            let passwordLength = Int32(exactly: password.count),
            let saltLength = Int32(exactly: salt.count), let keyLength = Int32(exactly: digest.byteCount)
        else { throw .invalidParameter }
        return try SecretBytes(count: digest.byteCount) { (output) throws(CryptoError) in
            let done = password.withUnsafeBytes { secret in
                salt.withUnsafeBufferPointer { salt in
                    PKCS5_PBKDF2_HMAC(
                        secret.baseAddress?.assumingMemoryBound(to: CChar.self), passwordLength,
                        salt.baseAddress, saltLength, rounds, digest.implementation, keyLength,
                        output.baseAddress?.assumingMemoryBound(to: UInt8.self))
                }
            }
            guard done == 1 else { throw .unavailable(digest) }
        }
    }
}
