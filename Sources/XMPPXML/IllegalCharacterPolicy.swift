// SPDX-License-Identifier: Apache-2.0

/// What happens to characters that XML 1.0 does not allow (XML §2.2): most control characters, U+FFFE and U+FFFF.
///
/// No escape exists for them; a server ends the stream of a client that sends one.
public enum IllegalCharacterPolicy: Sendable, Hashable {
    /// Nothing is written; an ``XMLSerializationError`` names the character and where it stands.
    case reject
    /// U+FFFD is written in place of each.
    case replace
}
