// SPDX-License-Identifier: Apache-2.0

import Testing

/// A rule of the house that a file breaks.
struct Violation: CustomStringConvertible, Equatable {
    let file: String
    let line: Int
    let reason: String

    var description: String { "\(file):\(line): \(reason)" }
}

/// The violations one a line, for the message of a failed test.
func report(_ violations: [Violation]) -> Comment {
    Comment(rawValue: violations.map { "\n" + $0.description }.joined())
}
