// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
internal import XMPPXML

extension XMPPEvent {
    /// About how many bytes in memory the stanza behind the event takes, for as long as the event waits. What has
    /// bounds of its own counts for nothing: the number of events bounds that.
    var storedBytes: Int {
        switch self {
        case .message(let message), .messageBounced(let message, _): message.element.storedBytes
        case .carbon(let carbon): carbon.message.element.storedBytes
        case .presence(let presence), .subscriptionRequest(let presence): presence.element.storedBytes
        case .invitation(let invitation):
            [invitation.password, invitation.reason, invitation.thread].reduce(0) { $0 + ($1?.utf8.count ?? 0) }
        case .receipt(let id, _), .displayed(let id, _): id.utf8.count
        case .oversized(let stanza): (stanza.id?.utf8.count ?? 0) + (stanza.type?.utf8.count ?? 0)
        case .room(_, let event): event.storedBytes
        case .roster(.received(let items, _)): items.reduce(0) { $0 + $1.storedBytes }
        case .roster(.changed(.updated(let item), _)): item.storedBytes
        case .blockList(.blocked(let jids)), .blockList(.unblocked(let jids)):
            jids.count * MemoryLayout<JID>.stride
        case .buddyCameOnline(let buddy), .buddyChanged(let buddy), .buddyWentOffline(let buddy):
            buddy.resources.count * MemoryLayout<Buddy.Resource>.stride
                + (buddy.best?.presence.element.storedBytes ?? 0)
        case .roster(.unchanged), .roster(.changed(.removed, _)), .blockList(.cleared), .connected, .serverKeyChanged,
            .authenticated, .interrupted, .resumed, .notResumed, .disconnected:
            0
        }
    }
}

extension RoomEvent {
    /// As ``XMPPEvent/storedBytes``.
    fileprivate var storedBytes: Int {
        switch self {
        case .message(let message): message.message.element.storedBytes
        case .subject(let subject, _): subject?.utf8.count ?? 0
        case .joined(let occupant), .occupantJoined(let occupant), .occupantChanged(let occupant),
            .nicknameChanged(_, let occupant):
            occupant.storedBytes
        case .occupantLeft(let occupant, let departure): occupant.storedBytes + departure.storedBytes
        case .left(let departure): departure.storedBytes
        case .refused(let error): error.text?.utf8.count ?? 0
        case .configurationChanged(let codes): codes.count * MemoryLayout<Int>.stride
        }
    }
}

extension RoomDeparture {
    /// As ``XMPPEvent/storedBytes``.
    fileprivate var storedBytes: Int { (reason?.utf8.count ?? 0) + (actor?.utf8.count ?? 0) }
}
