// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
public import XMPPProtocol

/// What a stream reports, in the order in which it happened.
public enum XMPPEvent: Sendable, Hashable {
    /// The server speaks XMPP; negotiation goes on.
    case connected
    /// The server has another key than at every login that is remembered (RFC 7590 §3.6); the login goes on. Told each
    /// time until a login has succeeded with it.
    case serverKeyChanged(ServerKeyChange)
    /// The session is established under this full address.
    case authenticated(JID)
    /// A presence stanza arrived; its sender is filled in (RFC 6121 §4).
    case presence(Presence)
    /// The first resource of a contact came online.
    case buddyCameOnline(Buddy)
    /// A contact that is online has other resources, another show or status, or another name now.
    case buddyChanged(Buddy)
    /// The last resource of a contact went offline, or the stream ended.
    case buddyWentOffline(Buddy)
    /// Somebody asks to see the user's presence (RFC 6121 §3.1.3). Never answered by itself.
    case subscriptionRequest(Presence)
    /// The roster arrived or changed.
    case roster(RosterUpdate)
    /// A message arrived; its sender is filled in.
    case message(Message)
    /// A stanza was past a limit (``XMPPConfiguration/limits``), and was not read. The first one ends the stream with
    /// `policy-violation`; this comes in the sessions after that.
    indirect case oversized(OversizedStanza)
    /// A message that was sent came back (RFC 6120 §8.3).
    case messageBounced(Message, StanzaError)
    /// The addressee's client has received a message (XEP-0184).
    case receipt(messageID: String, from: JID)
    /// The addressee has displayed everything up to this message; in a room, its id is the one that the room gave
    /// (XEP-0333).
    case displayed(messageID: String, from: JID)
    /// Another client of the account has sent or received a message (XEP-0280); only after
    /// ``XMPPStream/enableCarbons()``.
    case carbon(MessageCarbon)
    /// Somebody asks the user into a room (XEP-0249). Never answered by itself.
    case invitation(RoomInvitation)
    /// Something happened in a room that the user is in, or wants to be in (XEP-0045).
    case room(Room, RoomEvent)
    /// Another client of the account has blocked or unblocked somebody (XEP-0191); only after
    /// ``XMPPStream/blockList()``.
    case blockList(BlockListChange)
    /// The connection was lost; the session is waiting to be resumed on another one (XEP-0198 §5).
    case interrupted(XMPPError)
    /// The session goes on, under this address, on another connection; nothing is lost.
    case resumed(JID)
    /// The server did not resume the session: ``authenticated(_:)`` follows with a new one.
    case notResumed(FailedResumption)
    /// The stream is over; the error is `nil` when this side closed it. Sent once, last.
    case disconnected(XMPPError?)
}

extension XMPPEvent {
    /// Whether it is for ``MessageDelegate``; the others are for ``ChatDelegate``, those of rooms for ``RoomDelegate``.
    var concernsMessages: Bool {
        switch self {
        case .message, .oversized, .messageBounced, .receipt, .displayed, .carbon, .invitation: true
        case .connected, .serverKeyChanged, .authenticated, .presence, .buddyCameOnline, .buddyChanged,
            .buddyWentOffline,
            .subscriptionRequest, .roster, .room, .blockList, .interrupted, .resumed, .notResumed, .disconnected:
            false
        }
    }
}

/// What happened to the roster.
public enum RosterUpdate: Sendable, Hashable {
    /// The whole roster; replaces what was known.
    case received([RosterItem], version: String?)
    /// The server says that the known version is still the right one (RFC 6121 §2.6.3).
    case unchanged(version: String)
    /// One contact changed (a roster push, RFC 6121 §2.1.6).
    case changed(RosterChange, version: String?)
}
