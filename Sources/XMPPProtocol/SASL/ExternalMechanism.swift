// SPDX-License-Identifier: Apache-2.0

/// EXTERNAL: the certificate that was shown in the TLS handshake (RFC 4422 A, XEP-0178).
package struct ExternalMechanism: SASLMechanism {
    private enum Phase {
        case initial
        case waiting
        case finished
    }

    private let authorizationID: String
    private var phase = Phase.initial

    /// An attempt; the account is the one that the certificate names, unless another bare JID is given.
    package init(authorizationID: String? = nil) {
        self.authorizationID = authorizationID ?? ""
    }

    /// `EXTERNAL`.
    package var name: SASLMechanismName { .external }

    /// Whom to act for; empty for the one whom the certificate names.
    package mutating func start() throws(SASLError) -> [UInt8]? {
        guard case .initial = phase else { throw .unexpectedMessage }
        phase = .waiting
        return Array(authorizationID.utf8)
    }

    /// Always throws: the initial response was the whole exchange.
    package mutating func respond(to challenge: [UInt8]) throws(SASLError) -> [UInt8] {
        phase = .finished
        throw .unexpectedMessage
    }

    /// Ends the exchange; TLS has proven the server.
    package mutating func succeed(with additionalData: [UInt8]?) throws(SASLError) {
        guard case .waiting = phase else { throw .unexpectedMessage }
        phase = .finished
    }
}
