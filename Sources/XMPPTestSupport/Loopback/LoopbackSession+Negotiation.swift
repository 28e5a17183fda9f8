// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
internal import XMPP
internal import XMPPCore
internal import XMPPCrypto
internal import XMPPProtocol
internal import XMPPTransport
internal import XMPPXML

extension LoopbackSession {
    /// Answers a stream header (RFC 6120 §4.7) with one of ours and the features, or with the error it deserves.
    func open(_ header: Element, _ contentNamespace: String) {
        var answer =
            framing == .document
            ? Element("stream", namespace: Namespace.streams) : Element("open", namespace: Namespace.framing)
        answer["from"] = router.domain.description
        answer["id"] = SecureRandom().identifier()
        answer["version"] = "1.0"
        answer.language = "en"
        guard let bytes = try? framing.opening(answer) else { return abort() }
        transport.send(bytes)
        if !header.isNamed("stream", namespace: Namespace.streams) || contentNamespace != Namespace.client {
            return fail(StreamError(.invalidNamespace))
        }
        guard let to = header["to"].flatMap({ try? JID($0) }), to == router.domain else {
            return fail(StreamError(.hostUnknown))
        }
        guard header["version"]?.hasPrefix("1.") == true else { return fail(StreamError(.unsupportedVersion)) }
        if router.options.redirectedStreams > 0, isSecure || router.options.redirectsInTheClear { return sendOn() }
        phase = address == nil ? .negotiating : .binding
        send(features)
    }

    /// Sends the client on to another place.
    private func sendOn() {
        router.options.redirectedStreams -= 1
        let place = router.options.redirection
        guard framing == .messages else {
            var error = StreamError(.seeOtherHost)
            error.conditionText = place
            return fail(error)
        }
        write(Element("close", namespace: Namespace.framing, attributes: ["see-other-uri": place]))
        phase = .ended
        transport.close()
        leave()
    }

    /// What is offered now (RFC 6120 §4.3.2).
    var features: Element {
        let options = router.options
        var features = Element("features", namespace: Namespace.streams)
        if address != nil {
            if phase != .bound { features.append(Element("bind", namespace: Namespace.bind)) }
            if options.legacySession != .absent {
                var session = Element("session", namespace: Namespace.session)
                if options.legacySession == .optional {
                    session.append(Element("optional", namespace: Namespace.session))
                }
                features.append(session)
            }
            if options.offersStreamManagement { features.append(Element("sm", namespace: Namespace.streamManagement)) }
            if options.offersClientState { features.append(Element("csi", namespace: ClientState.namespace)) }
            if options.offersRosterVersioning { features.append(Element("ver", namespace: Namespace.rosterVersioning)) }
            if options.offersPreApproval { features.append(Element("sub", namespace: Namespace.preApproval)) }
            return features
        }
        if offersStartTLS {
            var startTLS = Element("starttls", namespace: Namespace.startTLS)
            if !options.allowsPlaintext { startTLS.append(Element("required", namespace: Namespace.startTLS)) }
            features.append(startTLS)
        }
        if isSecure || options.allowsPlaintext { features.append(contentsOf: mechanismFeatures) }
        features.append(contentsOf: registrationFeatures)
        return features
    }

    private var offersStartTLS: Bool { !isSecure && router.options.offersStartTLS && context != nil }

    /// The mechanisms that make sense on the channel as it is.
    var offeredMechanisms: [String] {
        router.options.mechanisms.filter { name in
            name == "EXTERNAL" ? certifiedAccount != nil : isSecure || !name.hasSuffix("-PLUS")
        }
    }

    /// The account that the client's certificate names (XEP-0178 §2).
    private var certifiedAccount: LoopbackAccount? {
        let names = channel?.certificates.first?.names ?? []
        return names.lazy.compactMap { name in
            guard case .xmppAddress(let bytes) = name,
                let jid = try? JID(String(decoding: bytes, as: UTF8.self)), jid.domain == self.router.domain
            else {
                return nil
            }
            return jid.localpart.flatMap { self.router.account(named: $0) }
        }.first
    }

    private var mechanismFeatures: [Element] {
        let mechanisms = offeredMechanisms
        var list = Element("mechanisms", namespace: Namespace.sasl)
        for name in mechanisms { list.append(Element("mechanism", namespace: Namespace.sasl, text: name)) }
        var version = Element("config-version", namespace: Namespace.initialPipelining)
        version["value"] = router.options.configurationVersion
        let name = version["value"] == nil || !isSecure ? nil : version
        let lists = [sasl2Feature, name, router.options.offersSASL1 ? list : nil].compactMap { $0 }
        guard mechanisms.contains(where: { $0.hasSuffix("-PLUS") }) else { return lists }
        var types = Element("sasl-channel-binding", namespace: Namespace.saslChannelBinding)
        for type in bindings.keys.map(\.rawValue).sorted() {
            types.append(
                Element("channel-binding", namespace: Namespace.saslChannelBinding, attributes: ["type": type]))
        }
        return lists + [types]
    }

    var bindings: [ChannelBindingType: [UInt8]] {
        var bindings: [ChannelBindingType: [UInt8]] = [:]
        bindings[.tlsExporter] = channel?.exporterBinding
        bindings[.tlsServerEndPoint] = channel?.serverEndPointBinding
        return bindings
    }

    /// Takes what a client sends before it is authenticated.
    func negotiate(_ element: Element, rest: inout ArraySlice<UInt8>) {
        switch (element.localName, element.namespace) {
        case ("starttls", Namespace.startTLS):
            guard offersStartTLS else {
                // RFC 6120 §5.4.2.2.
                send(Element("failure", namespace: Namespace.startTLS))
                return close()
            }
            send(Element("proceed", namespace: Namespace.startTLS))
            let pending = Array(rest)
            rest = []
            secure(.startTLS(pendingInput: pending))
        case ("auth", Namespace.sasl):
            authenticate(element)
        case ("response", Namespace.sasl):
            guard let bytes = Self.payload(element), var current = authenticator else {
                return refuse(authenticator == nil ? .malformedRequest : .incorrectEncoding)
            }
            let step = current.respond(bytes) { router.account(named: $0) }
            authenticator = current
            answer(step)
        case ("abort", Namespace.sasl):
            refuse(.aborted)
        case (_, Namespace.sasl2):
            negotiateExtensible(element)
        case ("iq", Namespace.client) where register(element):
            break
        default:
            // RFC 6120 §4.9.3.12: stanzas have to wait for authentication.
            fail(StreamError(.notAuthorized))
        }
    }

    private func authenticate(_ element: Element) {
        let options = router.options
        guard isSecure || options.allowsPlaintext else { return refuse(.encryptionRequired) }
        guard options.offersSASL1 else { return refuse(.invalidMechanism) }
        if let failure = options.authenticationFailure { return refuse(failure) }
        let initial: [UInt8]?
        switch element.text {
        case "": initial = nil
        default:
            guard let bytes = Self.payload(element) else { return refuse(.incorrectEncoding) }
            initial = bytes
        }
        var fresh = makeAuthenticator()
        let step = fresh.start(element["mechanism"] ?? "", initial: initial) { router.account(named: $0) }
        authenticator = fresh
        answer(step)
    }

    /// The server's side of a new exchange.
    func makeAuthenticator() -> LoopbackAuthenticator {
        LoopbackAuthenticator(
            mechanisms: offeredMechanisms, iterations: router.options.iterations, bindings: bindings,
            certified: certifiedAccount?.jid,
            tlsVersion: router.options.tellsTLSVersion ? channel?.versionNumber : nil)
    }

    /// Base64, where `=` stands for nothing (RFC 6120 §6.4.2).
    private static func payload(_ element: Element) -> [UInt8]? {
        element.text == "=" || element.text.isEmpty ? [] : Base64.decode(element.text)
    }

    private func answer(_ step: LoopbackAuthenticator.Step) {
        switch step {
        case .challenge(let bytes):
            send(Element("challenge", namespace: Namespace.sasl, text: bytes.isEmpty ? "=" : Base64.encode(bytes)))
        case .failure(let condition):
            refuse(condition)
        case .success(let account, let data):
            guard let jid = account ?? anonymousAccount() else { return refuse(.temporaryAuthFailure) }
            authenticator = nil
            send(Element("success", namespace: Namespace.sasl, text: data.map { Base64.encode($0) } ?? ""))
            address = jid
            restart()
        }
    }

    /// An account for one guest (RFC 4505).
    func anonymousAccount() -> JID? {
        try? router.addAccount("guest-\(SecureRandom().identifier())", password: nil).jid
    }

    private func refuse(_ condition: SASLFailure.Condition) {
        authenticator = nil
        send(
            Element(
                "failure", namespace: Namespace.sasl,
                children: [Element(condition.rawValue, namespace: Namespace.sasl)]))
    }
}
