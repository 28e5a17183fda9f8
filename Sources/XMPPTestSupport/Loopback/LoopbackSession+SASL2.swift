// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
internal import XMPPCrypto
internal import XMPPProtocol
internal import XMPPXML

extension LoopbackSession {
    /// A request of XEP-0388 that is under way.
    struct ExtensibleRequest {
        /// The name of the installation; `nil` when it was not told.
        var userAgent: String?
        var resume: Element?
        var bind: Element?
        /// The mechanism that a token is wanted for (XEP-0484 §3.2).
        var wantedToken: String?
        /// The mechanism of the token that is used.
        var usedToken: String?
        /// The steps that the client offers to do (XEP-0480 §2.2), without those that are done.
        var upgrades: [String]
        /// The step that is under way.
        var upgrade: LoopbackUpgrade?

        init(_ authenticate: Element) {
            userAgent = authenticate.firstChild("user-agent", namespace: Namespace.sasl2)?["id"]
            resume = authenticate.firstChild("resume", namespace: Namespace.streamManagement)
            bind = authenticate.firstChild("bind", namespace: Namespace.bind2)
            wantedToken = authenticate.firstChild("request-token", namespace: Namespace.fast)?["mechanism"]
            upgrades = authenticate.children("upgrade", namespace: Namespace.saslUpgrade).map(\.text)
            // XEP-0484 §3.6: nothing comes in place of a token that is ended.
            if let fast = authenticate.firstChild("fast", namespace: Namespace.fast), !Self.endsToken(fast) {
                usedToken = authenticate["mechanism"]
            }
        }

        /// Whether a token is shown for the last time (XEP-0484 §3.6).
        static func endsToken(_ fast: Element) -> Bool { ["1", "true"].contains(fast["invalidate"]) }
    }

    /// What SASL2 offers (XEP-0388 §2.1); inside TLS only.
    var sasl2Feature: Element? {
        let options = router.options
        guard isSecure, options.offersSASL2 else { return nil }
        var feature = Element("authentication", namespace: Namespace.sasl2)
        for name in offeredMechanisms { feature.append(Element("mechanism", namespace: Namespace.sasl2, text: name)) }
        var inline = Element("inline", namespace: Namespace.sasl2)
        if options.offersBind2 {
            var bind = Element("bind", namespace: Namespace.bind2)
            let names = (options.offersStreamManagement ? [Namespace.streamManagement] : []) + options.bind2Features
            let features = names.map { Element("feature", namespace: Namespace.bind2, attributes: ["var": $0]) }
            if !features.isEmpty { bind.append(Element("inline", namespace: Namespace.bind2, children: features)) }
            inline.append(bind)
        }
        if options.offersStreamManagement { inline.append(Element("sm", namespace: Namespace.streamManagement)) }
        if let tokenFeature { inline.append(tokenFeature) }
        for name in options.upgrades {
            feature.append(Element("upgrade", namespace: Namespace.saslUpgrade, text: "UPGR-\(name)"))
        }
        if !inline.children.isEmpty { feature.append(inline) }
        return feature
    }

    /// Takes what a client sends to authenticate with SASL2.
    func negotiateExtensible(_ element: Element) {
        switch element.localName {
        case "authenticate":
            guard isSecure, router.options.offersSASL2 else { return fail(StreamError(.notAuthorized)) }
            extensible = ExtensibleRequest(element)
            if let relied = element.firstChild("config-version", namespace: Namespace.initialPipelining),
                relied["value"] != router.options.configurationVersion
            {
                return refuseExtensible(
                    .aborted, Element("config-version-mismatch", namespace: Namespace.initialPipelining))
            }
            if let failure = router.options.authenticationFailure { return refuseExtensible(failure) }
            let response = element.firstChild("initial-response", namespace: Namespace.sasl2)
            let initial = response.map { Base64.decode($0.text) }
            // Base64 that is none is no answer at all (XEP-0388 §2.2).
            if case .some(nil) = initial { return refuseExtensible(.incorrectEncoding) }
            if let fast = element.firstChild("fast", namespace: Namespace.fast) {
                return answerExtensible(
                    loginWithToken(
                        element["mechanism"] ?? "", initial: (initial ?? nil) ?? [],
                        count: fast["count"].flatMap(UInt32.init), userAgent: extensible?.userAgent,
                        endingIt: ExtensibleRequest.endsToken(fast)))
            }
            var fresh = makeAuthenticator()
            let step = fresh.start(element["mechanism"] ?? "", initial: initial ?? nil) { router.account(named: $0) }
            authenticator = fresh
            answerExtensible(step)
        case "response":
            guard extensible != nil, var current = authenticator else { return refuseExtensible(.malformedRequest) }
            guard let bytes = Base64.decode(element.text) else { return refuseExtensible(.incorrectEncoding) }
            let step = current.respond(bytes) { router.account(named: $0) }
            authenticator = current
            answerExtensible(step)
        case "next", "task-data":
            upgrade(element)
        case "abort":
            refuseExtensible(.aborted)
        default:
            fail(StreamError(.notAuthorized))
        }
    }

    private func answerExtensible(_ step: LoopbackAuthenticator.Step) {
        switch step {
        case .challenge(let bytes):
            send(Element("challenge", namespace: Namespace.sasl2, text: Base64.encode(bytes)))
        case .failure(let condition):
            refuseExtensible(condition)
        case .success(let account, let data):
            guard let jid = account ?? anonymousAccount() else { return refuseExtensible(.temporaryAuthFailure) }
            proceedExtensible(jid, data: data)
        }
    }

    func refuseExtensible(_ condition: SASLFailure.Condition, _ detail: Element? = nil) {
        authenticator = nil
        extensible = nil
        let reasons = [Element(condition.rawValue, namespace: Namespace.sasl), detail].compactMap { $0 }
        send(Element("failure", namespace: Namespace.sasl2, children: reasons))
    }

    /// The client is who it says; what it asked for is done before it hears of that (XEP-0388 §2.6.1).
    func succeedExtensible(_ jid: JID, data: [UInt8]?) {
        guard let request = extensible else { return }
        authenticator = nil
        extensible = nil
        address = jid
        parser.limits = .session
        phase = .binding
        var success = Element("success", namespace: Namespace.sasl2)
        if let data {
            success.append(Element("additional-data", namespace: Namespace.sasl2, text: Base64.encode(data)))
        }
        var wasResumed = false
        if let resume = request.resume {
            let answer = resumption(resume)
            success.append(answer)
            wasResumed = answer.localName == "resumed"
        }
        if phase == .ended { return }
        if !wasResumed, let bind = request.bind, router.options.offersBind2 {
            guard let bound = bindExtensible(bind, userAgent: request.userAgent) else {
                return fail(StreamError(.conflict))
            }
            success.append(bound)
        }
        if let token = freshToken(for: request) { success.append(token) }
        success.append(
            Element("authorization-identifier", namespace: Namespace.sasl2, text: self.jid.description))
        write(success)
        // XEP-0198 §9.2: a session that goes on needs no features.
        if wasResumed { writePending() } else { write(features) }
    }

    /// Binds a resource that begins with the client's tag and stays the same for its installation (XEP-0386 §3.2.1).
    private func bindExtensible(_ bind: Element, userAgent: String?) -> Element? {
        let tag = bind.firstChild("tag", namespace: Namespace.bind2)?.text ?? ""
        let digest = userAgent.flatMap { try? Digest.sha256.hash($0) } ?? SecureRandom().bytes(16)
        let made = String(Base64.encode(Array(digest.prefix(9))).map { $0 == "/" || $0 == "+" ? "-" : $0 })
        guard let full = try? address?.bare.withResource(tag.isEmpty ? made : "\(tag)/\(made)"),
            let bound = resolveConflict(full)
        else { return nil }
        address = bound
        phase = .bound
        router.connect(self)
        var answer = Element("bound", namespace: Namespace.bind2)
        if let request = bind.firstChild("enable", namespace: Namespace.streamManagement),
            router.options.offersStreamManagement
        {
            answer.append(enabled(request))
        }
        return answer
    }
}
