// SPDX-License-Identifier: Apache-2.0

/// The client's side of one SASL exchange, without any I/O.
///
/// One value serves one attempt. After an error it answers nothing more: every later call throws as well, and the
/// caller sends `<abort/>` or closes the stream.
package protocol SASLMechanism: Sendable {
    /// The mechanism that `<auth/>` names.
    var name: SASLMechanismName { get }

    /// The initial response, `nil` when the mechanism has none; an empty one is sent as `=` (RFC 6120 §6.4.2).
    ///
    /// - Throws: ``SASLError`` when the credentials cannot be expressed in this mechanism, or at a second call.
    mutating func start() throws(SASLError) -> [UInt8]?

    /// What has to be worked out before a decoded challenge can be answered; `nil` when it can be answered at once,
    /// which is what a mechanism does unless it says otherwise.
    ///
    /// Whoever asks does the work elsewhere and hands the keys to ``take(_:)``, before the challenge to
    /// ``respond(to:)``.
    /// - Throws: ``SASLError`` when the challenge is not one that an honest server sends at this point.
    func derivation(for challenge: [UInt8]) throws(SASLError) -> SCRAMKeyDerivation?

    /// Takes keys that were worked out for a challenge that is to be answered now.
    mutating func take(_ keys: SCRAMKeyMaterial)

    /// The keys of this login, once the server has proven itself: worth keeping for the next. `nil` for a mechanism
    /// that has none.
    var keyMaterial: SCRAMKeyMaterial? { get }

    /// The answer to a decoded challenge; may be empty.
    ///
    /// - Throws: ``SASLError`` when the challenge is not one that an honest server sends at this point.
    mutating func respond(to challenge: [UInt8]) throws(SASLError) -> [UInt8]

    /// Takes the server's word that it is done, with the decoded additional data, `nil` when there was none.
    ///
    /// Returning means that the server has proven all that the mechanism asks of it: for SCRAM, that it knows the
    /// password's verifier. Only then may the caller believe the success.
    /// - Throws: ``SASLError`` when that proof is missing or wrong; the stream must then be closed.
    mutating func succeed(with additionalData: [UInt8]?) throws(SASLError)
}

extension SASLMechanism {
    /// Nothing.
    package func derivation(for challenge: [UInt8]) throws(SASLError) -> SCRAMKeyDerivation? { nil }

    /// Has no use for keys.
    package mutating func take(_ keys: SCRAMKeyMaterial) {}

    /// None.
    package var keyMaterial: SCRAMKeyMaterial? { nil }
}
