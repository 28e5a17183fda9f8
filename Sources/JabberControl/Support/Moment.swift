// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Times of the machine's clock as the control protocol writes them.
package enum Moment {
    /// This moment in UTC with milliseconds (RFC 3339): events of the daemon bear the time of the same clock.
    package static func now() -> String {
        var moment = timespec()
        clock_gettime(CLOCK_REALTIME, &moment)
        var parts = tm()
        guard gmtime_r(&moment.tv_sec, &parts) != nil else { return "1970-01-01T00:00:00Z" }
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : String(number) }
        let fraction = String(1_000 + moment.tv_nsec / 1_000_000).dropFirst()
        return "\(1900 + Int(parts.tm_year))-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
            + "T\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec)).\(fraction)Z"
    }
}
