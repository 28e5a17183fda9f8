// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SocketIO

@Suite("Bytes as hexadecimal digits")
struct HexadecimalTests {
    @Test(
        "two digits in lower case for each byte",
        arguments: [([], ""), ([0], "00"), ([0x0F, 0xA0], "0fa0"), ([0x9A, 0xFF, 0x10], "9aff10")]
            as [([UInt8], String)])
    func digits(_ bytes: [UInt8], _ text: String) {
        #expect(bytes.hexadecimal == text && bytes[...].hexadecimal == text)
    }
}
