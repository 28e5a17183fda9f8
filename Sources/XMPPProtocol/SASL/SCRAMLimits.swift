// SPDX-License-Identifier: Apache-2.0

/// What a SCRAM exchange accepts from a server before it works with it.
package struct SCRAMLimits: Hashable, Sendable {
    /// Fewest iterations accepted; 4,096 by default (RFC 7677 §4).
    package var minimumIterations: Int = 4_096
    /// Most iterations accepted; 10,000,000 by default, some seconds of work.
    package var maximumIterations: Int = 10_000_000
    /// Fewest octets of salt; 8 by default.
    package var minimumSaltByteCount: Int = 8
    /// Longest message of the server in octets; 8 KiB by default.
    package var maximumMessageByteCount: Int = SASLPayload.maximumByteCount

    /// The defaults.
    package init() {}
}
