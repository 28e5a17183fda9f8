// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
internal import XMPPXML

extension LoopbackRouter {
    /// Routes a message (RFC 6121 §8.5).
    func route(_ message: Message, from sender: any LoopbackEndpoint) {
        var message = message
        let to = message.to ?? sender.jid.bare
        message.to = to
        if let rooms, to.domainpart == rooms.domain.domainpart {
            let element = message.element
            return rooms.route(message, to: to, from: sender) { bounce(element, $0, to: sender) }
        }
        if to.domainpart != domain.domainpart {
            return bounce(message.element, StanzaError(.remoteServerNotFound, kind: .cancel), to: sender)
        }
        _ = archived(message, of: self.account(sender.jid))
        guard let account = account(to) else { return bounce(message.element, .serviceUnavailable, to: sender) }
        message = archived(message, of: account)
        if let endpoint = endpoint(to) { return endpoint.deliver(message.element) }
        switch message.kind {
        case .chat, .normal:
            deliverToBest(message, of: account, from: sender)
        case .headline:
            for endpoint in account.available where (endpoint.presence?.priority ?? -1) >= 0 {
                endpoint.deliver(message.element)
            }
        case .groupchat:
            bounce(message.element, .serviceUnavailable, to: sender)
        case .error:
            break
        }
    }

    /// Delivers a message that nobody can be told about any more when it cannot be delivered.
    func deliver(_ message: Message, to: JID) {
        guard let account = account(to) else { return }
        let willing = account.available.filter { ($0.presence?.priority ?? -1) >= 0 }
        if willing.isEmpty {
            if account.offline.count < LoopbackAccount.maximumOfflineMessages { store(message, for: account) }
        } else {
            for endpoint in willing { endpoint.deliver(message.element) }
        }
    }

    /// To the resources with the highest priority that is not negative (RFC 6121 §8.5.2.1.1), else into the store.
    private func deliverToBest(_ message: Message, of account: LoopbackAccount, from sender: any LoopbackEndpoint) {
        let willing = account.available.filter { ($0.presence?.priority ?? -1) >= 0 }
        if let best = willing.compactMap(\.presence?.priority).max() {
            for endpoint in willing where endpoint.presence?.priority == best { endpoint.deliver(message.element) }
        } else if options.storesOfflineMessages, account.offline.count < LoopbackAccount.maximumOfflineMessages {
            store(message, for: account)
        } else {
            bounce(message.element, .serviceUnavailable, to: sender)
        }
    }

    /// Keeps a message with the time at which it came (XEP-0203).
    private func store(_ message: Message, for account: LoopbackAccount) {
        var message = message
        message.append(
            Element(
                "delay", namespace: Namespace.delay,
                attributes: ["from": domain.description, "stamp": wallClock().description]))
        account.offline.append(message.element)
    }

    /// Hands over what was kept, to a resource that has just become available with a priority that is not negative.
    func deliverOffline(to endpoint: any LoopbackEndpoint) {
        guard let account = account(endpoint.jid), (endpoint.presence?.priority ?? -1) >= 0 else { return }
        let messages = account.offline
        account.offline = []
        for message in messages { endpoint.deliver(message) }
    }
}
