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
    /// Anybody.
    case anyone
}

extension XMPPStream {
    /// Whether a sender is one that a route believes. The sender is as the stanza says it: `nil` where it says nothing.
    func isBelieved(_ from: JID?, by provenance: Provenance) -> Bool {
        let own = (jid ?? configuration.jid).bare
        guard let from else { return true }
        switch provenance {
        case .ownAccount:
            return from == own
        case .ownAccountOrServer:
            return from.bare == own || from == own.domain
        case .contacts:
            return isBelieved(from, by: .ownAccountOrServer)
                || tracker.contact(from)?.subscription.includesFrom == true
        case .anyone:
            return true
        }
    }
}
