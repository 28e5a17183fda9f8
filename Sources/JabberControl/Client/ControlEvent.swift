// SPDX-License-Identifier: Apache-2.0

/// Something that happened, as the daemon tells it.
public struct ControlEvent: Hashable, Sendable {
    /// What kind of thing. New ones may appear.
    public struct Kind: RawRepresentable, Hashable, Sendable {
        /// The word.
        public var rawValue: String

        /// Makes a kind of its word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A message came, or was sent by another program of the account.
        public static let message = Kind(rawValue: "message")
        /// Somebody's presence changed. Not kept.
        public static let presence = Kind(rawValue: "presence")
        /// A message was received (XEP-0184).
        public static let receipt = Kind(rawValue: "receipt")
        /// A message was displayed (XEP-0333).
        public static let marker = Kind(rawValue: "marker")
        /// Somebody types, or has stopped (XEP-0085). Not kept.
        public static let state = Kind(rawValue: "state")
        /// Somebody reacted to a message (XEP-0444).
        public static let reaction = Kind(rawValue: "reaction")
        /// A message was taken back (XEP-0424).
        public static let retraction = Kind(rawValue: "retraction")
        /// Somebody invites into a room.
        public static let invitation = Kind(rawValue: "invitation")
        /// Something happened in a room that the account is in. Not kept.
        public static let room = Kind(rawValue: "room")
        /// The contact list changed.
        public static let roster = Kind(rawValue: "roster")
        /// The account was connected or disconnected.
        public static let account = Kind(rawValue: "account")
        /// Some events are missing, or a stanza that was too large to be read (``ControlEvent/unreadBytes``). Comes
        /// unasked.
        public static let gap = Kind(rawValue: "gap")
    }

    /// Everything that the daemon says, with the fields of the method `listen`.
    public let json: JSONObject

    init(json: JSONObject) { self.json = json }

    /// What kind of thing happened.
    public var kind: Kind { Kind(rawValue: json.string("type") ?? "") }
    /// Where it stands among the events of its account, for
    /// ``ControlClient/events(_:from:since:consumer:acknowledgement:)``; `nil` of one that is not kept.
    public var cursor: String? { json.string("cursor") }
    /// The bare address of the account.
    public var account: String? { json.string("account") }
    /// When it happened (RFC 3339, UTC).
    public var time: String? { json.string("at") }
    /// Who did it.
    public var from: String? { json.string("from") }
    /// Whom a message was sent to.
    public var to: String? { json.string("to") }
    /// Whether a message was sent by the account itself, from another program.
    public var isOutgoing: Bool { json.string("direction") == "out" }
    /// The text of a message.
    public var body: String? { json.string("body") }
    /// The name of a message, or of the one that it is about.
    public var id: String? { json.string("id") }
    /// How many bytes a stanza had that was too large to be read; `nil` of everything but the gap that it leaves.
    public var unreadBytes: Int? { kind == .gap ? json.int("bytes") : nil }
    /// How somebody is now.
    public var show: ControlShow? { json.string("show").map(ControlShow.init(rawValue:)) }
}
