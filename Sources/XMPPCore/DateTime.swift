// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A moment in UTC, to the millisecond, as XMPP writes it (XEP-0082).
public struct DateTime: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// Milliseconds since 1970-01-01T00:00:00Z, leap seconds not counted.
    public let millisecondsSinceEpoch: Int64

    /// Makes a moment.
    public init(millisecondsSinceEpoch: Int64) {
        self.millisecondsSinceEpoch = millisecondsSinceEpoch
    }

    /// The present moment, by the system's wall clock.
    public static var now: DateTime {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return DateTime(millisecondsSinceEpoch: Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000)
    }

    /// Reads the DateTime profile: `CCYY-MM-DDThh:mm:ss[.sss]TZD`.
    ///
    /// Digits beyond milliseconds are cut off; a second of 60 counts as the next second. Returns `nil` for anything
    /// else, years before 1 or beyond 9999 among them: a stamp that cannot be read is no stamp.
    public init?(_ text: String) {
        var reader = DigitReader(Array(text.utf8))
        guard let year = reader.number(digits: 4), year >= 1, reader.take("-"),
            let month = reader.number(digits: 2), (1...12).contains(month), reader.take("-"),
            let day = reader.number(digits: 2), (1...Self.days(in: month, of: year)).contains(day), reader.take("T"),
            let hour = reader.number(digits: 2), hour <= 23, reader.take(":"),
            let minute = reader.number(digits: 2), minute <= 59, reader.take(":"),
            let second = reader.number(digits: 2), second <= 60,
            let milliseconds = reader.fraction(), let offset = reader.zone(), reader.isAtEnd
        else { return nil }
        let minutes = (Self.daysSinceEpoch(year: year, month: month, day: day) * 24 + hour) * 60 + minute - offset
        millisecondsSinceEpoch = Int64((minutes * 60 + second) * 1_000 + milliseconds)
    }

    /// The moment in UTC with milliseconds, such as `2026-01-02T03:04:05.678Z`.
    ///
    /// Years outside 1 to 9999 are written as the nearest year that four digits can hold.
    public var description: String {
        let first = Int64(Self.daysSinceEpoch(year: 1, month: 1, day: 1)) * 86_400_000
        let last = Int64(Self.daysSinceEpoch(year: 10_000, month: 1, day: 1)) * 86_400_000 - 1
        let moment = min(max(millisecondsSinceEpoch, first), last)
        let days = Int((Double(moment) / 86_400_000).rounded(.down))
        let rest = Int(moment - Int64(days) * 86_400_000)
        let (year, month, day) = Self.date(daysSinceEpoch: days)
        return "\(pad(year, 4))-\(pad(month, 2))-\(pad(day, 2))T\(pad(rest / 3_600_000, 2)):"
            + "\(pad(rest / 60_000 % 60, 2)):\(pad(rest / 1_000 % 60, 2)).\(pad(rest % 1_000, 3))Z"
    }

    /// The earlier one is less.
    public static func < (left: DateTime, right: DateTime) -> Bool {
        left.millisecondsSinceEpoch < right.millisecondsSinceEpoch
    }
}

extension DateTime {
    private static func isLeap(_ year: Int) -> Bool {
        year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    }

    private static func days(in month: Int, of year: Int) -> Int {
        switch month {
        case 2: isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Days from 1970-01-01 in the proleptic Gregorian calendar; years are counted from March, so that the leap day is
    /// the last of its year.
    private static func daysSinceEpoch(year: Int, month: Int, day: Int) -> Int {
        let year = month > 2 ? year : year - 1
        let monthFromMarch = (month + 9) % 12
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
        return year * 365 + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468
    }

    /// The inverse of `daysSinceEpoch`, for the years 1 to 9999.
    private static func date(daysSinceEpoch days: Int) -> (year: Int, month: Int, day: Int) {
        // An estimate that is at most one year too high, corrected by looking.
        var year = Int((Double(days) / 365.2425).rounded(.down)) + 1_971
        while daysSinceEpoch(year: year, month: 1, day: 1) > days { year -= 1 }
        var month = 12
        while daysSinceEpoch(year: year, month: month, day: 1) > days { month -= 1 }
        return (year, month, days - daysSinceEpoch(year: year, month: month, day: 1) + 1)
    }

    private func pad(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}

/// Reads a date from ASCII bytes, from left to right.
private struct DigitReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { position == bytes.count }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard let next, UInt32(next) == character.value else { return false }
        position += 1
        return true
    }

    private mutating func digit() -> Int? {
        guard let next, (0x30...0x39).contains(next) else { return nil }
        position += 1
        return Int(next - 0x30)
    }

    mutating func number(digits: Int) -> Int? {
        var number = 0
        for _ in 0..<digits {
            guard let digit = digit() else { return nil }
            number = number * 10 + digit
        }
        return number
    }

    /// An optional fraction of a second, in milliseconds; `nil` when a point has no digits behind it.
    mutating func fraction() -> Int? {
        guard take(".") else { return 0 }
        guard var milliseconds = digit() else { return nil }
        var places = 1
        while let digit = digit() {
            if places < 3 {
                milliseconds = milliseconds * 10 + digit
                places += 1
            }
        }
        while places < 3 {
            milliseconds *= 10
            places += 1
        }
        return milliseconds
    }

    /// `Z`, or an offset from UTC in minutes.
    mutating func zone() -> Int? {
        if take("Z") { return 0 }
        let isEast = take("+")
        guard isEast || take("-"), let hours = number(digits: 2), hours <= 23, take(":"),
            let minutes = number(digits: 2), minutes <= 59
        else { return nil }
        return (isEast ? 1 : -1) * (hours * 60 + minutes)
    }
}
