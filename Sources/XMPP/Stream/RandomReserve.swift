// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
internal import XMPPCrypto

/// Octets of ``SecureRandom`` that were drawn many at a time: asking OpenSSL for 16 costs nearly as much as for 1,024,
/// and more than all else about a stanza's id.
///
/// What was handed out is wiped. A process that forks and goes on without exec would hand the same out twice; this
/// package never does, and neither can a program that uses Swift's concurrency.
final class RandomReserve: RandomSource {
    /// The one of this process.
    static let shared = RandomReserve()

    /// How many octets are drawn at a time.
    static let drawnBytes = 1_024
    /// More than so many at once are drawn for whoever asks.
    static let maximumSharedBytes = 64

    private let octets = Locked<[UInt8]>([])

    /// `count` fresh octets; none when `count` is not positive.
    func bytes(_ count: Int) -> [UInt8] {
        guard count > 0, count <= Self.maximumSharedBytes else { return SecureRandom().bytes(count) }
        return octets.withLock { octets in
            if octets.count < count { octets = SecureRandom().bytes(Self.drawnBytes) }
            let drawn = Array(octets.suffix(count))
            for index in octets.indices.suffix(count) { octets[index] = 0 }
            octets.removeLast(count)
            return drawn
        }
    }
}
