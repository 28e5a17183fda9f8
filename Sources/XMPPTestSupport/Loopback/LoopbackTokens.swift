// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
internal import XMPPCrypto
internal import XMPPProtocol
internal import XMPPXML

/// The tokens that a server has given to one installation of an account (XEP-0484 §5.1).
struct LoopbackTokens {
    /// A token as the server keeps it.
    private struct Slot {
        let mechanism: String
        let secret: SecretBytes
        let expiry: DateTime
        /// The highest number that a login came with.
        var count: UInt32 = 0
    }

    private var current: Slot?
    /// Given, and not used yet: the one before stays good until it is.
    private var new: Slot?

    /// Makes a token.
    ///
    /// - Returns: What goes to the client.
    mutating func make(for mechanism: String, lifetime: Duration) -> Element {
        let text = "secret-token:\(SecureRandom().identifier())"
        let expiry = DateTime(
            millisecondsSinceEpoch: DateTime.now.millisecondsSinceEpoch + lifetime.components.seconds * 1_000)
        new = Slot(mechanism: mechanism, secret: SecretBytes(text), expiry: expiry)
        return Element(
            "token", namespace: Namespace.fast, attributes: ["token": text, "expiry": expiry.description])
    }

    /// Checks a login.
    ///
    /// - Parameters:
    ///   - mechanism: The one that the client uses.
    ///   - proof: What it shows.
    ///   - binding: What the channel is bound to.
    ///   - count: Which attempt it says this is.
    ///   - endsToken: Whether the token is taken for the last time.
    /// - Returns: The server's proof; `nil` when the client has no token of ours.
    mutating func answer(
        mechanism: String, proof: [UInt8], binding: [UInt8], count: UInt32?, endingIt endsToken: Bool = false
    ) -> [UInt8]? {
        func fits(_ slot: Slot?) -> Bool {
            guard let slot, slot.mechanism == mechanism, DateTime.now < slot.expiry,
                let expected = try? HMAC.authenticate(
                    Array("Initiator".utf8) + binding, key: slot.secret, using: .sha256)
            else { return false }
            return ConstantTime.equals(expected, proof)
        }
        if fits(new) {
            current = new
            new = nil
        } else if !fits(current) {
            return nil
        }
        guard var slot = current, let count, count > slot.count else { return nil }
        slot.count = count
        current = endsToken ? nil : slot
        return try? HMAC.authenticate(Array("Responder".utf8) + binding, key: slot.secret, using: .sha256)
    }
}
