// SPDX-License-Identifier: Apache-2.0

package import XMPPCrypto

/// Why the client's side of a SASL exchange cannot go on.
///
/// Carries numbers and kinds, never a password, a payload or a key.
package enum SASLError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The user name or authorization identity is empty or holds U+0000.
    case invalidUsername
    /// The password is empty, holds U+0000, is not UTF-8, or SASLprep forbids one of its characters (RFC 4013 §2.3).
    case invalidPassword
    /// There is neither a password nor stored keys that this mechanism can use.
    case missingPassword
    /// What the server sent is not the canonical base64 encoding of anything (RFC 6120 §13.9.1).
    case notBase64
    /// A challenge is longer than the limit, in octets.
    case challengeTooLong(maximum: Int)
    /// A message does not follow the grammar of the mechanism (RFC 5802 §7).
    case malformedMessage
    /// The server requires an extension that is not known here (RFC 5802 §5.1, `m`).
    case mandatoryExtension
    /// The server's nonce does not extend ours by at least one character (RFC 5802 §5.1, `r`).
    case nonceMismatch
    /// The salt is shorter than the limit, in octets.
    case saltTooShort(minimum: Int)
    /// The iteration count is so low that whoever sees the exchange could guess the password (RFC 7677 §4).
    case iterationCountTooLow(minimum: Int)
    /// The iteration count is so high that working it out would be a denial of service (RFC 5802 §9).
    case iterationCountTooHigh(maximum: Int)
    /// The server's TLS is of another version than ours: it is another channel (XEP-0515).
    case tlsVersionsDiffer
    /// The lists of mechanisms and channel bindings were changed on their way to us (XEP-0474).
    case downgradeDetected
    /// The stored keys were made for another hash, salt or iteration count; the password is needed.
    case staleKeys
    /// The server ended the exchange with an error of its own (RFC 5802 §7, `e`).
    case serverRefused(SCRAMServerError)
    /// The server's signature is wrong: it does not know the password (RFC 5802 §3).
    case serverSignatureMismatch
    /// The server claims success without having proven anything (RFC 5802 §5, RFC 6120 §6.4.6).
    case serverNotAuthenticated
    /// The server sent a challenge, or a success, when the mechanism was not waiting for one.
    case unexpectedMessage
    /// OpenSSL could not do the work.
    case crypto(CryptoError)

    /// One sentence for people; holds no secret and nothing that the server wrote.
    package var description: String {
        switch self {
        case .invalidUsername: "the user name cannot be used for logging in"
        case .invalidPassword: "the password is empty or holds characters that no server accepts"
        case .missingPassword: "this mechanism needs a password"
        case .notBase64: "the server sent data that is not base64"
        case .challengeTooLong(let maximum): "the server sent a challenge of more than \(maximum) bytes"
        case .malformedMessage: "the server sent an ill-formed authentication message"
        case .mandatoryExtension: "the server requires an unknown authentication extension"
        case .nonceMismatch: "the server's nonce does not extend ours"
        case .saltTooShort(let minimum): "the server's salt is shorter than \(minimum) bytes"
        case .iterationCountTooLow(let minimum): "the server asks for fewer than \(minimum) iterations"
        case .iterationCountTooHigh(let maximum): "the server asks for more than \(maximum) iterations"
        case .tlsVersionsDiffer: "the server's TLS has another version than ours: somebody sits in between"
        case .downgradeDetected: "the offered mechanisms were tampered with on their way"
        case .staleKeys: "the stored keys no longer fit what the server asks for; the password is needed"
        case .serverRefused(let error): "the server refused: \(error.rawValue)"
        case .serverSignatureMismatch: "the server's signature is wrong: it does not know the password"
        case .serverNotAuthenticated: "the server claims success without proving that it knows the password"
        case .unexpectedMessage: "the server sent an authentication message out of turn"
        case .crypto(let error): error.description
        }
    }
}
