// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Comparisons whose duration tells nothing about the data, by `CRYPTO_memcmp`.
package enum ConstantTime {
    /// Whether both are equal; only their lengths influence the time taken.
    package static func equals(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        one.withUnsafeBytes { first in
            other.withUnsafeBytes { second in equals(first, second) }
        }
    }

    /// Whether both regions are equal; only their lengths influence the time taken.
    package static func equals(_ one: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer) -> Bool {
        guard one.count == other.count else { return false }
        return one.isEmpty || CRYPTO_memcmp(one.baseAddress, other.baseAddress, one.count) == 0
    }
}
