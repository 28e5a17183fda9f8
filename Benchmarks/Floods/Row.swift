// SPDX-License-Identifier: Apache-2.0

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
