// SPDX-License-Identifier: Apache-2.0

package import XMPPCrypto

/// The work that a SCRAM exchange needs done before it can answer: `SaltedPassword` of RFC 5802 §3, as many iterations
/// as the server asks for.
///
/// It may take seconds, by the server's choice, and is therefore done where nothing else waits. What it is needed for
/// was checked before: the iteration count is within ``SCRAMLimits``.
package struct SCRAMKeyDerivation: Sendable {
    /// The hash function of the mechanism.
    package let digest: Digest
    /// The salt that the server sent.
    package let salt: [UInt8]
    /// The iteration count that the server sent.
    package let iterations: Int
    private let password: SecretBytes
    /// Whether the salted password is wanted, and not only what comes from it (XEP-0480 §3).
    private let keepsSaltedPassword: Bool

    /// Describes the work; does none of it.
    ///
    /// - Parameters:
    ///   - password: prepared already (RFC 5802 §2.2).
    ///   - keepsSaltedPassword: whether ``SCRAMKeyMaterial/saltedPassword`` is wanted.
    package init(
        digest: Digest, salt: [UInt8], iterations: Int, password: SecretBytes, keepsSaltedPassword: Bool = false
    ) {
        self.digest = digest
        self.salt = salt
        self.iterations = iterations
        self.password = password
        self.keepsSaltedPassword = keepsSaltedPassword
    }

    /// Does the work. It cannot be called off once begun.
    ///
    /// - Throws: ``CryptoError``.
    package func keys() throws(CryptoError) -> SCRAMKeyMaterial {
        try SCRAMKeyMaterial(
            digest: digest, password: password, salt: salt, iterations: iterations,
            keepsSaltedPassword: keepsSaltedPassword)
    }
}

extension SCRAMKeyDerivation: Equatable {
    /// Whether a server asked for the same; the password is not looked at.
    package static func == (left: SCRAMKeyDerivation, right: SCRAMKeyDerivation) -> Bool {
        left.digest == right.digest && left.salt == right.salt && left.iterations == right.iterations
            && left.keepsSaltedPassword == right.keepsSaltedPassword
    }
}

extension SCRAMKeyDerivation: CustomStringConvertible {
    /// The public parts only.
    package var description: String { "SCRAM keys to be derived for \(digest), \(iterations) iterations" }
}
