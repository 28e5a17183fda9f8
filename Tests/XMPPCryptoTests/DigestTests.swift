// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import XMPPCrypto

@Suite struct DigestTests {
    @Test(
        "digests of \"abc\" are those of the standards (FIPS 180-4, FIPS 202)",
        arguments: [
            (Digest.sha1, "a9993e364706816aba3e25717850c26c9cd0d89d"),
            (.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                .sha384,
                "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7"
            ),
            (
                .sha512,
                "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
                    + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
            ),
            (.sha3_256, "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532"),
            (
                .sha3_512,
                "b751850b1a57168a5693cd924b6b096e08f621827444f70d884f5d0240d2712e"
                    + "10e116e9192af3c91a7ec57647e3934057340b4cf408d5a56592f8274eec53f0"
            ),
        ])
    func standard(digest: Digest, expected: String) throws {
        #expect(try digest.hash("abc") == octets(expected))
    }

    @Test("every digest is as long as it says, of nothing too", arguments: Digest.allCases)
    func length(digest: Digest) throws {
        #expect(try digest.hash([UInt8]()).count == digest.byteCount)
        #expect(try digest.hash([UInt8](repeating: 7, count: 100_000)).count == digest.byteCount)
    }

    @Test("SHA-1 of nothing is the published value")
    func nothing() throws {
        #expect(try Digest.sha1.hash("") == octets("da39a3ee5e6b4b0d3255bfef95601890afd80709"))
    }
}
