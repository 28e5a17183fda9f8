// SPDX-License-Identifier: Apache-2.0

/// How somebody is (RFC 6121 §4.7.2.1). New words may appear.
public struct ControlShow: RawRepresentable, Hashable, Sendable {
    /// The word.
    public var rawValue: String

    /// Makes one of its word.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// There.
    public static let available = ControlShow(rawValue: "available")
    /// Eager to talk.
    public static let chat = ControlShow(rawValue: "chat")
    /// Away for a while.
    public static let away = ControlShow(rawValue: "away")
    /// Away for long.
    public static let extendedAway = ControlShow(rawValue: "xa")
    /// Not to be disturbed.
    public static let doNotDisturb = ControlShow(rawValue: "dnd")
    /// Not there.
    public static let offline = ControlShow(rawValue: "offline")
}

/// A contact, with its presence where that was asked for.
public struct ControlContact: Hashable, Sendable {
    /// Everything that the daemon says.
    public let json: JSONObject

    init(json: JSONObject) { self.json = json }

    /// The bare address.
    public var jid: String { json.string("jid") ?? "" }
    /// The name in the contact list; `nil` when it has none.
    public var name: String? { json.string("name") }
    /// Its groups, sorted.
    public var groups: [String] { json["groups"]?.stringsValue ?? [] }
    /// Who sees whose presence: `none`, `to`, `from` or `both` (RFC 6121 §2.1.2.5).
    public var subscription: String { json.string("subscription") ?? "none" }
    /// Whether any of its programs is online.
    public var isOnline: Bool { json.bool("online") ?? false }
    /// How it is; `nil` where its presence was not asked for.
    public var show: ControlShow? { json.string("show").map(ControlShow.init(rawValue:)) }
    /// Its status text.
    public var status: String? { json.string("status") }
}

/// What has become of a message to one recipient.
public struct ControlSending: Hashable, Sendable {
    /// How far a message has to come.
    public enum Level: String, Hashable, Sendable {
        /// It is kept and goes out when it can.
        case none
        /// The server has acknowledged it, and it has not bounced.
        case server
        /// A program of the recipient's has it (XEP-0184).
        case device
        /// It was displayed there (XEP-0333).
        case read
    }

    /// How far a message has come. New words may appear.
    public struct State: RawRepresentable, Hashable, Sendable {
        /// The word.
        public var rawValue: String

        /// Makes a state of its word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// It waits for a connection.
        public static let queued = State(rawValue: "queued")
        /// It is on its way.
        public static let sent = State(rawValue: "sent")
        /// The server has it.
        public static let server = State(rawValue: "server")
        /// A program of the recipient's has it.
        public static let device = State(rawValue: "device")
        /// It was displayed.
        public static let read = State(rawValue: "read")
        /// It came back, or could not be sent.
        public static let failed = State(rawValue: "failed")
        /// It was given up as too old.
        public static let expired = State(rawValue: "expired")
    }

    /// Everything that the daemon says.
    public let json: JSONObject

    init(json: JSONObject) { self.json = json }

    /// The recipient.
    public var to: String { json.string("to") ?? "" }
    /// What the message is known by.
    public var id: String { json.string("id") ?? "" }
    /// How far it has come.
    public var state: State { State(rawValue: json.string("state") ?? "") }
    /// Why it came no further; `nil` when nothing is wrong.
    public var error: ControlError? { json["error"]?.objectValue.map(ControlError.init(json:)) }
}

/// An account of the daemon.
public struct ControlAccount: Hashable, Sendable {
    /// Everything that the daemon says.
    public let json: JSONObject

    init(json: JSONObject) { self.json = json }

    /// The name of the account.
    public var name: String { json.string("name") ?? "" }
    /// Its bare address; `nil` when its settings cannot be read.
    public var jid: String? { json.string("jid") }
    /// `connected`, `connecting`, `waiting`, `failed` or `disconnected`; new words may appear.
    public var connection: String { json.string("connection") ?? "" }
    /// Whether it is connected.
    public var isConnected: Bool { connection == "connected" }
    /// Whether it is the default account.
    public var isDefault: Bool { json.bool("default") ?? false }
    /// How many messages wait to be sent.
    public var queued: Int { json.int("queued") ?? 0 }
    /// Why it is not connected, or why nothing can be kept: a word and a sentence; `nil` when nothing is wrong.
    public var reason: ControlError? { json["reason"]?.objectValue.map(ControlError.init(json:)) }
}
