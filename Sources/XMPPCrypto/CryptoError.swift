// SPDX-License-Identifier: Apache-2.0

/// Why a cryptographic operation could not be done.
///
/// None of these carries the data that was worked on.
package enum CryptoError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The installed OpenSSL, or its configuration, does not provide the hash function.
    case unavailable(Digest)
    /// A count or length lies outside what the operation is defined for.
    case invalidParameter

    /// One sentence for people; holds no secret.
    package var description: String {
        switch self {
        case .unavailable(let digest): "the hash function \(digest.description) is not available from OpenSSL"
        case .invalidParameter: "a cryptographic parameter is out of range"
        }
    }
}
