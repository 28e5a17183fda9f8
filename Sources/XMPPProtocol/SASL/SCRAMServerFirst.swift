// SPDX-License-Identifier: Apache-2.0

internal import XMPPCrypto

/// The server's first SCRAM message, checked (RFC 5802 §7, `server-first-message`).
internal struct SCRAMServerFirst: Hashable {
    /// Our nonce with the server's after it.
    let nonce: [UInt8]
    /// The decoded salt.
    let salt: [UInt8]
    /// The iteration count, within the limits.
    let iterations: Int
    /// The decoded `h` of XEP-0474, when the server sent one.
    let downgradeHash: [UInt8]?
    /// `t` of XEP-0515 as written, when the server sent one: the version of its TLS.
    let tlsVersion: [UInt8]?

    /// Reads `message`; `clientNonce` is what the server's nonce must begin with.
    ///
    /// Nothing is derived or hashed here: whatever is too long, too short or too much work is refused first.
    init(_ message: [UInt8], clientNonce: [UInt8], limits: SCRAMLimits) throws(SASLError) {
        let attributes = try SCRAMAttribute.parse(message, limits: limits)
        if let first = attributes.first, first.name == UInt8(ascii: "e") {
            throw .serverRefused(first.serverError)
        }
        // RFC 5802 §5.1, m: an unknown mandatory extension ends the exchange, wherever it stands.
        guard !attributes.contains(where: { $0.name == UInt8(ascii: "m") }) else { throw .mandatoryExtension }
        // RFC 5802 §5.1: the order of these is fixed, and none may come again.
        guard attributes.prefix(3).map(\.name) == Array("rsi".utf8),
            Set(attributes.map(\.name)).count == attributes.count
        else { throw .malformedMessage }
        nonce = try Self.nonce(attributes[0].value, extending: clientNonce)
        salt = try Self.salt(attributes[1].value, limits: limits)
        iterations = try Self.iterations(attributes[2].value, limits: limits)
        tlsVersion = attributes.first { $0.name == UInt8(ascii: "t") }?.value
        if let hash = attributes.first(where: { $0.name == UInt8(ascii: "h") }) {
            guard let bytes = Base64.decode(hash.value) else { throw .malformedMessage }
            downgradeHash = bytes
        } else {
            downgradeHash = nil
        }
    }

    /// Whether keys that are there are the ones that this message asks for.
    func isServed(by keys: SCRAMKeyMaterial, digest: Digest) -> Bool {
        keys.fits(digest: digest, salt: salt, iterations: iterations)
    }

    private static func nonce(_ value: [UInt8], extending ours: [UInt8]) throws(SASLError) -> [UInt8] {
        // RFC 5802 §7, printable: visible ASCII; the comma is taken by the separator already.
        guard value.allSatisfy({ (0x21...0x7E).contains($0) }) else { throw .malformedMessage }
        // RFC 5802 §5.1, r: ours, and something of the server's own, or an old exchange could be replayed.
        guard value.starts(with: ours), value.count > ours.count else { throw .nonceMismatch }
        return value
    }

    private static func salt(_ value: [UInt8], limits: SCRAMLimits) throws(SASLError) -> [UInt8] {
        guard let salt = Base64.decode(value) else { throw .malformedMessage }
        guard salt.count >= limits.minimumSaltByteCount else {
            throw .saltTooShort(minimum: limits.minimumSaltByteCount)
        }
        return salt
    }

    private static func iterations(_ value: [UInt8], limits: SCRAMLimits) throws(SASLError) -> Int {
        // RFC 5802 §7, posit-number: ASCII digits, the first not zero; no sign, no other base.
        guard value.allSatisfy({ (0x30...0x39).contains($0) }), value.first != 0x30 else { throw .malformedMessage }
        var count = 0
        for digit in value {
            // Stops at the first digit beyond the ceiling, so that no number of digits overflows.
            count = count * 10 + Int(digit - 0x30)
            guard count <= limits.maximumIterations else {
                throw .iterationCountTooHigh(maximum: limits.maximumIterations)
            }
        }
        guard count >= limits.minimumIterations else {
            throw .iterationCountTooLow(minimum: limits.minimumIterations)
        }
        return count
    }
}
