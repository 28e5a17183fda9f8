// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// What one flood did to the client: a line of the table.
struct Row: Sendable {
    let flood: Flood
    /// One of the words of ``Flood/Expectation``, or what happened instead.
    let outcome: String
    /// How much memory the client needed at the worst moment, above what it had, in KiB.
    let growth: Int
    /// From the start to the last of the flood, or to the end of the session.
    let milliseconds: Double
    /// How much more processor time the last fifth took than the first; `nil` where there are no fifths.
    let slowdown: Double?

    /// Whether the session became what must become of it, and memory stayed within its bound. The bounds are those of
    /// whole floods in a program built for release: a part of one is held to its outcome alone.
    func isAsItMustBe(divisor: Int) -> Bool {
        outcome == flood.expectation.rawValue && (divisor > 1 || growth <= flood.maximumGrowth)
    }

    /// Prints the line.
    ///
    /// - Returns: The exit status of who prints it: 0 when ``isAsItMustBe(divisor:)``, else 1.
    func tell(divisor: Int) -> Int32 {
        print(text)
        fflush(nil)
        return isAsItMustBe(divisor: divisor) ? 0 : 1
    }

    /// The columns of ``text``.
    static let headings = ["flood", "outcome", "expected", "KiB", "at most", "ms", "slow-down"]

    /// The line, with tabs between the columns.
    var text: String {
        let hundredths = slowdown.map { Int(($0 * 100).rounded()) }
        return [
            flood.rawValue, outcome, flood.expectation.rawValue, String(growth), String(flood.maximumGrowth),
            String(Int(milliseconds.rounded())),
            hundredths.map { "\($0 / 100).\($0 % 100 < 10 ? "0" : "")\($0 % 100)" } ?? "-",
        ].joined(separator: "\t")
    }
}
