// SPDX-License-Identifier: Apache-2.0

package import XMPPCrypto

/// PLAIN: the password itself (RFC 4616). Only ``SASLMechanismSelector`` decides where that is allowed.
///
/// The password goes out as the user typed it: with PLAIN it is the server that prepares (RFC 4616 §2), and servers
/// that ask an operating system or a directory compare it unprepared.
package struct PlainMechanism: SASLMechanism {
    private enum Phase {
        case initial
        case waiting
        case finished
    }

    private let message: SecretBytes
    private var phase = Phase.initial

    /// An attempt with a user name (a JID's localpart) and, to act for another account, that account's bare JID.
    ///
    /// - Throws: ``SASLError/invalidUsername`` and ``SASLError/invalidPassword``: U+0000 is the separator
    ///   (RFC 4616 §2), so no part may hold it, and neither user name nor password may be empty.
    package init(
        username: String,
        password: SecretBytes,
        authorizationID: String? = nil
    ) throws(SASLError) {
        let identity = Array((authorizationID ?? "").utf8)
        let name = Array(username.utf8)
        guard !name.isEmpty, !name.contains(0), !identity.contains(0) else { throw .invalidUsername }
        guard !password.isEmpty, password.withUnsafeBytes({ !$0.contains(0) }) else { throw .invalidPassword }
        let prefix = identity + [0] + name + [0]
        message = SecretBytes(count: prefix.count + password.count) { buffer in
            UnsafeMutableRawBufferPointer(rebasing: buffer[..<prefix.count]).copyBytes(from: prefix)
            password.withUnsafeBytes { secret in
                UnsafeMutableRawBufferPointer(rebasing: buffer[prefix.count...]).copyMemory(from: secret)
            }
        }
    }

    /// `PLAIN`.
    package var name: SASLMechanismName { .plain }

    /// Authorization identity, user name and password, separated by U+0000 (RFC 4616 §2).
    package mutating func start() throws(SASLError) -> [UInt8]? {
        guard case .initial = phase else { throw .unexpectedMessage }
        phase = .waiting
        return message.withUnsafeBytes { Array($0) }
    }

    /// Always throws: the initial response was the whole exchange.
    package mutating func respond(to challenge: [UInt8]) throws(SASLError) -> [UInt8] {
        phase = .finished
        throw .unexpectedMessage
    }

    /// Ends the exchange; PLAIN has no proof of the server, which is why it needs verified TLS.
    package mutating func succeed(with additionalData: [UInt8]?) throws(SASLError) {
        guard case .waiting = phase else { throw .unexpectedMessage }
        phase = .finished
    }
}
