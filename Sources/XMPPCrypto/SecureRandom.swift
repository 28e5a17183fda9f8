// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Unpredictable octets from OpenSSL's generator (`RAND_bytes`), seeded by the kernel.
package struct SecureRandom: RandomSource {
    /// A handle on the process-wide generator; holds no state.
    package init() {}

    /// `count` fresh octets; none when `count` is not positive.
    package func bytes(_ count: Int) -> [UInt8] {
        guard count > 0 else { return [] }
        var output = [UInt8](repeating: 0, count: count)
        let done = output.withUnsafeMutableBufferPointer { buffer in
            Int32(exactly: buffer.count).map { RAND_bytes(buffer.baseAddress, $0) } ?? 0
        }
        guard done == 1 else {
            // OpenSSL answers anything but 1 when its generator could not be seeded or is configured away. What
            // it left is not random: ask the kernel itself.
            var kernel = SystemRandomNumberGenerator()
            for index in output.indices {
                output[index] = kernel.next()
            }
            return output
        }
        return output
    }
}
