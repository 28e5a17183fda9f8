// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
internal import XMPPXML

extension StreamStateMachine {
    /// How the exchange with these features is carried: with SASL2 wherever it is offered inside TLS (XEP-0388 §4),
    /// unless the older profile offers something better there.
    ///
    /// - Parameters:
    ///   - features: What the server offers, or is believed to.
    ///   - channel: The channel to it.
    ///   - isAnticipated: Whether that is belief alone.
    func profile(
        for features: StreamFeatures, on channel: SecureChannel, isAnticipated: Bool = false
    ) -> SASLProfile {
        guard configuration.usesSASL2, features.offersSASL2, channel.protection == .tls else { return .classic }
        // No session is wanted, nor does one of the same installation end because of this.
        if configuration.authentication.endsToken {
            return .extensible(InlineRequest(userAgent: configuration.userAgent))
        }
        var request = inlineRequest(for: features)
        // XEP-0509 §2.2: a server whose configuration is another one refuses, and no harm is done.
        if isAnticipated { request.configVersion = features.configVersion }
        let modern = SASLProfile.extensible(request)
        guard features.offersSASL else { return modern }
        let selector = SASLMechanismSelector(configuration.authentication, on: channel)
        guard let older = try? selector.select(from: SASLAdvertisement(features, profile: .classic)) else {
            return modern
        }
        do {
            let newer = try selector.select(from: SASLAdvertisement(features, profile: modern))
            return older.strength > newer.strength ? .classic : modern
        } catch {
            // An offer that contradicts itself is not a reason to take the one that hides it.
            return error.cause == .noneUsable || error.cause == .nothingOffered ? .classic : modern
        }
    }

    /// What goes with the authentication.
    private func inlineRequest(for features: StreamFeatures) -> InlineRequest {
        var request = InlineRequest(userAgent: configuration.userAgent)
        let session = configuration.usesStreamManagement ? inheritance.flatMap(StreamManagement.resume) : nil
        if features.offersInlineResumption { request.resume = session }
        // A session that can only be asked for later has to be asked for before anything is bound.
        if features.offersBind2, session == nil || request.resume != nil { request.bind = bindRequest(for: features) }
        return request
    }

    private func bindRequest(for features: StreamFeatures) -> Element {
        var bind = Element("bind", namespace: Namespace.bind2)
        if let tag = configuration.bindTag { bind.append(Element("tag", namespace: Namespace.bind2, text: tag)) }
        let offered = features.bind2Features
        if configuration.usesStreamManagement, offered.contains(Namespace.streamManagement) {
            bind.append(StreamManagement.enableRequest(isResumable: configuration.isResumable))
        }
        bind.append(contentsOf: wanted(offered).map(\.request))
        return bind
    }

    private func wanted(_ offered: Set<String>) -> [InlineFeature] {
        configuration.inlineFeatures.filter { offered.contains($0.name) }
    }

    /// The user is logged in, and the wishes that went along are answered.
    mutating func authenticated(
        _ success: SASL2Success, _ profile: SASLProfile, features: StreamFeatures
    ) -> [StreamAction] {
        guard case .extensible(let request) = profile else { return [] }
        var news: [StreamAction] = []
        if request.resume != nil, let inherited = inheritance {
            // XEP-0198 §9.2: what is resumed is bound already, whatever is said about a binding beside it.
            if let resumed = success.resumed {
                let features = inheritedFeatures ?? features
                maximumOutgoingBytes = features.maximumStanzaBytes
                return self.resumed(resumed, inherited, features)
            }
            guard let known = noteRefusal(success.failed) else { return miscounted(success.failed) }
            news = known
        }
        guard request.bind != nil, let bound = success.bound else {
            // XEP-0388 §2.6.1: features follow at once, and no new stream.
            state = .awaitingFeatures(.authenticated)
            return news
        }
        guard success.address.isFull else {
            return abandon(.bindingFailed(.noFullAddress(success.address.description)))
        }
        let management = bound.children.first {
            $0.namespace == Namespace.streamManagement && ["enabled", "failed"].contains($0.localName)
        }
        state = .awaitingFeatures(
            .bound(
                InlineSession(
                    jid: success.address, management: management,
                    features: Set(wanted(features.bind2Features).map(\.name)))))
        return news
    }

    /// The features of a stream whose session is bound. A server that goes on without them has none to tell.
    mutating func receivedAfterBinding(_ element: Element, _ session: InlineSession) -> [StreamAction] {
        let isFeatures = element.isNamed("features", namespace: Namespace.streams)
        let isOfSession = StreamManagement.isStanza(element) || element.namespace == Namespace.streamManagement
        guard isFeatures || isOfSession else { return [] }
        let features = StreamFeatures(isFeatures ? element : Element("features", namespace: Namespace.streams))
        if let refusal = refuseUnknown(features) { return refusal }
        let news = establish(
            EstablishedSession(jid: session.jid, features: features, inlineFeatures: session.features),
            enabled: session.management)
        return isFeatures ? news : news + receivedInSession(element)
    }
}
