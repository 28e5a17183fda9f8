// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import XMPPCore

/// The time of day.
enum WallClock {
    /// Now, to the millisecond.
    static func now() -> DateTime {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return DateTime(millisecondsSinceEpoch: Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000)
    }
}
