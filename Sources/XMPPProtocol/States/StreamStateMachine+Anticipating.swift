// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
internal import XMPPXML

extension StreamStateMachine {
    /// What was sent together with a stream header, before the features that allow it.
    enum Anticipation: Sendable {
        /// The request for TLS.
        case startTLS
        /// The begin of an authentication.
        case authentication(SASLNegotiation)
        /// A request for a session, and the state that its answer is for.
        case session(State)

        /// Whether the server may take up an earlier session because of it.
        var resumes: Bool {
            switch self {
            case .startTLS: false
            case .authentication(let negotiation): negotiation.asksToResume
            case .session(.resuming): true
            case .session: false
            }
        }
    }

    /// What can be sent at once because the server offered it at the last login. Nothing else is sent than would be
    /// sent a round trip later, and no password: what hides it alone can be sent to a server before it is heard.
    mutating func anticipate(_ layer: Layer) -> [StreamAction] {
        guard let expected = configuration.expected else { return [] }
        switch layer {
        case .unprotected: return anticipateTLS(expected.beforeTLS)
        case .protected(let channel): return anticipateLogin(expected.beforeLogin, channel)
        case .authenticated: return anticipateSession(expected.session)
        case .bound: return []
        }
    }

    private mutating func anticipateTLS(_ features: StreamFeatures?) -> [StreamAction] {
        guard let features, features.offersStartTLS else { return [] }
        anticipate(.startTLS)
        return [.send(Element("starttls", namespace: Namespace.startTLS))]
    }

    private mutating func anticipateLogin(_ features: StreamFeatures?, _ channel: SecureChannel) -> [StreamAction] {
        guard let features, channel.protection == .tls, !features.offersStartTLS else { return [] }
        var negotiation = SASLNegotiation(
            configuration, on: channel, features: features,
            profile: profile(for: features, on: channel, isAnticipated: true))
        guard case .send(let element) = negotiation.start(), negotiation.hidesPassword else { return [] }
        anticipate(.authentication(negotiation))
        return [.send(element)]
    }

    private mutating func anticipateSession(_ features: StreamFeatures?) -> [StreamAction] {
        guard let features, features.offersBind, features.unknownRequired.isEmpty,
            inheritance?.id == nil || features.offersStreamManagement
        else { return [] }
        let opening = state
        let request = startSession(features)
        anticipate(.session(state))
        state = opening
        return request
    }

    private mutating func anticipate(_ anticipation: Anticipation) {
        self.anticipation = anticipation
        hasAnticipated = true
    }

    /// The features have come that something was sent in view of.
    mutating func confirm(
        _ anticipation: Anticipation, _ features: StreamFeatures, _ layer: Layer
    ) -> [StreamAction] {
        self.anticipation = nil
        switch (anticipation, layer) {
        case (.startTLS, .unprotected) where features.offersStartTLS:
            state = .startingTLS
            return []
        case (.authentication(let negotiation), .protected):
            let isSame = features.leadToTheSameLogin(as: negotiation.features)
            // A server that was told which configuration is relied on refuses by itself, and the login is begun anew.
            guard isSame || negotiation.reliesOnVersion else {
                return giveUpAnticipation(resumes: anticipation.resumes)
            }
            state = .authenticating(negotiation.confirmed(by: features, isSame: isSame))
            return []
        case (.session(let begun), .authenticated):
            return confirmSession(begun, features, resumes: anticipation.resumes)
        case (.startTLS, _), (.authentication, _), (.session, _):
            return giveUpAnticipation(resumes: anticipation.resumes)
        }
    }

    private mutating func confirmSession(
        _ begun: State, _ features: StreamFeatures, resumes: Bool
    ) -> [StreamAction] {
        if let refusal = refuseUnknown(features) { return refusal }
        switch begun {
        case .resuming(let expected) where features.leadToTheSameSession(as: expected):
            state = .resuming(features)
        case .binding(let binding, let expected) where features.leadToTheSameSession(as: expected):
            state = .binding(binding, features)
        case .idle, .opening, .awaitingFeatures, .startingTLS, .securing, .authenticating, .registering, .resuming,
            .binding,
            .established, .closing, .ended:
            return giveUpAnticipation(resumes: resumes)
        }
        return []
    }

    /// The server is not what it was: the connection is given up, and another one begins without relying on anything.
    /// Where the server may have taken up the session, an orderly end would end that too.
    private mutating func giveUpAnticipation(resumes: Bool) -> [StreamAction] {
        let end = StreamEnd.transportEnded("the server does not offer what it offered at the last login")
        return resumes ? finish(end) + [.abortTransport] : abandon(end)
    }
}
