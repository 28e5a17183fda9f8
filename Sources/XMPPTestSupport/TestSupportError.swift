// SPDX-License-Identifier: Apache-2.0

/// Why something that tests are made of could not be had: a port, a file, a certificate, a server program.
public struct TestSupportError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What failed and why, for the person who reads the test's output.
    public let description: String

    /// Makes an error.
    public init(_ description: String) {
        self.description = description
    }
}
