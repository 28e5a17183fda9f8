// SPDX-License-Identifier: Apache-2.0

package import XMPPCrypto

/// The keys that SCRAM derives from a password for one salt and iteration count (RFC 5802 §3).
///
/// Kept by an account instead of the password, they make the next login cheap, and are useless with another server.
package struct SCRAMKeyMaterial: Sendable {
    /// The hash function of the mechanism.
    package let digest: Digest
    /// The salt that the server sent.
    package let salt: [UInt8]
    /// The iteration count that the server sent.
    package let iterations: Int
    /// Proves us to the server. As good as the password.
    package let clientKey: SecretBytes
    /// Proves the server to us. Whoever has it can pose as the server.
    package let serverKey: SecretBytes
    /// What both come from, where it was asked for. As good as the password too.
    package let saltedPassword: SecretBytes?

    /// Keys that were derived, and kept, before.
    package init(
        digest: Digest, salt: [UInt8], iterations: Int, clientKey: SecretBytes, serverKey: SecretBytes,
        saltedPassword: SecretBytes? = nil
    ) {
        self.digest = digest
        self.salt = salt
        self.iterations = iterations
        self.clientKey = clientKey
        self.serverKey = serverKey
        self.saltedPassword = saltedPassword
    }

    /// Derives the keys: this is where the iterations are worked through.
    ///
    /// - Parameters:
    ///   - password: prepared already (RFC 5802 §2.2).
    ///   - keepsSaltedPassword: whether ``saltedPassword`` is kept as well.
    /// - Throws: ``CryptoError``.
    package init(
        digest: Digest,
        password: SecretBytes,
        salt: [UInt8],
        iterations: Int,
        keepsSaltedPassword: Bool = false
    ) throws(CryptoError) {
        let salted = try PBKDF2.derive(password: password, salt: salt, iterations: iterations, using: digest)
        self.init(
            digest: digest, salt: salt, iterations: iterations,
            clientKey: SecretBytes(try HMAC.authenticate(Array("Client Key".utf8), key: salted, using: digest)),
            serverKey: SecretBytes(try HMAC.authenticate(Array("Server Key".utf8), key: salted, using: digest)),
            saltedPassword: keepsSaltedPassword ? salted : nil)
    }

    /// Whether these keys are the ones for what a server asks.
    package func fits(digest: Digest, salt: [UInt8], iterations: Int) -> Bool {
        self.digest == digest && self.salt == salt && self.iterations == iterations
    }

    /// `ClientKey XOR HMAC(H(ClientKey), AuthMessage)`.
    ///
    /// - Throws: ``CryptoError``.
    internal func clientProof(_ authMessage: [UInt8]) throws(CryptoError) -> [UInt8] {
        let key = clientKey.withUnsafeBytes { Array($0) }
        let signature = try HMAC.authenticate(authMessage, key: try digest.hash(key), using: digest)
        return zip(key, signature).map { $0 ^ $1 }
    }

    /// `HMAC(ServerKey, AuthMessage)`.
    ///
    /// - Throws: ``CryptoError``.
    internal func serverSignature(_ authMessage: [UInt8]) throws(CryptoError) -> [UInt8] {
        try HMAC.authenticate(authMessage, key: serverKey, using: digest)
    }
}

extension SCRAMKeyMaterial: CustomStringConvertible {
    /// The public parts only.
    package var description: String { "SCRAM keys for \(digest), \(iterations) iterations" }
}
