// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
internal import XMPPCrypto

/// Numbers that look random and are the same in every run: SplitMix64. Not for secrets.
public final class SeededGenerator: RandomNumberGenerator, Sendable {
    /// What the numbers follow from: print it when a test fails.
    public let seed: UInt64
    private let state: Locked<UInt64>

    /// Makes a generator.
    public init(seed: UInt64) {
        self.seed = seed
        state = Locked(seed)
    }

    /// The next number.
    public func next() -> UInt64 {
        var mixed = state.withLock { state in
            state &+= 0x9E37_79B9_7F4A_7C15
            return state
        }
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

extension SeededGenerator: RandomSource {
    /// `count` octets of the sequence; none when `count` is not positive.
    package func bytes(_ count: Int) -> [UInt8] {
        (0..<max(0, count)).map { _ in UInt8(truncatingIfNeeded: next() >> 32) }
    }
}
