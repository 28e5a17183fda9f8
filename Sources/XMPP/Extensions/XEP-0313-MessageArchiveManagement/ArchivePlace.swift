// SPDX-License-Identifier: Apache-2.0

public import XMPPCore

/// Up to where an archive is known (XEP-0313): what is behind it is new.
public struct ArchivePlace: Sendable, Hashable {
    /// The longest name of a message that a client remembers, in bytes: 1 KiB. Archives choose their names.
    static let maximumNameBytes = 1_024

    /// What the archive calls the last message that is known; `nil` where none is: everything in it from ``at`` on is
    /// new.
    public var last: String?
    /// When the archive got that message, as far as is known: of use when the archive has forgotten it. `nil` without a
    /// message where the archive was empty.
    public var at: DateTime?

    /// Makes a place.
    public init(last: String?, at: DateTime? = nil) {
        self.last = last
        self.at = at
    }
}
