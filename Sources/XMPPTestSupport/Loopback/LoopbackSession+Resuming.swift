// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
internal import XMPPCore
internal import XMPPCrypto
internal import XMPPProtocol
internal import XMPPXML

extension LoopbackSession {
    /// Switches Stream Management on, with a promise to keep the session where the options say so (XEP-0198 §3).
    func enable(_ request: Element) {
        send(enabled(request))
    }

    /// Switches Stream Management on.
    ///
    /// - Returns: The answer.
    func enabled(_ request: Element) -> Element {
        let isPromised = router.options.resumption != .notOffered && ["true", "1"].contains(request["resume"])
        let id = isPromised ? SecureRandom().identifier() : nil
        acknowledgements.enable(id: id)
        var answer = Element("enabled", namespace: Namespace.streamManagement)
        if let id {
            answer["id"] = id
            answer["resume"] = "true"
            if case .kept(let time) = router.options.resumption { answer["max"] = String(time.components.seconds) }
        }
        return answer
    }

    /// Whether the client was promised that the session outlives its connection.
    var isResumable: Bool { phase == .bound && acknowledgements.id != nil }

    /// The connection ends without the end of the stream.
    func giveUpConnection() {
        transport.abort()
        lose()
    }

    /// The connection is gone without the end of the stream: the session may wait for another one (XEP-0198 §5).
    func lose() {
        guard isResumable, let id = acknowledgements.id else {
            phase = .ended
            return leave()
        }
        switch router.options.resumption {
        case .kept(let time):
            phase = .hibernating
            router.hibernating[id] = self
            mailbox.hibernated(time)
        case .refusedWithCount:
            router.noteEnd(of: id, handled: acknowledgements.handled)
            endWithoutConnection()
        case .refused, .refusedStrangely, .notOffered:
            endWithoutConnection()
        }
    }

    private func endWithoutConnection() {
        phase = .ended
        leave()
        reroutePending()
    }

    /// Ends without a trace.
    func vanish() {
        phase = .ended
        if address?.isFull == true { router.disconnect(self) }
    }

    /// What never arrived goes where it would have gone without this session.
    func reroutePending() {
        // What a room says is for who is in it, not for an account (RFC 6121 §8.5.2.1.3).
        let messages = acknowledgements.takePending().filter {
            $0.localName == "message" && $0["type"] != "error" && $0["type"] != "groupchat"
                && (router.options.reroutesArchivedMessages
                    || $0.firstChild("stanza-id", namespace: "urn:xmpp:sid:0") == nil)
        }
        for message in messages { router.reroute(message) }
    }

    /// Nobody came for the session in time.
    func expire() {
        guard phase == .hibernating, let id = acknowledgements.id else { return }
        router.hibernating[id] = nil
        router.noteEnd(of: id, handled: acknowledgements.handled)
        endWithoutConnection()
    }

    /// A client asks for a session before it binds a resource.
    func resume(_ request: Element) {
        let answer = resumption(request)
        guard phase != .ended else { return }
        write(answer)
        if answer.localName == "resumed" { writePending() }
    }

    /// Takes over the session that a client asks for.
    ///
    /// - Returns: The answer: whether that went well.
    func resumption(_ request: Element) -> Element {
        let id = request["previd"] ?? ""
        if router.options.resumption == .refusedStrangely {
            return Element("failed", namespace: Namespace.streamManagement, attributes: ["h": "many"])
        }
        let failed = Element(
            "failed", namespace: Namespace.streamManagement,
            attributes: ["h": router.handledByEndedSession[id].map(String.init)],
            children: [Element("item-not-found", namespace: Namespace.stanzaErrors)])
        guard let old = router.sleeper(id), old.jid.bare == address?.bare, let h = request["h"].flatMap(UInt32.init)
        else { return failed }
        guard old.acknowledgements.acknowledged(h) else {
            fail(StreamError(.undefinedCondition))
            return failed
        }
        take(over: old)
        return Element(
            "resumed", namespace: Namespace.streamManagement,
            attributes: ["h": String(acknowledgements.handled), "previd": id])
    }

    /// Sends again what the client of a resumed session has not got.
    func writePending() {
        for stanza in acknowledgements.pending { write(stanza) }
    }

    /// Becomes the session that was on another connection, in the eyes of everybody.
    private func take(over old: LoopbackSession) {
        if let id = old.acknowledgements.id { router.hibernating[id] = nil }
        address = old.address
        acknowledgements = old.acknowledgements
        presence = old.presence
        isInterested = old.isInterested
        directed = old.directed
        old.phase = .ended
        old.transport.abort()
        old.mailbox.ended(nil)
        phase = .bound
        parser.limits = .session
        router.connect(self)
        router.rooms?.replace(old, by: self)
    }
}

extension LoopbackRouter {
    /// Deals with what is in the server's hands.
    func letGo() {
        let sessions = holding
        holding = []
        for session in sessions { session.letGo() }
    }

    /// How many ended sessions are remembered; 1,000.
    private static let maximumEndedSessions = 1_000

    /// Remembers how many stanzas a session had handled when it ended.
    func noteEnd(of id: String, handled: UInt32) {
        if handledByEndedSession.count >= Self.maximumEndedSessions { handledByEndedSession = [:] }
        handledByEndedSession[id] = handled
    }

    /// The session with this name, if it waits for its client, or still has a connection of which only the client knows
    /// that it is lost.
    func sleeper(_ id: String) -> LoopbackSession? {
        if let known = hibernating[id] { return known }
        guard case .kept = options.resumption else { return nil }
        return accounts.values.lazy.flatMap(\.endpoints.values).compactMap { $0 as? LoopbackSession }
            .first { $0.acknowledgements.id == id }
    }
}
