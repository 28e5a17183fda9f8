// SPDX-License-Identifier: Apache-2.0

extension Collection<UInt8> {
    /// The bytes as hexadecimal digits in lower case, two each.
    package var hexadecimal: String {
        String(unsafeUninitializedCapacity: count * 2) { buffer in
            var index = 0
            for byte in self {
                for digit in [byte >> 4, byte & 15] {
                    buffer[index] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
                    index += 1
                }
            }
            return index
        }
    }
}
