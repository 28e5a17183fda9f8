// SPDX-License-Identifier: Apache-2.0

/// Something that a demonstration set out to show and did not.
package struct DemonstrationFailure: Error, CustomStringConvertible {
    package let description: String
}

/// Holds a demonstration to its word.
///
/// - Throws: ``DemonstrationFailure`` when `condition` does not hold.
package func expect(_ condition: Bool, _ what: String) throws {
    guard condition else { throw DemonstrationFailure(description: "expected: \(what)") }
}
