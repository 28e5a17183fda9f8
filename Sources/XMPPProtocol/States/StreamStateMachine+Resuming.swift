// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
internal import XMPPXML

extension StreamStateMachine {
    /// Asks for the session of an earlier connection (XEP-0198 §5); `nil` where there is none, or the server does not
    /// do that any more.
    mutating func resume(_ features: StreamFeatures) -> [StreamAction]? {
        guard let inheritance, let request = StreamManagement.resume(inheritance) else { return nil }
        guard configuration.usesStreamManagement, features.offersStreamManagement else {
            self.inheritance?.id = nil
            return nil
        }
        state = .resuming(features)
        return [.send(request)]
    }

    /// The answer to `<resume/>`. Nothing else may come before it.
    mutating func receivedResuming(_ element: Element, _ features: StreamFeatures) -> [StreamAction] {
        guard element.namespace == Namespace.streamManagement, let inheritance else { return [] }
        switch element.localName {
        case "resumed": return resumed(element, inheritance, features)
        case "failed": return noteRefusal(element).map { $0 + bind(features) } ?? miscounted(element)
        default: return []
        }
    }

    mutating func resumed(
        _ element: Element, _ inherited: StreamState, _ features: StreamFeatures
    ) -> [StreamAction] {
        // XEP-0198 §5: both attributes are required. Without them nobody knows what to repeat.
        guard let h = StreamManagement.count(element), element["previd"] == inherited.id else {
            inheritance?.id = nil
            return abandon(.transportEnded("the server resumed a session without saying which, or how far it was"))
        }
        guard var management = StreamManagement(resuming: inherited, handledByServer: h) else {
            return violate(StreamManagement.tooHigh(h: h, sent: inherited.sent))
        }
        let doubted = leavesDoubted ? management.takeMessages() : []
        unsettled += doubted
        self.management = management
        inheritance = nil
        boundAddress = inherited.jid
        state = .established
        let repeated = management.pending.map { StreamAction.send($0.element) }
        return [.cancel(.negotiation)] + passingOver + startKeepalive()
            + [.emit(.resumed(EstablishedSession(jid: inherited.jid, features: features))), .emit(.acknowledged(h))]
            + (doubted.isEmpty ? [] : [.emit(.doubted)]) + repeated + burstSent()
    }

    /// The session is gone, for whatever reason or none: it is asked for once, and a new one comes in its place.
    ///
    /// - Parameter element: `<failed/>`, where the server sent one.
    /// - Returns: What is known through it; `nil` when the server claims more than was sent.
    mutating func noteRefusal(_ element: Element?) -> [StreamAction]? {
        inheritance?.id = nil
        guard let element else { return [] }
        refusal = element.children.first { $0.namespace == Namespace.stanzaErrors }
            .map { StanzaError.Condition(rawValue: $0.localName) }
        // XEP-0198 §5: the server may still know what it has handled.
        guard let h = StreamManagement.count(element), inheritance != nil else { return [] }
        guard inheritance?.acknowledge(h) == true else { return nil }
        isRefusalCounted = true
        return [.emit(.acknowledged(h))]
    }

    /// The server's refusal claims more than was sent (XEP-0198 §4).
    mutating func miscounted(_ element: Element?) -> [StreamAction] {
        let h = element.flatMap(StreamManagement.count) ?? 0
        return violate(StreamManagement.tooHigh(h: h, sent: inheritance?.sent ?? 0))
    }

    /// Repeats in a new session the messages that the server of the old one has not acknowledged. Presences and
    /// requests are not repeated: they may say what is no longer so.
    mutating func repeatInheritance(
        in session: EstablishedSession
    ) -> (news: [StreamAction], repeated: [StreamAction]) {
        guard let inherited = inheritance else { return ([], []) }
        inheritance = nil
        var report = FailedResumption(condition: refusal, isCertain: isRefusalCounted)
        var repeated: [StreamAction] = []
        for pending in inherited.unacknowledged {
            guard pending.element.localName == "message", let message = try? Message(pending.element) else {
                report.dropped.append(pending.element)
                continue
            }
            report.repeated.append(message)
            guard !leavesRepeating, !(leavesRoomMessages && message.kind == .groupchat) else {
                unsettled.append(pending)
                continue
            }
            let element = pending.repeated(from: session.jid)
            management.sent(element, at: pending.sentAt)
            repeated.append(.send(element))
        }
        return ([.emit(.notResumed(report))], repeated)
    }

    /// What the end of this connection leaves. An orderly end leaves nothing; an error that says that somebody else has
    /// the session now leaves nothing either; one that shows that the two sides have counted differently leaves the
    /// stanzas, but not the session (XEP-0198 §4, §5).
    func remains(after end: StreamEnd) -> StreamState? {
        guard var remains = resumableState else { return nil }
        let hadSession: Bool
        let wasResuming: Bool
        switch state {
        case .established, .closing: (hadSession, wasResuming) = (true, false)
        case .resuming: (hadSession, wasResuming) = (false, true)
        case .authenticating(let negotiation): (hadSession, wasResuming) = (false, negotiation.asksToResume)
        case .idle, .opening, .awaitingFeatures, .startingTLS, .securing, .registering, .binding, .ended:
            (hadSession, wasResuming) = (false, false)
        }
        switch end {
        case .closed where hadSession:
            return nil
        case .streamError(let error) where error.condition == .conflict:
            return nil
        case .closedByServer where hadSession, .violation:
            remains.id = nil
        case .streamError where wasResuming:
            remains.id = nil
        case .streamError(let error) where error.condition == .policyViolation && remains.largestBytes != nil:
            // What is too large for the server is repeated at each resumption, and would cost one connection after
            // another.
            remains.id = nil
        case .closed, .closedByServer, .streamError, .tlsUnavailable, .noMechanism, .channelBindingContradicted,
            .authenticationRefused, .serverNotAuthenticated, .bindingFailed, .timedOut, .transportEnded:
            break
        }
        return remains.isEmpty ? nil : remains
    }
}
