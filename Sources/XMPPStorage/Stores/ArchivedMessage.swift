// SPDX-License-Identifier: Apache-2.0

public import XMPPCore

/// A message in a ``MessageArchive``.
public struct ArchivedMessage: Sendable, Hashable {
    /// What an archive of the server calls a message (XEP-0359 §2.1).
    public struct Name: Sendable, Hashable {
        /// Whose archive it is: the own account, or a room.
        public var by: JID
        /// The name; it is of use in that archive alone.
        public var id: String

        /// Makes a name. Only one that the archive itself has given may be believed (XEP-0359 §6).
        public init(by: JID, id: String) {
            self.by = by
            self.id = id
        }
    }

    /// The message.
    public var message: Message
    /// With whom it was exchanged: the bare address of a contact or a room.
    public var peer: JID
    /// Whether the account has sent it.
    public var isOutgoing: Bool
    /// When it was sent, as far as is known.
    public var at: DateTime
    /// What the sender calls it for good (XEP-0359 §2.2); it decides over messages of the own account only.
    public var originID: String?
    /// What an archive of the server calls it.
    public var archiveID: Name?
    /// Whether nobody has read it here.
    public var isUnread: Bool

    /// Makes one.
    public init(
        message: Message, peer: JID, isOutgoing: Bool, at: DateTime, originID: String? = nil, archiveID: Name? = nil,
        isUnread: Bool = false
    ) {
        self.message = message
        self.peer = peer.bare
        self.isOutgoing = isOutgoing
        self.at = at
        self.originID = originID
        self.archiveID = archiveID
        self.isUnread = isUnread
    }
}

/// Which messages are wanted of a ``MessageArchive``.
public struct ArchiveQuery: Sendable, Hashable {
    /// With whom; `nil` for everybody.
    public var peer: JID?
    /// From this time on.
    public var since: DateTime?
    /// Before this time.
    public var before: DateTime?
    /// Words that all have to be in the text; the last one may be the beginning of a word. Case and accents do not
    /// matter.
    public var text: String?
    /// Only those that nobody has read here.
    public var isUnreadOnly: Bool
    /// How many at most, the newest; no more than ``MessageArchive/maximumResults``.
    public var limit: Int

    /// Makes a query.
    public init(
        peer: JID? = nil, since: DateTime? = nil, before: DateTime? = nil, text: String? = nil,
        isUnreadOnly: Bool = false, limit: Int = 100
    ) {
        self.peer = peer
        self.since = since
        self.before = before
        self.text = text
        self.isUnreadOnly = isUnreadOnly
        self.limit = limit
    }
}
