// SPDX-License-Identifier: Apache-2.0

/// ANONYMOUS: a temporary account without a password (RFC 4505, XEP-0175).
///
/// Sends no trace information: it would tell the server who asks to stay unknown.
package struct AnonymousMechanism: SASLMechanism {
    private enum Phase {
        case initial
        case waiting
        case answered
        case finished
    }

    private var phase = Phase.initial

    /// An attempt.
    package init() {}

    /// `ANONYMOUS`.
    package var name: SASLMechanismName { .anonymous }

    /// No initial response, as in the examples of XEP-0175 §3.
    package mutating func start() throws(SASLError) -> [UInt8]? {
        guard case .initial = phase else { throw .unexpectedMessage }
        phase = .waiting
        return nil
    }

    /// Empty trace information, for a server that asks for it with its one, empty, challenge (RFC 4505 §2).
    package mutating func respond(to challenge: [UInt8]) throws(SASLError) -> [UInt8] {
        guard case .waiting = phase, challenge.isEmpty else {
            phase = .finished
            throw .unexpectedMessage
        }
        phase = .answered
        return []
    }

    /// Ends the exchange; there is nothing to prove on either side.
    package mutating func succeed(with additionalData: [UInt8]?) throws(SASLError) {
        switch phase {
        case .waiting, .answered:
            phase = .finished
        case .initial, .finished:
            throw .unexpectedMessage
        }
    }
}
