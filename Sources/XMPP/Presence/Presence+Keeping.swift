// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
internal import XMPPXML

extension Presence {
    /// Bytes of a presence that is kept as it came; 4,096, some ten times what usual ones have. Others choose how long
    /// theirs are, and thousands are kept.
    static let maximumKeptBytes = 4_096
    /// Characters of its status that are kept of a longer one; 500.
    static let maximumKeptStatus = 500

    /// What is kept of it for as long as it holds. Of one that is too long that is what RFC 6121 §4.7.2 says of a
    /// presence, and the beginning of its status; the rest is reported when it comes, and forgotten.
    package var kept: Presence {
        guard element.storedBytes > Self.maximumKeptBytes else { return self }
        var kept = Presence(
            kind, show: show, status: status?.shortened(toScalars: Self.maximumKeptStatus), priority: priority, to: to)
        kept.from = from
        return kept
    }
}
