// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import XMPP
internal import XMPPStorage

/// `sub …`: who may see whose presence (RFC 6121 §3).
enum SubscriptionMethods {
    /// How long the roster push of a change may take after the server has handled it.
    static let pushWindow: Duration = .milliseconds(300)
    /// What servers announce that let a client look at kept messages one by one (XEP-0013).
    private static let offlineRetrieval = "http://jabber.org/protocol/offline"

    static func request(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        let text = try call.parameters.string("text")
        let isDone: @Sendable (RosterItem?) -> Bool = { $0?.isAsking == true || $0?.subscription.includesTo == true }
        let address = try call.parameters.required("jid")
        if address.lowercased().hasPrefix("xmpp:") {
            let session = try await call.session
            let stream = try await session.withRoster()
            let jid = try await InvitationMethods.accept(address, session, stream)
            _ = try await session.step { () throws(XMPPError) in try await stream.ping() }
            return await outcome(of: jid, session, stream, until: isDone)
        }
        return try await change(call, until: isDone) {
            (stream, jid) throws(XMPPError) in try await stream.requestSubscription(to: jid, status: text)
        }
    }

    static func accept(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        var result = try await change(call, until: isAccepted) {
            (stream, jid) throws(XMPPError) in try await stream.approveSubscription(of: jid)
        }
        let jid = try call.parameters.requiredJID("jid").bare
        let session = try await call.session
        let stream = try await session.withRoster()
        // A server drops an answer to no request without a word (RFC 6121 §3.1.5): the list tells, asked for anew as
        // the push may be late.
        if !isAccepted(await stream.contact(jid)) {
            _ = try await session.step { () throws(XMPPError) in try await stream.requestRoster() }
        }
        let item = await stream.contact(jid)
        guard isAccepted(item), let item else {
            throw ControlError(
                .notFound,
                "no request of \(jid) was waiting, and the server does not remember an answer for later; jabberctl sub "
                    + "pending lists those that wait", account: session.name)
        }
        result["subscription"] = .string(item.subscription.rawValue)
        if !item.subscription.includesFrom { result["preapproved"] = true }
        return result
    }

    /// Whether a contact sees the account, or will as soon as it asks (RFC 6121 §3.4).
    private static func isAccepted(_ item: RosterItem?) -> Bool {
        item?.subscription.includesFrom == true || item?.isApproved == true
    }

    static func deny(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        try await refuse(call)
    }

    static func cancel(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        try await refuse(call)
    }

    /// A request is refused and a permission taken back by the same stanza (RFC 6121 §3.2.1).
    private static func refuse(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        let jid = try call.parameters.requiredJID("jid").bare
        let session = try await call.session
        let stream = try await session.withRoster()
        // To be asked before: afterwards nothing tells whether there was something to refuse (RFC 6121 §3.2.3).
        var isThere = isAccepted(await stream.contact(jid))
        if !isThere { isThere = try await hasAsked(jid, session, stream) }
        let result = try await change(call, until: { $0?.subscription.includesFrom != true }) {
            (stream, jid) throws(XMPPError) in try await stream.denySubscription(of: jid)
        }
        guard isThere else {
            throw ControlError(
                .notFound, "no request of \(jid) was waiting, and \(jid) does not see your presence",
                account: session.name)
        }
        return result
    }

    private static func hasAsked(
        _ jid: JID, _ session: AccountSession, _ stream: XMPPStream
    ) async throws(ControlError) -> Bool {
        if session.notes.requests.contains(where: { $0.jid == jid }) { return true }
        try await gatherRequests(session, stream)
        return session.notes.requests.contains { $0.jid == jid }
    }

    private static func change(
        _ call: MethodCall, until isDone: @escaping @Sendable (RosterItem?) -> Bool,
        _ act: (XMPPStream, JID) async throws(XMPPError) -> Void
    ) async throws(ControlError) -> JSONObject {
        let jid = try call.parameters.requiredJID("jid").bare
        let session = try await call.session
        let stream = try await session.withRoster()
        try await session.step { () throws(XMPPError) in
            try await act(stream, jid)
            try await stream.ping()
        }
        return await outcome(of: jid, session, stream, until: isDone)
    }

    /// How it stands with a contact, once the push is there that a change brings.
    private static func outcome(
        of jid: JID, _ session: AccountSession, _ stream: XMPPStream,
        until isDone: @escaping @Sendable (RosterItem?) -> Bool
    ) async -> JSONObject {
        await session.waitForPush(stream, jid, atMost: pushWindow, isDone)
        await session.answered(jid)
        let item = await stream.contact(jid)
        var result = session.heading
        result["jid"] = .string(jid.description)
        result["subscription"] = .string((item?.subscription ?? .none).rawValue)
        if item?.isAsking == true { result["ask"] = "subscribe" }
        return result
    }

    /// Waits until the server has told of the requests that wait: they come with the initial presence (RFC 6121
    /// §3.1.3).
    private static func gatherRequests(_ session: AccountSession, _ stream: XMPPStream) async throws(ControlError) {
        try await lookForRequests(session, stream)
        let settle: Duration = .milliseconds(OnlineMethod.defaultSettle)
        let start = session.feed.now
        await Race.attempt(within: OnlineMethod.longestWait) { _ = try? await stream.ping() }
        // Requests arrive one behind the other; where one was seen there may be more.
        if session.notes.requests.isEmpty {
            await session.feed.next(after: session.feed.count, atMost: settle)
        } else {
            await session.feed.waitForQuiet(settle, since: start, until: start + OnlineMethod.longestWait)
        }
    }

    static func pending(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        let session = try await call.session
        let stream = try await session.withRoster()
        try await gatherRequests(session, stream)
        let answered = Set(await stream.contacts?.filter(\.subscription.includesFrom).map(\.jid) ?? [])
        var result = session.heading
        result["requests"] = .array(
            session.notes.requests.filter { !answered.contains($0.jid) }.map { request in
                .object(
                    JSONObject(present: [
                        "jid": .string(request.jid.description), "text": request.text.map(JSONValue.string),
                        "at": .string(request.at.description),
                    ]))
            })
        return result
    }

    /// Sends the presence that makes the server tell of requests. Some servers do so only from priority 0 on, which
    /// also makes them send the messages that they have kept, and those would be lost here. Where the server lets a
    /// client ask for kept messages, asking how many there are keeps them where they are (XEP-0013 §2.2), and priority
    /// 0 lasts no longer than the next stanza.
    private static func lookForRequests(
        _ session: AccountSession, _ stream: XMPPStream
    ) async throws(ControlError) {
        let server = session.jid.domain
        let information = try? await stream.discoverInformation(of: server)
        if information?.features.contains(offlineRetrieval) == true,
            (try? await stream.discoverInformation(of: session.jid, node: offlineRetrieval)) != nil
        {
            try await session.step { () throws(XMPPError) in try await stream.send(Presence(priority: 0)) }
        }
        _ = try await session.withPresence()
    }
}
