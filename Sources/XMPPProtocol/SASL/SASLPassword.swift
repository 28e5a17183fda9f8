// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
package import XMPPCrypto

/// The preparation of passwords for SCRAM (RFC 5802 §2.2, `Normalize`).
package enum SASLPassword {
    /// The password as both sides hash it: in SASLprep's form (RFC 4013).
    ///
    /// - Throws: ``SASLError/invalidPassword`` when nothing is left of it, or it is not UTF-8, or SASLprep forbids it.
    package static func prepare(_ password: SecretBytes) throws(SASLError) -> SecretBytes {
        guard !password.isEmpty else { throw .invalidPassword }
        // Printable ASCII stands for itself, so that as a rule no unwiped copy of the password is made.
        if password.withUnsafeBytes({ $0.allSatisfy { (0x20...0x7E).contains($0) } }) { return password }
        guard let text = password.withUnsafeBytes({ String(validating: $0, as: UTF8.self) }) else {
            throw .invalidPassword
        }
        let prepared: String
        do throws(SASLprepError) {
            prepared = try SASLprep.prepare(text)
        } catch {
            throw .invalidPassword
        }
        guard !prepared.isEmpty else { throw .invalidPassword }
        return SecretBytes(prepared)
    }
}
