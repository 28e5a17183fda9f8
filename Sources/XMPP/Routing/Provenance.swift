// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore

/// Whose requests a route believes. Every route declares it; everybody else gets the answer that a missing route would
/// give, so that not even the existence of the route, or of the user's presence, leaks.
public enum Provenance: Sendable, Hashable {
    /// The own account alone: its bare address, or no address (RFC 6120 §8.1.2.1).
    case ownAccount
    /// The own account with all its resources, and the own server.
    case ownAccountOrServer
    /// The above, and contacts that may see the user's presence (subscription `from` or `both`).
    case contacts
    /// Rooms that this session is in, and those in them.
    case room
    /// Anybody.
    case anyone
}

extension XMPPStream {
    /// The own address: that of the session, before it the one that was asked for.
    var account: JID { jid ?? configuration.jid }

    /// Whether somebody may know that the user is there: a contact that may see the user's presence, or a room that has
    /// been entered. To others nothing is sent that the user has not written.
    public func mayKnowOfUser(_ jid: JID) -> Bool {
        isBelieved(jid, by: .contacts) || isBelieved(jid, by: .room)
    }

    /// Whether a sender is one that a route believes. The sender is as the stanza says it: `nil` where it says nothing.
    func isBelieved(_ from: JID?, by provenance: Provenance) -> Bool {
        guard let from else { return true }
        switch provenance {
        case .ownAccount:
            return from.isBare && from.hasSameBare(as: account)
        case .ownAccountOrServer:
            return isOwn(from)
        case .contacts:
            return isOwn(from)
                || tracker.contact(from)?.subscription.includesFrom == true
        case .room:
            return rooms[from]?.isEntered(on: self) == true
        case .anyone:
            return true
        }
    }

    /// Whether a sender is the own account, with any resource, or its server.
    private func isOwn(_ from: JID) -> Bool {
        let own = account
        return from.hasSameBare(as: own) || from.isDomain(of: own)
    }
}
