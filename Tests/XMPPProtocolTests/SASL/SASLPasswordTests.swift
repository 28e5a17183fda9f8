// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPCrypto

@testable import XMPPProtocol

@Suite struct SASLPasswordTests {
    private func string(_ codePoints: [String]) throws -> String {
        var scalars = String.UnicodeScalarView()
        for codePoint in codePoints {
            scalars.append(try #require(UInt32(codePoint, radix: 16).flatMap(Unicode.Scalar.init)))
        }
        return String(scalars)
    }

    @Test("a password is prepared with SASLprep or refused (RFC 4013 §3)", arguments: SASLVectors.all.saslprep)
    func vectors(row: SASLVectors.Preparation) throws {
        let password = SecretBytes(try string(row.input_codepoints))
        if row.ok {
            let expected = SecretBytes(try string(try #require(row.output_codepoints)))
            #expect(try SASLPassword.prepare(password).matches(expected))
        } else {
            #expect(throws: SASLError.invalidPassword) { try SASLPassword.prepare(password) }
        }
    }

    @Test("printable ASCII is passed on as it is, without a copy")
    func ascii() throws {
        let password = SecretBytes("r0m30 my r0m30 ~")
        #expect(try SASLPassword.prepare(password) === password)
    }

    @Test("nothing, and what is not UTF-8, is no password")
    func refused() {
        for bytes in [[], [0xFF], [0x61, 0xC3], [0xC2, 0xAD], [0]] as [[UInt8]] {
            #expect(throws: SASLError.invalidPassword) { try SASLPassword.prepare(SecretBytes(bytes)) }
        }
    }
}
