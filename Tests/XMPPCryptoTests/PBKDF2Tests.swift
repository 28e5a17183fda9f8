// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import XMPPCrypto

@Suite struct PBKDF2Tests {
    @Test("derived keys are those of the vectors (RFC 6070, RFC 8018 §5.2)", arguments: CryptoVectors.all.pbkdf2)
    func vectors(row: CryptoVectors.KeyDerivation) throws {
        let digest = try #require(Digest.allCases.first { $0.description.lowercased() == row.hash })
        let key = try PBKDF2.derive(
            password: SecretBytes(row.password), salt: Array(row.salt.utf8), iterations: row.iterations, using: digest)
        #expect(key.withUnsafeBytes { Array($0) } == octets(row.dk_hex))
    }

    @Test("a count that is no count is refused, not worked with", arguments: [Int.min, -1, 0, 1 << 31, Int.max])
    func counts(iterations: Int) {
        #expect(throws: CryptoError.invalidParameter) {
            try PBKDF2.derive(password: SecretBytes("x"), salt: [1], iterations: iterations, using: .sha1)
        }
    }

    @Test("an empty password and an empty salt are worked with")
    func empty() throws {
        let key = try PBKDF2.derive(password: SecretBytes(""), salt: [], iterations: 1, using: .sha256)
        #expect(key.count == 32)
        #expect(key.withUnsafeBytes { $0.contains { $0 != 0 } })
    }
}
