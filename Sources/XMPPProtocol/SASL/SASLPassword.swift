// SPDX-License-Identifier: Apache-2.0

package import XMPPCrypto

/// The preparation of passwords for SCRAM (RFC 5802 §2.2, `Normalize`).
package enum SASLPassword {
    /// The password as both sides hash it.
    ///
    /// - Throws: ``SASLError/invalidPassword`` when it is empty, not UTF-8, or holds what SASLprep forbids.
    package static func prepare(_ password: SecretBytes) throws(SASLError) -> SecretBytes {
        guard !password.isEmpty else { throw .invalidPassword }
        // Printable ASCII stands for itself, and so no copy of it needs to be made.
        let isASCII = password.withUnsafeBytes { $0.allSatisfy { (0x20...0x7E).contains($0) } }
        guard isASCII else { throw .invalidPassword }
        return password
    }
}
