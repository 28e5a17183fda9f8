// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
internal import XMPPCrypto
internal import XMPPXML

/// What the machine remembers about signs of life.
struct KeepaliveState: Sendable {
    /// The id of the ping that has no answer yet.
    var pingID: String?
    /// Whether something arrived since the keepalive timer was set. The timer is not set anew at each stanza: it looks
    /// at this note when it runs out.
    var sawTraffic = false
}

extension StreamStateMachine {
    /// Takes a first-level element of the established stream. What is neither stanza nor Stream Management is passed
    /// over (RFC 6120 §4.9.3.24 would let us close; nothing is gained by it).
    mutating func receivedInSession(_ element: Element) -> [StreamAction] {
        if StreamManagement.isStanza(element) {
            management.receivedStanza()
            // An answer to our own ping is of interest to nobody else; it counts all the same.
            if isAnswerToPing(element) {
                keepalive.pingID = nil
                management.handledStanza()
                return [.cancel(.answer)] + noteSilence()
            }
            return [.emit(.stanza(element))]
        }
        guard element.namespace == Namespace.streamManagement else { return [] }
        let (wasAwaiting, before) = (management.isAwaitingAcknowledgement, management.unacknowledged)
        switch management.received(element) {
        case .answer(let answer):
            return [.send(answer)]
        case .acknowledged(let h):
            // At once only where that has led on: who acknowledges nothing new would be asked without end.
            let more = management.unacknowledged < before ? burstSent() : []
            let settled: [StreamAction] = wasAwaiting && more.isEmpty ? [.cancel(.answer)] : []
            return settled + [.emit(.acknowledged(h))] + (more.isEmpty ? askLater() : more)
        case .violation(let error):
            return violate(error)
        case .enabled:
            // What went out before the server agreed is asked for like everything else.
            return askLater()
        case .refused, .ignored:
            return wasAwaiting && !management.isAwaitingAcknowledgement ? [.cancel(.answer)] : []
        }
    }

    /// A timer ran out.
    package mutating func timerFired(_ timer: StreamTimer) -> [StreamAction] {
        switch timer {
        case .negotiation:
            guard isNegotiating, !hasEnded else { return [] }
            // During a handshake there is no stream in which anything could be said.
            if case .securing = state { return finish(.timedOut(.negotiation)) + [.abortTransport] }
            // An orderly end would end the session that the server may have resumed already.
            if case .resuming = state { return finish(.timedOut(.negotiation)) + [.abortTransport] }
            if case .authenticating(let negotiation) = state, negotiation.asksToResume {
                return finish(.timedOut(.negotiation)) + [.abortTransport]
            }
            if anticipation?.resumes == true { return finish(.timedOut(.negotiation)) + [.abortTransport] }
            return [.send(StreamError(.connectionTimeout).element)] + abandon(.timedOut(.negotiation))
        case .acknowledgement:
            isAcknowledgementDue = false
            return burstSent()
        case .keepalive:
            return isEstablished ? keepaliveDue() : []
        case .answer:
            guard isEstablished else { return [] }
            return finish(.timedOut(.answer)) + [.abortTransport]
        case .stanza:
            return isEstablished ? stanzaDue() : []
        case .closing:
            guard case .closing(let end) = state else { return [] }
            return finish(end) + [.closeTransport]
        case .certificate:
            return isEstablished || isRegistering ? certificateEnded() : []
        }
    }

    /// What has proven the server does so no longer: the server is told why it is left, and the next handshake shows
    /// whether it has a new certificate (RFC 6120 §13.7.2.3, §4.9.3.16).
    private mutating func certificateEnded() -> [StreamAction] {
        let farewell: [StreamAction] = management.isOn ? [.send(management.answer)] : []
        let reset = StreamError(.reset, text: "the certificate of this stream has expired")
        return farewell + [.send(reset.element)]
            + abandon(.transportEnded("the server's certificate has expired since the stream began"))
    }

    func startKeepalive() -> [StreamAction] {
        switch configuration.keepalive {
        case .off: []
        case .whitespace(let interval), .ping(let interval): [.schedule(.keepalive, after: interval)]
        }
    }

    private mutating func keepaliveDue() -> [StreamAction] {
        defer { keepalive.sawTraffic = false }
        switch configuration.keepalive {
        case .off:
            return []
        case .whitespace:
            return [.sendWhitespace] + startKeepalive()
        case .ping:
            return (keepalive.sawTraffic ? [] : askForSignOfLife()) + startKeepalive()
        }
    }

    /// The connection may be dead although it looks alive: asks now, and not when nothing has come for long.
    package mutating func probe() -> [StreamAction] { isEstablished ? askForSignOfLife() : [] }

    /// Asks by acknowledgement request, or by a ping to the own server where Stream Management is off (RFC 6120
    /// §4.6.3).
    mutating func askForSignOfLife() -> [StreamAction] {
        let deadline = StreamAction.schedule(.answer, after: configuration.timeouts.answer)
        if management.isOn {
            return management.probe().map { [.send($0), deadline] } ?? []
        }
        guard keepalive.pingID == nil else { return [] }
        let id = configuration.random.identifier()
        keepalive.pingID = id
        let ping = IQ(
            .get, to: configuration.account.domain, id: id,
            payload: Element("ping", namespace: Namespace.ping))
        return [.send(ping.element), deadline]
    }

    /// The server has answered a ping that was sent behind `<enable/>`, and done things in order (RFC 6120 §10.1):
    /// where it has said nothing to that, it will not. Otherwise who has much to send would wait for its
    /// acknowledgements for ever.
    private mutating func noteSilence() -> [StreamAction] {
        guard management.isUndecided else { return [] }
        let sent = management.sent
        management = StreamManagement()
        return [.emit(.acknowledged(sent))]
    }

    private func isAnswerToPing(_ element: Element) -> Bool {
        guard let id = keepalive.pingID, element.localName == "iq", element["id"] == id,
            element["type"] == "result" || element["type"] == "error"
        else { return false }
        guard let from = element["from"].flatMap({ try? JID($0) }) else { return element["from"] == nil }
        return from == configuration.account.domain || from == configuration.account
    }
}
