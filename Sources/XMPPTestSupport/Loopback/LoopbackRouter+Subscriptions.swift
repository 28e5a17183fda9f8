// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
internal import XMPPXML

/// The state machine of presence subscriptions (RFC 6121 §3 and appendix A): both sides live on this server.
extension LoopbackRouter {
    /// Takes a subscription stanza from a user, changes the user's roster, and hands it to the contact's side.
    func subscription(_ presence: Presence, from user: JID, to contact: JID) {
        guard let account = account(user), user != contact else { return }
        var presence = presence
        presence.from = user
        presence.to = contact
        var item = account.roster.item(contact)
        switch presence.kind {
        case .subscribe:
            if !item.subscription.includesTo {
                item.isAsking = true
                change(item, of: account)
            }
        case .subscribed:
            guard account.roster.requests.removeValue(forKey: contact) != nil else {
                // RFC 6121 §3.4.2: nobody asked yet, so this is an approval in advance; the contact is not told.
                guard options.offersPreApproval, !item.subscription.includesFrom, !item.isApproved else { return }
                item.isApproved = true
                return change(item, of: account)
            }
            item.subscription = item.subscription.with(from: true)
            change(item, of: account)
            receive(presence)
            return sendPresences(of: account, to: contact, unavailable: false)
        case .unsubscribe:
            item.subscription = item.subscription.with(to: false)
            item.isAsking = false
            change(item, of: account)
        case .unsubscribed:
            account.roster.requests[contact] = nil
            let couldSee = item.subscription.includesFrom
            item.subscription = item.subscription.with(from: false)
            item.isApproved = false
            change(item, of: account)
            receive(presence)
            if couldSee { sendPresences(of: account, to: contact, unavailable: true) }
            return
        case .available, .unavailable, .probe, .error:
            return
        }
        receive(presence)
    }

    /// The contact's side of it. Stanzas to accounts that do not exist vanish (RFC 6121 §8.5.1).
    private func receive(_ presence: Presence) {
        guard let user = presence.from, let contact = presence.to, let account = account(contact) else { return }
        var item = account.roster.item(user)
        switch presence.kind {
        case .subscribe:
            receiveRequest(presence, from: user, item, account)
        case .subscribed:
            // RFC 6121 §3.1.6: an approval that was not asked for changes nothing and is not shown.
            guard item.isAsking else { return }
            item.isAsking = false
            item.subscription = item.subscription.with(to: true)
            tell(account, presence)
            change(item, of: account)
        case .unsubscribe:
            account.roster.requests[user] = nil
            guard item.subscription.includesFrom else { return }
            item.subscription = item.subscription.with(from: false)
            tell(account, presence)
            change(item, of: account)
            sendPresences(of: account, to: user, unavailable: true)
        case .unsubscribed:
            guard item.subscription.includesTo || item.isAsking else { return }
            item.isAsking = false
            item.subscription = item.subscription.with(to: false)
            tell(account, presence)
            change(item, of: account)
        case .available, .unavailable, .probe, .error:
            break
        }
    }

    /// RFC 6121 §3.1.3: answered at once when the answer is known, else shown and kept until there is one.
    private func receiveRequest(_ presence: Presence, from user: JID, _ item: RosterItem, _ account: LoopbackAccount) {
        var approval = Presence(.subscribed, to: user)
        approval.from = account.jid
        if item.subscription.includesFrom {
            receive(approval)
        } else if redeems(presence, invitationOf: account) {
            var item = item
            item.subscription = item.subscription.with(from: true)
            change(item, of: account)
            receive(approval)
            sendPresences(of: account, to: user, unavailable: false)
            // XEP-0379 §3.4: who was invited is asked in turn.
            subscription(Presence(.subscribe, to: user), from: account.jid, to: user)
        } else if item.isApproved {
            var item = item
            item.isApproved = false
            item.subscription = item.subscription.with(from: true)
            change(item, of: account)
            receive(approval)
            sendPresences(of: account, to: user, unavailable: false)
        } else {
            account.roster.requests[user] = presence.element
            tell(account, presence)
        }
    }

    private func tell(_ account: LoopbackAccount, _ presence: Presence) {
        for endpoint in account.available { endpoint.deliver(presence.element) }
    }

    /// Stores an item and pushes it, if it is worth an item at all.
    func change(_ item: RosterItem, of account: LoopbackAccount) {
        let known = account.roster.items[item.jid]
        let isEmpty = item.subscription == .none && !item.isAsking && !item.isApproved
        if known == item || (known == nil && isEmpty) { return }
        account.roster.set(item, for: item.jid)
        push(item.jid, of: account)
    }

    /// Removes a contact, which ends both subscriptions (RFC 6121 §2.5.2).
    func removeContact(_ contact: JID, of account: LoopbackAccount) {
        let item = account.roster.item(contact)
        if item.subscription.includesTo || item.isAsking {
            var farewell = Presence(.unsubscribe, to: contact)
            farewell.from = account.jid
            receive(farewell)
        }
        if item.subscription.includesFrom {
            var farewell = Presence(.unsubscribed, to: contact)
            farewell.from = account.jid
            receive(farewell)
            sendPresences(of: account, to: contact, unavailable: true)
        }
        account.roster.requests[contact] = nil
        account.roster.set(nil, for: contact)
        push(contact, of: account)
    }

    /// Makes two accounts see each other, as if they had asked and approved.
    func befriend(_ one: LoopbackAccount, _ other: LoopbackAccount, name: String? = nil, groups: [String] = []) {
        for (account, contact) in [(one, other), (other, one)] {
            var item = account.roster.item(contact.jid)
            item.subscription = .both
            item.isAsking = false
            if account === one {
                item.name = name ?? item.name
                item.groups = groups.isEmpty ? item.groups : Set(groups).sorted()
            }
            change(item, of: account)
            sendPresences(of: account, to: contact.jid, unavailable: false)
        }
    }
}
