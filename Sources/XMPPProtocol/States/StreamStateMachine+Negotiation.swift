// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
package import XMPPCrypto
internal import XMPPXML

extension StreamStateMachine {
    /// Features, or something that must not be there yet.
    mutating func receivedAwaitingFeatures(_ element: Element, _ layer: Layer) -> [StreamAction] {
        if case .bound(let session) = layer {
            if element.isNamed("features", namespace: Namespace.streams) { offered.session = StreamFeatures(element) }
            return receivedAfterBinding(element, session)
        }
        guard element.isNamed("features", namespace: Namespace.streams) else { return unexpected(element, layer) }
        let features = StreamFeatures(element)
        let announcement: [StreamAction] = hasAnnouncedConnection ? [] : [.emit(.connected)]
        hasAnnouncedConnection = true
        note(features, layer)
        if let anticipation { return announcement + confirm(anticipation, features, layer) }
        switch layer {
        case .unprotected: return announcement + startTLS(features)
        case .protected(let channel): return announcement + authenticate(features, channel)
        case .authenticated, .bound: return startSession(features)
        }
    }

    /// Remembers what the server offers.
    private mutating func note(_ features: StreamFeatures, _ layer: Layer) {
        switch layer {
        case .unprotected: offered.beforeTLS = features
        case .protected: offered.beforeLogin = features
        case .authenticated, .bound: offered.session = features
        }
    }

    /// An element where features are due. Before authentication it is no stanza (RFC 6120 §4.3.5), and a result that
    /// was not asked for is an attempt to skip a step; both end the connection. Afterwards it is passed over.
    private mutating func unexpected(_ element: Element, _ layer: Layer) -> [StreamAction] {
        switch layer {
        case .bound: return []
        case .authenticated: return []
        case .unprotected, .protected:
            return abandon(
                layer == .unprotected
                    ? .tlsUnavailable("the server sent <\(element.localName)/> before TLS")
                    : .serverNotAuthenticated("the server sent <\(element.localName)/> unasked", mechanism: ""))
        }
    }

    /// TLS first, whether it is called optional or not (RFC 7590 §3.1).
    private mutating func startTLS(_ features: StreamFeatures) -> [StreamAction] {
        guard features.offersStartTLS else {
            return abandon(.tlsUnavailable("the server does not offer STARTTLS"))
        }
        state = .startingTLS
        return [.send(Element("starttls", namespace: Namespace.startTLS))]
    }

    /// Only `<proceed/>` leads on (RFC 6120 §5.4.2); a second set of features is passed over.
    mutating func receivedStartingTLS(_ element: Element) -> [StreamAction] {
        if element.isNamed("proceed", namespace: Namespace.startTLS) {
            state = .securing
            return [.startTLS]
        }
        if element.isNamed("features", namespace: Namespace.streams) { return [] }
        return abandon(.tlsUnavailable("the server answered <\(element.localName)/> to the request for TLS"))
    }

    private mutating func authenticate(_ features: StreamFeatures, _ channel: SecureChannel) -> [StreamAction] {
        // RFC 6120 §5.3.4: inside TLS it must not be offered again. On loopback in the clear it may be.
        guard channel.protection == .loopback || !features.offersStartTLS else {
            return abandon(.tlsUnavailable("the server offers STARTTLS inside TLS"))
        }
        // Where the server can do TLS, the permission to go without is not used.
        if channel.protection == .loopback && features.offersStartTLS { return startTLS(features) }
        if configuration.isForRegistration { return beginRegistering(features) }
        var negotiation = SASLNegotiation(
            configuration, on: channel, features: features, profile: profile(for: features, on: channel))
        return follow(negotiation.start(), negotiation)
    }

    /// SASL goes on. No stanza may come in between (RFC 6120 §6.3.5).
    mutating func receivedAuthenticating(_ element: Element, _ negotiation: SASLNegotiation) -> [StreamAction] {
        var negotiation = negotiation
        if negotiation.isOutdated(by: element) { return authenticate(negotiation.features, negotiation.channel) }
        return follow(negotiation.received(element), negotiation)
    }

    /// The keys that ``StreamAction/deriveKeys(_:)`` asked for have been worked out, or could not be.
    package mutating func keysDerived(
        _ outcome: Result<SCRAMKeyMaterial, CryptoError>, for work: SCRAMKeyDerivation
    ) -> [StreamAction] {
        guard case .authenticating(var negotiation) = state, let next = negotiation.derived(outcome, for: work)
        else { return [] }
        return follow(next, negotiation)
    }

    private mutating func follow(
        _ outcome: SASLNegotiation.Outcome, _ negotiation: SASLNegotiation
    ) -> [StreamAction] {
        var hadToken = false
        if case .authenticating(let before) = state { hadToken = !before.hasLostToken }
        let news: [StreamAction] = hadToken && negotiation.hasLostToken ? [.emit(.token(nil))] : []
        if case .succeeded = outcome {
            channelBinding = negotiation.channelBinding
            scramKeys = negotiation.keyMaterial
        }
        switch outcome {
        case .derive(let work):
            state = .authenticating(negotiation)
            return news + [.deriveKeys(work)]
        case .send(let element):
            state = .authenticating(negotiation)
            return news + [.send(element)]
        case .succeeded(let mechanism, nil):
            return [.emit(.authenticated(mechanism: mechanism))] + open(.authenticated)
        case .succeeded(let mechanism, _?) where negotiation.authentication.endsToken:
            return [
                .cancel(.negotiation), .emit(.authenticated(mechanism: mechanism)), .emit(.token(nil)),
                .emit(.tokenEnded),
            ]
                + end(with: .closed)
        case .succeeded(let mechanism, let success?):
            let token: [StreamAction] = negotiation.token(in: success).map { [.emit(.token($0))] } ?? []
            return [.emit(.authenticated(mechanism: mechanism)), .limit(configuration.sessionLimits)] + token
                + authenticated(success, negotiation.profile, features: negotiation.features)
        case .failed(let end, let abort):
            return news + (abort.map { [.send($0)] } ?? []) + abandon(end)
        }
    }

    /// The features of the authenticated stream: an earlier session is taken up before anything is bound (XEP-0198 §5).
    mutating func startSession(_ features: StreamFeatures) -> [StreamAction] {
        refuseUnknown(features) ?? resume(features) ?? bind(features)
    }

    /// Takes the features of the authenticated stream; `nil` when a session can be had with them.
    mutating func refuseUnknown(_ features: StreamFeatures) -> [StreamAction]? {
        // RFC 6120 §4.3.2: a feature that is required and unknown means that no session can be had here.
        if let unknown = features.unknownRequired.first {
            return violate(StreamError(.unsupportedFeature, text: "\(unknown) is not supported"))
        }
        maximumOutgoingBytes = features.maximumStanzaBytes
        return nil
    }

    mutating func bind(_ features: StreamFeatures) -> [StreamAction] {
        guard features.offersBind else {
            return abandon(.bindingFailed(.noFullAddress(nil)))
        }
        var binding = ResourceBinding(
            account: configuration.account, resource: configuration.resource,
            requiresSession: features.requiresSession,
            identifiers: (0..<3).map { _ in configuration.random.identifier() })
        let request = binding.start()
        state = .binding(binding, features)
        return [.send(request)]
    }

    mutating func receivedBinding(
        _ element: Element, _ binding: ResourceBinding, _ features: StreamFeatures
    ) -> [StreamAction] {
        var binding = binding
        let outcome = binding.received(element)
        switch outcome {
        case .ignored: return []
        case .send(let request):
            state = .binding(binding, features)
            return [.send(request)]
        case .failed(let failure):
            return abandon(.bindingFailed(failure))
        case .bound(let jid):
            return establish(EstablishedSession(jid: jid, features: features))
        }
    }

    /// The session can be used at once: `<enable/>` goes first, and its answer costs no round trip of its own. Where
    /// the binding has brought that answer already, nothing has to be sent.
    mutating func establish(_ session: EstablishedSession, enabled answer: Element? = nil) -> [StreamAction] {
        state = .established
        boundAddress = session.jid
        let isManageable =
            configuration.usesStreamManagement && (session.features.offersStreamManagement || answer != nil)
        var enable: [StreamAction] = []
        if isManageable {
            let request = management.enable(isResumable: configuration.isResumable)
            if let answer { _ = management.received(answer) } else { enable = [.send(request)] }
        }
        let (news, repeated) = repeatInheritance(in: session)
        return [.cancel(.negotiation)] + passingOver + enable + startKeepalive() + news
            + [.emit(.established(session))] + repeated
    }
}
