// SPDX-License-Identifier: Apache-2.0

/// A rule of the house that a file breaks.
struct Violation: CustomStringConvertible, Equatable {
    let file: String
    let line: Int
    let reason: String

    var description: String { "\(file):\(line): \(reason)" }
}
