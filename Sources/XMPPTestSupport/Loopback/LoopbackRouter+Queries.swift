// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
internal import XMPPXML

extension LoopbackRouter {
    private static let discoInfo = "http://jabber.org/protocol/disco#info"
    private static let discoItems = "http://jabber.org/protocol/disco#items"

    /// Routes an IQ (RFC 6121 §8.5, RFC 6120 §8.2.3).
    func route(_ iq: IQ, from sender: any LoopbackEndpoint) {
        guard iq.id != nil, !iq.kind.isRequest || iq.payload != nil else {
            return bounce(iq.element, .badRequest, to: sender)
        }
        let to = iq.to ?? sender.jid.bare
        if let rooms, to.domainpart == rooms.domain.domainpart {
            guard iq.kind.isRequest else { return }
            var answer =
                switch archiveAnswer(iq, ofRoom: to, to: sender) ?? rooms.answer(iq, to: to, from: sender) {
                case .success(let payload): iq.result(payload)
                case .failure(let error): iq.failure(error)
                case nil: iq.failure(.serviceUnavailable)
                }
            answer.from = to
            answer.to = sender.jid
            return sender.deliver(answer.element)
        }
        if to.domainpart != domain.domainpart {
            return bounce(iq.element, StanzaError(.remoteServerNotFound, kind: .cancel), to: sender)
        }
        if to.isFull, to.localpart != nil {
            guard let endpoint = endpoint(to) else { return bounce(iq.element, .serviceUnavailable, to: sender) }
            return endpoint.deliver(iq.element)
        }
        guard iq.kind.isRequest else { return }
        var answer: IQ
        if let outcome = answerAboutAccount(iq, to: to, from: sender) {
            switch outcome {
            case .success(let payload): answer = iq.result(payload)
            case .failure(let error): answer = iq.failure(error)
            }
        } else if let refusal = refusal(of: iq, to: to, from: sender) {
            answer = iq.failure(refusal)
        } else if options.offersArchive, to == sender.jid.bare, iq.kind == .set, let query = iq.payload,
            query.isNamed("query", namespace: Self.archive), let account = account(to)
        {
            // XEP-0059 §2.2: a page that begins nowhere.
            let end = self.answer(archive: query, of: account, to: sender)
            answer = end.map { iq.result($0) } ?? iq.failure(StanzaError(.itemNotFound, kind: .cancel))
        } else if let result = self.answer(iq, to: to, from: sender) {
            answer = iq.result(result.payload)
        } else {
            answer = iq.failure(.serviceUnavailable)
        }
        answer.from = iq.to ?? sender.jid.bare
        answer.to = sender.jid
        sender.deliver(answer.element)
        afterAnswer(iq, to: to, from: sender)
        removeLeaving()
    }

    /// What the archive of a room answers, and that there is one; `nil` for other questions, and where archives are not
    /// offered.
    private func archiveAnswer(
        _ iq: IQ, ofRoom room: JID, to sender: any LoopbackEndpoint
    ) -> Result<Element?, StanzaError>? {
        guard options.offersArchive, let rooms, rooms.halls[room] != nil, let payload = iq.payload else { return nil }
        switch (payload.localName, payload.namespace, iq.kind) {
        case ("query", Self.archive, .set):
            guard let end = answer(archive: payload, ofRoom: room, to: sender) else {
                return .failure(StanzaError(.itemNotFound, kind: .cancel))
            }
            return .success(end)
        case ("query", Self.discoInfo, .get):
            guard case .success(var query?)? = rooms.answer(iq, to: room, from: sender) else { return nil }
            query.append(Element("feature", namespace: Self.discoInfo, attributes: ["var": Self.archive]))
            return .success(query)
        default:
            return nil
        }
    }

    /// An answer that may be empty.
    private struct Answer {
        var payload: Element?
    }

    /// What the server answers for itself or for an account; `nil` when it has no answer.
    private func answer(_ iq: IQ, to: JID, from sender: any LoopbackEndpoint) -> Answer? {
        guard let payload = iq.payload else { return nil }
        let isOwn = to == sender.jid.bare
        switch (payload.localName, payload.namespace, iq.kind) {
        case ("query", Namespace.roster, .get) where isOwn: return roster(payload, of: sender)
        case ("query", Namespace.roster, .set) where isOwn: return Answer()
        case ("session", Namespace.session, .set): return options.legacySession == .absent ? nil : Answer()
        case ("ping", Namespace.ping, .get) where isOwn || to == domain: return options.answersPing ? Answer() : nil
        case ("query", Self.discoInfo, .get) where isOwn || to == domain:
            return options.answersDiscovery ? Answer(payload: information(to)) : nil
        case ("query", Self.discoItems, .get) where isOwn || to == domain:
            return options.answersDiscovery ? Answer(payload: items(of: to)) : nil
        default: return nil
        }
    }

    /// The whole roster; nothing when the client's version is the current one, or what changed follows as pushes
    /// (RFC 6121 §2.6.3).
    private func roster(_ query: Element, of sender: any LoopbackEndpoint) -> Answer? {
        guard let account = account(sender.jid) else { return nil }
        if options.offersRosterVersioning, let known = query["ver"].flatMap(Int.init),
            account.roster.changes(since: known) != nil
        {
            return Answer()
        }
        let withVersion = options.offersRosterVersioning && query["ver"] != nil
        return Answer(payload: account.roster.query(withVersion: withVersion))
    }

    /// What is wrong with a roster set (RFC 6121 §2.3.3); `nil` when nothing is.
    private func refusal(of iq: IQ, to: JID, from sender: any LoopbackEndpoint) -> StanzaError? {
        guard let query = iq.payload, query.isNamed("query", namespace: Namespace.roster) else { return nil }
        guard to == sender.jid.bare else { return StanzaError(.forbidden, kind: .auth) }
        guard iq.kind == .set else { return nil }
        let items = query.children("item", namespace: Namespace.roster)
        guard items.count == 1, let item = items.first, let change = try? RosterChange(item) else { return .badRequest }
        if case .removed(let jid) = change, account(sender.jid)?.roster.items[jid] == nil {
            return StanzaError(.itemNotFound, kind: .modify)
        }
        return nil
    }

    /// What a request brings about, once it is answered.
    private func afterAnswer(_ iq: IQ, to: JID, from sender: any LoopbackEndpoint) {
        guard let query = iq.payload, query.isNamed("query", namespace: Namespace.roster), to == sender.jid.bare,
            let account = account(sender.jid)
        else { return }
        if iq.kind == .get {
            guard options.offersRosterVersioning, let known = query["ver"].flatMap(Int.init) else { return }
            for contact in account.roster.changes(since: known) ?? [] { push(contact, to: sender, of: account) }
        } else if refusal(of: iq, to: to, from: sender) == nil, let item = query.children.first,
            let change = try? RosterChange(item)
        {
            apply(change, to: account)
        }
    }

    private func push(_ contact: JID, to endpoint: any LoopbackEndpoint, of account: LoopbackAccount) {
        let query = account.roster.push(contact, withVersion: true)
        let id = "missed-\(account.roster.version)-\(contact)"
        endpoint.deliver(IQ(.set, to: endpoint.jid, id: id, payload: query).element)
    }

    /// A client names and groups a contact; subscriptions it cannot set (RFC 6121 §2.1.2.5).
    private func apply(_ change: RosterChange, to account: LoopbackAccount) {
        switch change {
        case .removed(let jid):
            removeContact(jid, of: account)
        case .updated(let wanted):
            var item = account.roster.item(wanted.jid)
            item.name = wanted.name
            item.groups = wanted.groups
            account.roster.set(item, for: item.jid)
            push(item.jid, of: account)
        }
    }

    /// What belongs to the server (XEP-0030 §4): its rooms.
    private func items(of to: JID) -> Element {
        var query = Element("query", namespace: Self.discoItems)
        if to == domain, let rooms {
            query.append(Element("item", namespace: Self.discoItems, attributes: ["jid": rooms.domain.description]))
        }
        return query
    }

    /// Identity and features of the server, or of an account (XEP-0030 §3).
    private func information(_ to: JID) -> Element {
        let identity =
            to == domain
            ? ("server", "im", "swift-xmpp loopback server") : ("account", "registered", nil as String?)
        var query = Element("query", namespace: Self.discoInfo)
        query.append(
            Element(
                "identity", namespace: Self.discoInfo,
                attributes: ["category": identity.0, "type": identity.1, "name": identity.2]))
        var features = [Self.discoInfo, Self.discoItems]
        if options.answersPing { features.append(Namespace.ping) }
        if to != domain, options.offersArchive { features += [Self.archive, "urn:xmpp:sid:0"] }
        if to == domain, options.storesOfflineMessages { features.append("msgoffline") }
        for feature in features {
            query.append(Element("feature", namespace: Self.discoInfo, attributes: ["var": feature]))
        }
        return query
    }
}
