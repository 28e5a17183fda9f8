// SPDX-License-Identifier: Apache-2.0

internal import XMPP
internal import XMPPCore
internal import XMPPCrypto
internal import XMPPProtocol
internal import XMPPXML

extension LoopbackSession {
    /// Takes what a client sends between authentication and binding (RFC 6120 §7).
    func bind(_ element: Element) {
        if element.isNamed("enable", namespace: Namespace.streamManagement) { return failEnable() }
        if element.isNamed("resume", namespace: Namespace.streamManagement) { return resume(element) }
        guard let iq = try? IQ(element), iq.kind == .set, iq.id != nil, let request = iq.payload,
            request.isNamed("bind", namespace: Namespace.bind)
        else {
            // RFC 6120 §7.1: nothing but the request is allowed here.
            return fail(StreamError(.notAuthorized))
        }
        let wanted = request.firstChild("resource", namespace: Namespace.bind)?.text ?? ""
        let resource = wanted.isEmpty ? "loopback-\(SecureRandom().identifier())" : wanted
        guard let bare = address, let full = try? bare.withResource(resource) else {
            return send(iq.failure(.badRequest).element)
        }
        guard let bound = resolveConflict(full) else {
            return send(iq.failure(StanzaError(.conflict, kind: .cancel)).element)
        }
        address = bound
        phase = .bound
        parser.limits = .session
        router.connect(self)
        var result = Element("bind", namespace: Namespace.bind)
        result.append(Element("jid", namespace: Namespace.bind, text: bound.description))
        send(iq.result(result).element)
    }

    /// The JID to bind when another session may have it already; `nil` to refuse (RFC 6120 §7.7.2.2).
    func resolveConflict(_ full: JID) -> JID? {
        guard let other = router.endpoint(full) else { return full }
        switch router.options.resourceConflict {
        case .refusesNew:
            return nil
        case .renamesNew:
            return try? full.withResource("\(full.resourcepart ?? "")-\(SecureRandom().identifier())")
        case .replacesOld:
            other.end(StreamError(.conflict))
            return full
        }
    }

    /// Takes a first-level element of an established stream.
    func take(_ element: Element) {
        if element.namespace == Namespace.streamManagement { return manage(element) }
        if router.options.offersClientState, element.namespace == ClientState.namespace { return }
        guard element.namespace == Namespace.client, ["message", "presence", "iq"].contains(element.localName) else {
            return fail(StreamError(.unsupportedStanzaType))
        }
        if !held.isEmpty || router.options.holdsMessages && element.localName == "message" {
            if held.isEmpty { router.options.holdingTime.map(mailbox.holds) ?? router.holding.append(self) }
            return held.append(element)
        }
        deal(with: element)
        if element.localName == "message" { router.letGo() }
    }

    /// Deals with what the server has in its hands. In a session that has gone on elsewhere nothing counts any more.
    func letGo() {
        let stanzas = held
        held = []
        for stanza in stanzas { deal(with: stanza) }
    }

    private func deal(with element: Element) {
        acknowledgements.received()
        // RFC 6120 §8.1.2.1: a client speaks for itself only.
        if let from = element["from"], let jid = try? JID(from), jid != address, jid != address?.bare {
            return fail(StreamError(.invalidFrom))
        }
        if element.localName == "iq", element["type"] == "get",
            element.firstChild("query", namespace: Namespace.roster) != nil
        {
            isInterested = true
        }
        router.route(element, from: self)
    }

    /// Stream Management (XEP-0198 §3, §4).
    private func manage(_ element: Element) {
        switch element.localName {
        case "enable":
            guard router.options.offersStreamManagement, !acknowledgements.isOn else { return failEnable() }
            enable(element)
        case "r":
            guard acknowledgements.isOn, router.options.answersAcknowledgementRequests else { return }
            send(
                Element(
                    "a", namespace: Namespace.streamManagement, attributes: ["h": String(acknowledgements.handled)]))
        case "a":
            if !acknowledgements.acknowledged(element["h"].flatMap(UInt32.init)) {
                fail(StreamError(.undefinedCondition))
            }
        default:
            send(
                Element(
                    "failed", namespace: Namespace.streamManagement,
                    children: [Element("item-not-found", namespace: Namespace.stanzaErrors)]))
        }
    }

    private func failEnable() {
        send(
            Element(
                "failed", namespace: Namespace.streamManagement,
                children: [Element("unexpected-request", namespace: Namespace.stanzaErrors)]))
    }
}
