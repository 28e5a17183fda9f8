// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// A hash function, and the digest of a whole message by it (`EVP_Digest`).
package enum Digest: Hashable, Sendable, CaseIterable, CustomStringConvertible {
    /// SHA-1: for SCRAM-SHA-1 and entity capabilities only, where its weakness to collisions does no harm.
    case sha1
    /// SHA-256 (FIPS 180-4).
    case sha256
    /// SHA-384 (FIPS 180-4).
    case sha384
    /// SHA-512 (FIPS 180-4).
    case sha512
    /// SHA3-256 (FIPS 202).
    case sha3_256
    /// SHA3-512 (FIPS 202).
    case sha3_512

    /// Length of the digest in octets.
    package var byteCount: Int {
        switch self {
        case .sha1: 20
        case .sha256, .sha3_256: 32
        case .sha384: 48
        case .sha512, .sha3_512: 64
        }
    }

    /// The name in the IANA "Hash Function Textual Names" registry, upper case: `SHA-256`.
    package var description: String {
        switch self {
        case .sha1: "SHA-1"
        case .sha256: "SHA-256"
        case .sha384: "SHA-384"
        case .sha512: "SHA-512"
        case .sha3_256: "SHA3-256"
        case .sha3_512: "SHA3-512"
        }
    }

    /// OpenSSL's static description of the function; never freed, `nil` never in the versions supported.
    internal var implementation: OpaquePointer? {
        switch self {
        case .sha1: EVP_sha1()
        case .sha256: EVP_sha256()
        case .sha384: EVP_sha384()
        case .sha512: EVP_sha512()
        case .sha3_256: EVP_sha3_256()
        case .sha3_512: EVP_sha3_512()
        }
    }

    /// The digest of `bytes`.
    ///
    /// - Throws: ``CryptoError/unavailable(_:)`` when OpenSSL does not provide the function.
    package func hash(_ bytes: [UInt8]) throws(CryptoError) -> [UInt8] {
        var output = [UInt8](repeating: 0, count: byteCount)
        let done = bytes.withUnsafeBytes { input in
            output.withUnsafeMutableBufferPointer { result in
                EVP_Digest(input.baseAddress, input.count, result.baseAddress, nil, implementation, nil)
            }
        }
        guard done == 1 else { throw .unavailable(self) }
        return output
    }

    /// The digest of the UTF-8 form of `text`.
    ///
    /// - Throws: ``CryptoError/unavailable(_:)`` when OpenSSL does not provide the function.
    package func hash(_ text: String) throws(CryptoError) -> [UInt8] {
        try hash(Array(text.utf8))
    }
}
