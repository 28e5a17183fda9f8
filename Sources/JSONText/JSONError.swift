// SPDX-License-Identifier: Apache-2.0

/// Why a text is not JSON. The text itself is not part of the description: it may hold a secret.
package struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong, for people.
    package var reason: String
    /// The line, from 1.
    package var line: Int
    /// The byte in the line, from 1.
    package var column: Int

    /// `line 3, column 7: …`.
    package var description: String {
        "line \(line), column \(column): \(reason)"
    }
}
