// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import XMPPCrypto

@Suite struct SecretBytesTests {
    private struct Account {
        var name = "juliet"
        var password = SecretBytes("r0m30myr0m30")
    }

    private struct Refusal: Error {}

    @Test("a secret shows in no description, reflection or dump")
    func redacted() {
        let account = Account()
        var dumped = ""
        dump(account, to: &dumped)
        for text in [
            "\(account)", "\(account.password)", String(reflecting: account), String(reflecting: account.password),
            dumped,
        ] {
            #expect(!text.contains("r0m30"))
            #expect(!text.contains("114"), "no octets either")
        }
        #expect("\(account.password)" == "<secret>")
    }

    @Test("the octets are those that went in")
    func contents() {
        let secret = SecretBytes([1, 2, 3])
        #expect(secret.count == 3)
        #expect(!secret.isEmpty)
        #expect(secret.withUnsafeBytes { Array($0) } == [1, 2, 3])
        #expect(SecretBytes("").isEmpty)
    }

    @Test("secrets match by their octets")
    func matching() {
        #expect(SecretBytes("pencil").matches(SecretBytes("pencil")))
        #expect(!SecretBytes("pencil").matches(SecretBytes("pencim")))
        #expect(!SecretBytes("pencil").matches(SecretBytes("penci")))
        #expect(SecretBytes("").matches(SecretBytes([UInt8]())))
    }

    @Test("an error while filling comes out, and nothing stays behind")
    func failingFill() {
        #expect(throws: Refusal.self) {
            _ = try SecretBytes(count: 4) { (buffer) throws(Refusal) in
                buffer.copyBytes(from: [1, 2, 3, 4])
                throw Refusal()
            }
        }
    }
}

@Suite struct ConstantTimeTests {
    @Test("comparison finds each single difference, and a prefix is no match")
    func differences() {
        let bytes = (0..<64).map { UInt8($0) }
        #expect(ConstantTime.equals(bytes, bytes))
        for index in bytes.indices {
            for bit in 0..<8 {
                var other = bytes
                other[index] ^= 1 << bit
                #expect(!ConstantTime.equals(bytes, other))
            }
        }
        #expect(!ConstantTime.equals(bytes, Array(bytes.dropLast())))
        #expect(!ConstantTime.equals(bytes, []))
        #expect(ConstantTime.equals([], []))
    }
}
