// SPDX-License-Identifier: Apache-2.0

/// Why a string does not fit a PRECIS profile (RFC 8264 §5, §7).
package enum PRECISError: Error, Hashable, Sendable {
    /// Nothing is left, and both profiles ask for at least one character (RFC 8265 §3.3.2, §4.2.2).
    case empty
    /// The character is not in the string class of the profile (RFC 8264 §8).
    case disallowed(Unicode.Scalar)
    /// The character is allowed only beside certain others, which are not there (RFC 5892 appendix A).
    case context(Unicode.Scalar)
    /// Left-to-right and right-to-left text are mixed in a way the Bidi Rule forbids (RFC 5893 §2).
    case bidirectional
    /// The rules, applied again and again, keep changing the string (RFC 8264 §7).
    case unstable
}
