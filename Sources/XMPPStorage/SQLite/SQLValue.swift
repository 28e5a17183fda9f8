// SPDX-License-Identifier: Apache-2.0

/// A value as SQLite keeps it.
package enum SQLValue: Sendable, Hashable, ExpressibleByIntegerLiteral, ExpressibleByStringLiteral {
    /// Nothing.
    case null
    /// A number.
    case integer(Int64)
    /// A text, in UTF-8; it may hold any character but NUL, which XML forbids anyway.
    case text(String)
    /// Bytes.
    case bytes([UInt8])

    /// A number written in the source.
    package init(integerLiteral value: Int64) {
        self = .integer(value)
    }

    /// A text written in the source.
    package init(stringLiteral value: String) {
        self = .text(value)
    }

    /// A text, or nothing.
    package init(_ text: String?) {
        self = text.map(SQLValue.text) ?? .null
    }

    /// A number, or nothing.
    package init(_ number: (some BinaryInteger)?) {
        self = number.map { .integer(Int64(truncatingIfNeeded: $0)) } ?? .null
    }
}
