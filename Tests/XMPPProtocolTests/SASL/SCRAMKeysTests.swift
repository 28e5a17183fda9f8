// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPCrypto

@testable import XMPPProtocol

@Suite struct SCRAMKeysTests {
    private func keys(of row: SASLVectors.Exchange) throws -> SCRAMKeyMaterial {
        var mechanism = try row.answered()
        try mechanism.succeed(with: Array(row.server_final.utf8))
        return try #require(mechanism.keyMaterial)
    }

    @Test("keys kept from one login make the next, without the password")
    func keysAlone() throws {
        let row = try SASLVectors.exchange("rfc7677")
        var mechanism = try row.makeMechanism(secret: SCRAMSecret(keys: try keys(of: row)))
        _ = try mechanism.start()
        #expect(text(try mechanism.respond(to: Array(row.server_first.utf8))) == row.client_final)
        try mechanism.succeed(with: Array(row.server_final.utf8))
    }

    @Test("kept keys spare the iterations: wrong ones beside the right password show that they are used")
    func keysFirst() throws {
        let row = try SASLVectors.exchange("rfc7677")
        let kept = try keys(of: row)
        let wrong = SCRAMKeyMaterial(
            digest: kept.digest, salt: kept.salt, iterations: kept.iterations,
            clientKey: SecretBytes([UInt8](repeating: 1, count: 32)), serverKey: kept.serverKey)
        let secret = SCRAMSecret(preparedPassword: SecretBytes(row.password), keys: wrong)
        var mechanism = try row.makeMechanism(secret: secret)
        _ = try mechanism.start()
        #expect(text(try mechanism.respond(to: Array(row.server_first.utf8))) != row.client_final)
    }

    @Test("keys for another salt, count or hash are not used: the password is, or is asked for")
    func staleKeys() throws {
        let row = try SASLVectors.exchange("rfc7677")
        let kept = try keys(of: row)
        func variant(_ digest: Digest, _ salt: [UInt8], _ iterations: Int) -> SCRAMKeyMaterial {
            SCRAMKeyMaterial(
                digest: digest, salt: salt, iterations: iterations, clientKey: kept.clientKey, serverKey: kept.serverKey
            )
        }
        for keys in [
            variant(kept.digest, kept.salt + [0], kept.iterations),
            variant(kept.digest, kept.salt, kept.iterations + 1),
            variant(.sha3_256, kept.salt, kept.iterations),
        ] {
            var alone = try row.makeMechanism(secret: SCRAMSecret(keys: keys))
            _ = try alone.start()
            #expect(throws: SASLError.staleKeys) { try alone.respond(to: Array(row.server_first.utf8)) }
            let both = SCRAMSecret(preparedPassword: SecretBytes(row.password), keys: keys)
            var mechanism = try row.makeMechanism(secret: both)
            _ = try mechanism.start()
            #expect(text(try mechanism.respond(to: Array(row.server_first.utf8))) == row.client_final)
        }
    }

    @Test("nothing that is printed of an exchange holds the password or a key")
    func redacted() throws {
        let row = try SASLVectors.exchange("rfc5802")
        var mechanism = try row.makeMechanism()
        var printed = "\(mechanism) "
        dump(mechanism, to: &printed)
        _ = try mechanism.start()
        _ = try mechanism.respond(to: Array(row.server_first.utf8))
        try mechanism.succeed(with: Array(row.server_final.utf8))
        printed += "\(mechanism) \(String(reflecting: mechanism.keyMaterial))"
        dump(mechanism, to: &printed)
        #expect(!printed.contains("pencil"))
        #expect(!printed.contains(row.client_key))
        let clientKey = try #require(Base64.decode(row.client_key))
        #expect(!printed.contains(clientKey.map(String.init).joined(separator: ", ")))
        #expect(printed.contains("<secret>"))
    }
}
