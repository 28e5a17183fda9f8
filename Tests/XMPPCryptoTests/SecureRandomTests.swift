// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import XMPPCrypto

@Suite struct SecureRandomTests {
    private struct Repeating: RandomSource {
        var byte: UInt8
        func bytes(_ count: Int) -> [UInt8] { [UInt8](repeating: byte, count: max(0, count)) }
    }

    @Test("as many octets as asked for, none for a count that is none", arguments: [Int.min, -1, 0, 1, 16, 5_000])
    func counts(count: Int) {
        #expect(SecureRandom().bytes(count).count == max(0, count))
    }

    @Test("identifiers are 26 lower-case letters and digits, and do not repeat")
    func identifiers() {
        let identifiers = (0..<10_000).map { _ in SecureRandom().identifier() }
        #expect(Set(identifiers).count == identifiers.count)
        #expect(identifiers.allSatisfy { $0.utf8.count == 26 })
        #expect(identifiers.allSatisfy { $0.allSatisfy { "abcdefghijklmnopqrstuvwxyz234567".contains($0) } })
    }

    @Test("all 128 bits of a source are in the identifier")
    func identifierBits() {
        #expect(Repeating(byte: 0).identifier() == String(repeating: "a", count: 26))
        #expect(Repeating(byte: 0xFF).identifier() == String(repeating: "7", count: 25) + "4")
    }
}
