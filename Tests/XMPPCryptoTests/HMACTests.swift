// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import XMPPCrypto

@Suite struct HMACTests {
    @Test("HMAC-SHA-256 and -512 give the published codes (RFC 4231 §4.3)")
    func published() throws {
        let message = Array("what do ya want for nothing?".utf8)
        let key = SecretBytes("Jefe")
        #expect(
            try HMAC.authenticate(message, key: key, using: .sha256)
                == octets("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"))
        #expect(
            try HMAC.authenticate(message, key: key, using: .sha512)
                == octets(
                    "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea250554"
                        + "9758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737"))
    }

    @Test("HMAC-SHA-1 gives the published code (RFC 2202 §3)")
    func sha1() throws {
        let code = try HMAC.authenticate(Array("Hi There".utf8), key: [UInt8](repeating: 0x0B, count: 20), using: .sha1)
        #expect(code == octets("b617318655057264e28bc0b6fb378c8ef146be00"))
    }

    @Test("an empty key is a key of its own, whatever key was used before (RFC 2104 §2)")
    func emptyKey() throws {
        let published = octets("b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad")
        _ = try HMAC.authenticate([1], key: [9, 9, 9], using: .sha256)
        #expect(try HMAC.authenticate([], key: [UInt8](), using: .sha256) == published)
        _ = try HMAC.authenticate([1], key: [9, 9, 9], using: .sha256)
        #expect(try HMAC.authenticate([], key: SecretBytes([UInt8]()), using: .sha256) == published)
    }

    @Test("hashed tokens prove both ends (draft-schmaus-kitten-sasl-ht)", arguments: CryptoVectors.all.ht)
    func hashedToken(row: CryptoVectors.HashedToken) throws {
        let digest: Digest = row.mechanism.contains("512") ? .sha512 : .sha256
        let binding = try #require(Base64.decode(row.cb_data_base64))
        let token = SecretBytes(row.token)
        let initiator = try HMAC.authenticate(Array("Initiator".utf8) + binding, key: token, using: digest)
        #expect(Base64.encode(Array(row.authcid.utf8) + [0] + initiator) == row.initial_response_base64)
        let responder = try HMAC.authenticate(Array("Responder".utf8) + binding, key: token, using: digest)
        #expect(Base64.encode(responder) == row.responder_base64)
    }
}
