// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
internal import XMPPProtocol
internal import XMPPXML

/// A roster as it is kept between sessions, for ``XMPPStream/requestRoster(known:)``.
public struct KnownRoster: Sendable, Hashable {
    /// The version that the server gave it (RFC 6121 §2.6).
    public var version: String
    /// The contacts.
    public var items: [RosterItem]

    /// Makes a known roster.
    public init(version: String, items: [RosterItem]) {
        self.version = version
        self.items = items
    }
}

extension XMPPStream {
    /// Asks for the roster, which also makes the server send pushes (RFC 6121 §2.1.3, §2.2). To be done before the
    /// initial presence, so that every presence that arrives can be told from a stranger's.
    ///
    /// - Parameter known: A roster kept from an earlier session: where the server can tell that it is still right,
    ///   nothing is transferred.
    /// - Returns: What the server said; also reported to delegates.
    /// - Throws: ``XMPPError`` as ``request(_:timeout:)``.
    @discardableResult
    public func requestRoster(known: KnownRoster? = nil) async throws(XMPPError) -> RosterUpdate {
        let id = try await askForRoster(known)
        return RosterUpdate(try await answer(to: id, asked: nil), known: known)
    }

    /// Asks for the roster and sends the initial presence, in one flight: what a client does first in a session
    /// (RFC 6121 §2.2, §4.2). The server answers in order, so the roster is there before anybody's presence.
    ///
    /// - Parameters:
    ///   - presence: The presence to send.
    ///   - known: A roster kept from an earlier session.
    /// - Returns: What the server said about the roster; also reported to delegates.
    /// - Throws: ``XMPPError`` as ``request(_:timeout:)``.
    @discardableResult
    public func goOnline(
        _ presence: Presence = Presence(), known: KnownRoster? = nil
    ) async throws(XMPPError) -> RosterUpdate {
        let id = try await askForRoster(known)
        do {
            try await send(presence)
        } catch {
            abandon(id)
            throw error
        }
        return RosterUpdate(try await answer(to: id, asked: nil), known: known)
    }

    private func askForRoster(_ known: KnownRoster?) async throws(XMPPError) -> String {
        var query = Element("query", namespace: Namespace.roster)
        let isVersioned = features?.offersRosterVersioning == true
        if isVersioned { query["ver"] = known?.version ?? "" }
        let id = newStanzaID()
        // Before it is written: the answer may be here before this task goes on.
        let before = rosterRequest
        rosterRequest = RosterRequest(id: id, known: isVersioned ? known : nil)
        do {
            return try await ask(IQ(.get, payload: query), id: id)
        } catch {
            if rosterRequest?.id == id { rosterRequest = before }
            throw error
        }
    }

    /// The answer to the request for the roster.
    func received(roster answer: IQ) {
        let known = rosterRequest?.known
        rosterRequest = nil
        apply(RosterUpdate(answer, known: known), cached: known?.items ?? [])
    }

    /// Adds a contact or changes its name and groups (RFC 6121 §2.3, §2.4). The subscription is not touched.
    ///
    /// - Throws: ``XMPPError`` as ``request(_:timeout:)``.
    public func setRosterItem(_ jid: JID, name: String?, groups: [String] = []) async throws(XMPPError) {
        var item = Element("item", namespace: Namespace.roster, attributes: ["jid": jid.bare.description])
        item["name"] = name
        for group in Set(groups).sorted() {
            item.append(Element("group", namespace: Namespace.roster, text: group))
        }
        try await request(IQ(.set, payload: Element("query", namespace: Namespace.roster, children: [item])))
    }

    /// Removes a contact and both subscriptions (RFC 6121 §2.5).
    ///
    /// - Throws: ``XMPPError`` as ``request(_:timeout:)``.
    public func removeRosterItem(_ jid: JID) async throws(XMPPError) {
        let item = Element(
            "item", namespace: Namespace.roster,
            attributes: ["jid": jid.bare.description, "subscription": "remove"])
        try await request(IQ(.set, payload: Element("query", namespace: Namespace.roster, children: [item])))
    }

    /// Asks to see a contact's presence (RFC 6121 §3.1).
    ///
    /// - Parameters:
    ///   - jid: The contact.
    ///   - status: A text for them.
    ///   - token: What proves their invitation, so that they approve at once (XEP-0379 §3.3).
    /// - Throws: ``XMPPError`` as ``send(_:)-(Presence)``.
    public func requestSubscription(
        to jid: JID, status: String? = nil, invitation token: InvitationToken? = nil
    ) async throws(XMPPError) {
        var request = Presence(.subscribe, status: status, to: jid.bare)
        if let token { request.append(token.element) }
        try await send(request)
    }

    /// Lets a contact see the user's presence; before it has asked, approves its future request where the server can
    /// remember that (RFC 6121 §3.1.4, §3.4).
    public func approveSubscription(of jid: JID) async throws(XMPPError) {
        try await send(Presence(.subscribed, to: jid.bare))
    }

    /// Refuses a contact's request, or no longer lets it see the user's presence (RFC 6121 §3.2).
    public func denySubscription(of jid: JID) async throws(XMPPError) {
        try await send(Presence(.unsubscribed, to: jid.bare))
    }

    /// No longer wants to see a contact's presence (RFC 6121 §3.3).
    public func cancelSubscription(to jid: JID) async throws(XMPPError) {
        try await send(Presence(.unsubscribe, to: jid.bare))
    }

    /// A roster push: from the own account alone, and with exactly one item (RFC 6121 §2.1.6). The route has checked
    /// the sender.
    func received(rosterPush iq: IQ) {
        guard let query = iq.payload, query.children.count == 1,
            let item = query.firstChild("item", namespace: Namespace.roster), let change = try? RosterChange(item)
        else {
            reply(iq.failure(.badRequest))
            return
        }
        reply(iq.result())
        apply(.changed(change, version: query["ver"]), cached: [])
    }

    private func apply(_ update: RosterUpdate, cached: [RosterItem]) {
        report(.roster(update))
        for transition in tracker.received(update, cached: cached) { report(transition) }
    }
}

/// A request for the roster that was sent.
struct RosterRequest {
    let id: String
    /// The roster that the request named by its version.
    let known: KnownRoster?
}

extension RosterUpdate {
    /// What an answer to the request for the roster says: an empty one, that the known version is right
    /// (RFC 6121 §2.6.3).
    fileprivate init(_ answer: IQ, known: KnownRoster?) {
        if let payload = answer.payload, payload.isNamed("query", namespace: Namespace.roster) {
            self = .received(payload.rosterItems, version: payload["ver"])
        } else if let known {
            self = .unchanged(version: known.version)
        } else {
            self = .received([], version: nil)
        }
    }
}

extension Element {
    /// The items of a roster result. One whose address is not a JID is left out, with the rest intact.
    fileprivate var rosterItems: [RosterItem] {
        children("item", namespace: Namespace.roster).compactMap { item in
            guard case .updated(let contact)? = try? RosterChange(item) else { return nil }
            return contact
        }
    }
}
