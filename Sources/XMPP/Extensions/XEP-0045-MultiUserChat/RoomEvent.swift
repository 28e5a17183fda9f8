// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
internal import XMPPXML

/// What happens in a room.
public enum RoomEvent: Sendable, Hashable {
    /// The user has entered; everybody else who is there is known, and messages may be sent.
    case joined(Occupant)
    /// The user could not enter.
    case refused(StanzaError)
    /// Somebody has come in.
    case occupantJoined(Occupant)
    /// Somebody has another role, affiliation or presence.
    case occupantChanged(Occupant)
    /// Somebody has gone.
    case occupantLeft(Occupant, RoomDeparture)
    /// Somebody, perhaps the user, has another nickname.
    case nicknameChanged(from: String, Occupant)
    /// The room has another subject; `nil` where it has none any more.
    case subject(String?, by: String?)
    /// A message to all in the room.
    case message(RoomMessage)
    /// The room's owner has changed its settings; the codes say what (XEP-0045 §10.2.1).
    case configurationChanged(codes: Set<Int>)
    /// The user is in the room no more.
    case left(RoomDeparture)
}

/// Why somebody is in a room no more.
public struct RoomDeparture: Sendable, Hashable {
    /// What happened.
    public enum Cause: String, Sendable, Hashable, CaseIterable {
        /// They have gone.
        case left
        /// A moderator has shown them out.
        case kicked
        /// They may come in no more.
        case banned
        /// The room has become one for members, or they are none any more.
        case membersOnly
        /// The service is being shut down.
        case shutdown
        /// The room could not reach them.
        case error
        /// The room is no more.
        case destroyed
        /// The session has ended; whoever keeps sessions up enters again.
        case disconnected
    }

    /// What happened.
    public var cause: Cause
    /// Why, for people.
    public var reason: String?
    /// Who did it: a nickname or an address.
    public var actor: String?
    /// The room to go to instead, of one that is no more.
    public var alternative: JID?

    init(_ cause: Cause) {
        self.cause = cause
    }

    /// Reads the reason off a presence of type `unavailable`.
    init(_ presence: Presence) {
        let news = RoomNews(presence)
        if let destruction = news.destruction {
            cause = .destroyed
            reason = destruction.firstChild("reason", namespace: MultiUserChat.user)?.text
            alternative = destruction["jid"].flatMap { try? JID($0) }
            return
        }
        cause =
            if news.codes.contains(301) {
                .banned
            } else if news.codes.contains(333) {
                .error
            } else if news.codes.contains(307) {
                .kicked
            } else if !news.codes.isDisjoint(with: [321, 322]) {
                .membersOnly
            } else if news.codes.contains(332) {
                .shutdown
            } else {
                .left
            }
        reason = news.item?.firstChild("reason", namespace: MultiUserChat.user)?.text ?? presence.status
        let actor = news.item?.firstChild("actor", namespace: MultiUserChat.user)
        self.actor = actor?["nick"] ?? actor?["jid"]
    }

    /// Whether it is of no use, or not wanted, to come back.
    package var isFinal: Bool {
        switch cause {
        case .left, .kicked, .banned, .membersOnly, .destroyed: true
        case .shutdown, .error, .disconnected: false
        }
    }
}

/// A message to all in a room.
public struct RoomMessage: Sendable, Hashable {
    /// The message; its sender is an address in the room, or the room itself.
    public var message: Message
    /// The sender's nickname; `nil` of the room itself.
    public var nickname: String?
    /// Whether the user has sent it: the room sends everybody's own messages back.
    public var isOwn: Bool
    /// Whether it was said before the user came in.
    public var isHistory: Bool
}

/// How much of what was said before is wanted of a room (XEP-0045 §7.2.13).
public struct RoomHistory: Sendable, Hashable {
    /// How many messages at most; `nil` means as many as the room likes to send.
    public var maximumMessages: Int?
    /// How far back at most, in whole seconds; `nil` means as far as the room likes.
    public var maximumAge: Duration?

    /// Makes a wish.
    public init(maximumMessages: Int? = nil, maximumAge: Duration? = nil) {
        self.maximumMessages = maximumMessages
        self.maximumAge = maximumAge
    }

    /// Nothing.
    public static let none = RoomHistory(maximumMessages: 0)
    /// Twenty messages.
    public static let some = RoomHistory(maximumMessages: 20)

    var element: Element {
        Element(
            "history", namespace: MultiUserChat.namespace,
            attributes: [
                "maxstanzas": maximumMessages.map(String.init),
                "seconds": maximumAge.map { String(max(0, $0.components.seconds)) },
            ])
    }
}
