// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
internal import XMPPXML

extension LoopbackRouter {
    /// Routes a presence (RFC 6121 §4, §3).
    func route(_ presence: Presence, from sender: any LoopbackEndpoint) {
        if let to = presence.to {
            if let rooms, to.domainpart == rooms.domain.domainpart {
                return rooms.route(presence, to: to, from: sender)
            }
            switch presence.kind {
            case .subscribe, .subscribed, .unsubscribe, .unsubscribed:
                return subscription(presence, from: sender.jid.bare, to: to.bare)
            case .probe:
                return probe(to, for: sender)
            case .available:
                // A room at a service that is not there is told about, not waited for (RFC 6120 §10.4.3).
                guard to.domainpart == domain.domainpart else {
                    return bounce(presence.element, StanzaError(.remoteServerNotFound, kind: .cancel), to: sender)
                }
                sender.directed.insert(to)
            case .unavailable:
                sender.directed.remove(to)
            case .error:
                break
            }
            return deliver(presence, to: to)
        }
        switch presence.kind {
        case .available: becomeAvailable(sender, presence)
        case .unavailable: becomeUnavailable(sender, presence)
        case .subscribe, .subscribed, .unsubscribe, .unsubscribed, .probe:
            bounce(presence.element, .badRequest, to: sender)
        case .error: break
        }
    }

    /// Broadcasts a presence; the first one also brings what this resource has missed (RFC 6121 §4.2, §4.4).
    private func becomeAvailable(_ sender: any LoopbackEndpoint, _ presence: Presence) {
        guard let account = account(sender.jid) else { return }
        let isInitial = sender.presence == nil
        sender.presence = presence
        broadcast(presence, from: sender, of: account)
        guard isInitial else {
            return deliverOffline(to: sender)
        }
        for other in account.available where other !== sender {
            if let known = other.presence { deliver(known, from: other.jid, toEndpoint: sender) }
        }
        for contact in account.roster.publishers { probe(contact, for: sender) }
        for request in account.roster.requests.values { sender.deliver(request) }
        deliverOffline(to: sender)
    }

    /// Broadcasts the end of a resource's availability (RFC 6121 §4.5).
    func becomeUnavailable(_ sender: any LoopbackEndpoint, _ presence: Presence) {
        guard let account = account(sender.jid) else { return }
        if sender.presence != nil {
            broadcast(presence, from: sender, of: account)
            sender.presence = nil
        }
        let told = Set(account.roster.subscribers)
        for jid in sender.directed where !told.contains(jid.bare) { deliver(presence, from: sender.jid, to: jid) }
        sender.directed = []
    }

    /// To everybody who may see it, the own resources included (RFC 6121 §4.2.2).
    private func broadcast(_ presence: Presence, from sender: any LoopbackEndpoint, of account: LoopbackAccount) {
        for contact in account.roster.subscribers { deliver(presence, from: sender.jid, to: contact) }
        for endpoint in account.available { deliver(presence, from: sender.jid, toEndpoint: endpoint) }
    }

    /// Tells one resource of a contact's presence, if it may know (RFC 6121 §4.3).
    private func probe(_ contact: JID, for endpoint: any LoopbackEndpoint) {
        guard let account = account(contact), account.roster.item(endpoint.jid).subscription.includesFrom else {
            return
        }
        for other in account.available {
            if let presence = other.presence { deliver(presence, from: other.jid, toEndpoint: endpoint) }
        }
    }

    /// Hands the presence of an account's resources to another account: after an approval, or before a farewell.
    func sendPresences(of account: LoopbackAccount, to contact: JID, unavailable: Bool) {
        for endpoint in account.available {
            guard let presence = unavailable ? Presence(.unavailable) : endpoint.presence else { continue }
            deliver(presence, from: endpoint.jid, to: contact)
        }
    }

    /// To a full JID, or to every available resource of a bare one. Nobody there: nothing happens (RFC 6121 §8.5.1).
    func deliver(_ presence: Presence, from: JID? = nil, to: JID) {
        guard let account = account(to) else { return }
        let endpoints = to.isFull ? endpoint(to).map { [$0] } ?? [] : account.available
        for endpoint in endpoints { deliver(presence, from: from ?? presence.from, toEndpoint: endpoint, as: to) }
    }

    private func deliver(
        _ presence: Presence, from: JID?, toEndpoint endpoint: any LoopbackEndpoint, as to: JID? = nil
    ) {
        var presence = presence
        presence.from = from
        presence.to = to ?? endpoint.jid
        endpoint.deliver(presence.element)
    }
}
