// SPDX-License-Identifier: Apache-2.0

/// A key by which everything of one account, room or server is found with any of its addresses: the resourcepart does
/// not count, and no bare JID has to be made for a look-up.
package struct BareJIDKey: Hashable, Sendable {
    private let jid: JID

    /// Makes a key.
    package init(_ jid: JID) { self.jid = jid }

    /// The bare JID.
    package var bare: JID { jid.bare }

    /// Whether the bare JIDs are equal.
    package static func == (left: BareJIDKey, right: BareJIDKey) -> Bool { left.jid.hasSameBare(as: right.jid) }

    /// Hashes the octets of the bare JID.
    package func hash(into hasher: inout Hasher) { jid.hashBare(into: &hasher) }
}
