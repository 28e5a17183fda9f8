// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Texts of the system.
enum SystemText {
    /// What the last failed call of this thread says.
    static var lastError: String { describe(errno) }

    /// The text of an error number.
    static func describe(_ code: Int32) -> String {
        strerror(code).map { String(cString: $0) } ?? "error \(code)"
    }
}
