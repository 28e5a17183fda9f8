// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
package import XMPPCrypto

/// OAUTHBEARER: an access token of an authorization server (RFC 7628). As with PLAIN, whoever receives it can use it:
/// it goes through verified TLS alone.
package struct OAuthBearerMechanism: SASLMechanism {
    private enum Phase {
        case initial
        case waiting
        case refused
        case finished
    }

    private let message: SecretBytes
    private var phase = Phase.initial

    /// An attempt.
    ///
    /// - Parameters:
    ///   - token: The access token: visible ASCII (RFC 6750 §2.1).
    ///   - authorizationID: The bare address to act for.
    /// - Throws: ``SASLError/invalidPassword`` for a token that is none, ``SASLError/invalidUsername`` for an address
    ///   that GS2 has no room for.
    package init(token: SecretBytes, authorizationID: String) throws(SASLError) {
        let isToken = token.withUnsafeBytes { bytes in
            !bytes.isEmpty && bytes.allSatisfy { (0x21...0x7E).contains($0) }
        }
        guard isToken else { throw .invalidPassword }
        guard !authorizationID.utf8.contains(where: { $0 < 0x20 }) else { throw .invalidUsername }
        // RFC 5801 §4, RFC 7628 §3.1: the GS2 header, then fields that end with U+0001.
        let prefix = try GS2Name.escape(authorizationID, prefix: "n,a=") + Array(",\u{1}auth=Bearer ".utf8)
        message = SecretBytes(count: prefix.count + token.count + 2) { buffer in
            UnsafeMutableRawBufferPointer(rebasing: buffer[..<prefix.count]).copyBytes(from: prefix)
            token.withUnsafeBytes { secret in
                UnsafeMutableRawBufferPointer(rebasing: buffer[prefix.count...]).copyMemory(from: secret)
            }
            buffer[buffer.count - 2] = 1
            buffer[buffer.count - 1] = 1
        }
    }

    /// `OAUTHBEARER`.
    package var name: SASLMechanismName { .oauthBearer }

    /// The whole exchange, where the server takes the token.
    package mutating func start() throws(SASLError) -> [UInt8]? {
        guard case .initial = phase else { throw .unexpectedMessage }
        phase = .waiting
        return message.withUnsafeBytes { Array($0) }
    }

    /// A challenge says why the token is refused; the answer to it lets the server fail the exchange (RFC 7628 §3.2.3).
    package mutating func respond(to challenge: [UInt8]) throws(SASLError) -> [UInt8] {
        guard case .waiting = phase else {
            phase = .finished
            throw .unexpectedMessage
        }
        phase = .refused
        return [1]
    }

    /// Ends the exchange; the server has proven nothing but its certificate.
    package mutating func succeed(with additionalData: [UInt8]?) throws(SASLError) {
        // RFC 7628 §3.2.3: after an error the exchange can only fail.
        guard case .waiting = phase else { throw .unexpectedMessage }
        phase = .finished
    }
}
