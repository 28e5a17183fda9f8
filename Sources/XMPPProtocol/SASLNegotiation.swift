// SPDX-License-Identifier: Apache-2.0

package import XMPPCore
package import XMPPCrypto
package import XMPPXML

/// Who to authenticate as, and what is allowed.
package struct SASLAuthentication: Sendable {
    /// What there is to log in with.
    package var credentials: SASLCredentials
    /// What the account allows.
    package var policy: SASLPolicy
    /// A token of an earlier login; it is tried first.
    package var token: LoginToken?
    /// Whether to ask for tokens; only for who keeps them.
    package var wantsToken = false
    /// Whether the token is used to end it (XEP-0484 §3.6): nothing else logs in then.
    package var endsToken = false
    /// The wall-clock time at which the connection was made: tokens that have ended by then are none. `nil` believes in
    /// all.
    package var time: DateTime?

    /// Makes it.
    package init(credentials: SASLCredentials, policy: SASLPolicy = SASLPolicy()) {
        self.credentials = credentials
        self.policy = policy
    }
}

/// The exchange of `<auth/>`, `<challenge/>`, `<response/>` and `<success/>` (RFC 6120 §6.4), or the same with the
/// words of XEP-0388.
package struct SASLNegotiation: Sendable {
    /// What to do next.
    package enum Outcome: Sendable, Equatable {
        /// This is to be sent.
        case send(Element)
        /// This is to be worked out, where nothing else waits for it, and told to ``SASLNegotiation/derived(_:for:)``.
        case derive(SCRAMKeyDerivation)
        /// The user is authenticated, and so is the server where the mechanism can do that; with what XEP-0388 brings.
        case succeeded(mechanism: String, SASL2Success?)
        /// It failed; `abort` is to be sent before the stream ends.
        case failed(StreamEnd, abort: Element?)
    }

    /// The most mechanisms that are tried one after another when the server rejects one as such.
    private static let maximumAttempts = 3

    /// How the exchange is carried.
    package let profile: SASLProfile
    /// What the server offers, or is believed to.
    private(set) var features: StreamFeatures
    /// The channel to it.
    let channel: SecureChannel
    /// Whether the features turned out to be others than the exchange was begun for.
    private var isSuperseded = false
    private let account: JID
    let authentication: SASLAuthentication
    private let selector: SASLMechanismSelector
    private let nonces: [String]
    /// The whole offer, as XEP-0474 hashes it.
    private let offer: SASLAdvertisement
    /// Mechanisms that the server offered and then refused as such.
    private var refused: Set<SASLMechanismName> = []
    private var mechanism: (any SASLMechanism)?
    /// What was offered to be done after the exchange, and how far that is.
    var upgrade = SASLUpgrade()
    /// The challenge that is answered when its keys have been worked out.
    private var unanswered: (challenge: [UInt8], work: SCRAMKeyDerivation)?
    /// What the exchange is bound to; `nil` for nothing.
    private(set) var channelBinding: ChannelBindingType?
    private let bindings: [ChannelBindingData]
    /// How many mechanisms have been tried.
    private var attempts = 0
    /// Whether the attempt that is under way is the one with the token.
    private var usesToken = false
    /// Whether the server has refused the token.
    private(set) var hasLostToken = false
    /// The mechanism that a new token was asked for.
    private var requestedToken: SASLMechanismName?

    /// Makes a negotiation for the features of a protected stream.
    ///
    /// - Parameters:
    ///   - configuration: Who to authenticate as, and where nonces come from.
    ///   - channel: The proof that credentials may be sent.
    ///   - features: What the server offers.
    ///   - profile: How the exchange is carried.
    package init(
        _ configuration: StreamConfiguration, on channel: SecureChannel, features: StreamFeatures,
        profile: SASLProfile = .classic
    ) {
        self.profile = profile
        self.features = features
        account = configuration.account
        authentication = configuration.authentication
        offer = SASLAdvertisement(features, profile: profile)
        self.channel = channel
        bindings = channel.channelBindings
        nonces = (0..<Self.maximumAttempts).map { _ in configuration.random.identifier() }
        selector = SASLMechanismSelector(authentication, on: channel)
    }

    /// The mechanism in use; empty before the first.
    package var mechanismName: String { mechanism?.name.rawValue ?? "" }

    /// Whether the server may resume an earlier session when this succeeds.
    var asksToResume: Bool {
        if case .extensible(let request) = profile { request.resume != nil } else { false }
    }

    /// Whether the server was told which configuration is relied on (XEP-0509).
    var reliesOnVersion: Bool {
        if case .extensible(let request) = profile { request.configVersion != nil } else { false }
    }

    /// Whether the exchange so far tells nobody the password, however the server has changed.
    var hidesPassword: Bool { usesToken || mechanismName.hasPrefix("SCRAM-") }

    /// The exchange, now that it is known what the server really offers.
    func confirmed(by features: StreamFeatures, isSame: Bool) -> SASLNegotiation {
        var copy = self
        copy.features = features
        copy.isSuperseded = !isSame
        return copy
    }

    /// Whether an element is the server's refusal to go on because its configuration has changed: that says nothing
    /// about credentials (XEP-0509 §2.2).
    func isOutdated(by element: Element) -> Bool {
        reliesOnVersion && element.isNamed("failure", namespace: Namespace.sasl2)
            && element.firstChild("config-version-mismatch", namespace: Namespace.initialPipelining) != nil
    }

    /// Chooses a mechanism and begins.
    package mutating func start() -> Outcome {
        guard !authentication.endsToken else {
            return attemptWithToken() ?? .failed(.noMechanism("it does not take the token any more"), abort: nil)
        }
        return attemptWithToken() ?? attempt(0)
    }

    /// Begins with the token of an earlier login; `nil` where there is none that this server, channel and time take.
    private mutating func attemptWithToken() -> Outcome? {
        guard profile != .classic, case .account(let account) = authentication.credentials,
            let token = authentication.token, token.isValid(at: authentication.time),
            features.tokenMechanisms.contains(token.mechanism.rawValue),
            var mechanism = HashedTokenMechanism(token, username: account.username, bindings: bindings),
            let initial = try? mechanism.start()
        else { return nil }
        guard mechanism.channelBinding != nil || sufficesUnbound(account) else { return nil }
        self.mechanism = mechanism
        channelBinding = mechanism.channelBinding
        usesToken = true
        var fast = Element("fast", namespace: Namespace.fast, attributes: ["count": String(token.count)])
        if authentication.endsToken { fast["invalidate"] = "true" }
        return .send(profile.opening(mechanism.name, initial: initial, wishes: [fast]))
    }

    /// Whether a token that is bound to no channel will do: not where a login was bound before, since somebody in
    /// between may have seen to it that this one is not; and not where the server has tokens by now that are, and there
    /// is a password to get one with (XEP-0484 §6).
    private func sufficesUnbound(_ account: SASLAccount) -> Bool {
        if authentication.policy.hasUsedChannelBinding, !authentication.policy.allowsWeakerLogin { return false }
        if authentication.endsToken { return true }
        let better = HashedTokenMechanism.best(
            of: features.tokenMechanisms, bindings: bindings, insistsOnBinding: true)
        return better == nil || (account.password == nil && account.keys == nil)
    }

    /// Asks for a token that is bound to the channel if this login is.
    private mutating func tokenRequest(_ selection: SASLSelection) -> [Element] {
        guard authentication.wantsToken, selection.name != .anonymous else { return [] }
        var insistsOnBinding = authentication.policy.hasUsedChannelBinding
        if case .bound = selection.binding { insistsOnBinding = true }
        requestedToken = HashedTokenMechanism.best(
            of: features.tokenMechanisms, bindings: bindings, insistsOnBinding: insistsOnBinding)
        return requestedToken.map {
            [Element("request-token", namespace: Namespace.fast, attributes: ["mechanism": $0.rawValue])]
        } ?? []
    }

    /// The token in a success: the one that was asked for, or one in place of that which was used (XEP-0484 §3.5). One
    /// that has ended already is none.
    func token(in success: SASL2Success) -> LoginToken? {
        guard !authentication.endsToken, let element = success.token, let text = element["token"], !text.isEmpty,
            let mechanism = usesToken ? authentication.token?.mechanism : requestedToken,
            let expiry = element["expiry"].flatMap(DateTime.init)
        else { return nil }
        let token = LoginToken(mechanism: mechanism, bytes: Array(text.utf8), expiry: expiry)
        return token.isValid(at: authentication.time) ? token : nil
    }

    private mutating func attempt(_ number: Int) -> Outcome {
        attempts = number + 1
        unanswered = nil
        let remaining = SASLAdvertisement(
            mechanisms: offer.mechanisms.filter { !refused.contains($0) },
            channelBindingTypes: offer.channelBindingTypes, isSASL2: offer.isSASL2)
        let selection: SASLSelection
        do {
            selection = try selector.select(from: remaining)
        } catch {
            let reason = "\(error)"
            return .failed(
                error.concernsChannelBinding ? .channelBindingContradicted(reason) : .noMechanism(reason), abort: nil)
        }
        do {
            var mechanism = try selection.makeMechanism(
                credentials: authentication.credentials, advertisement: offer, tlsVersion: channel.tlsVersion,
                nonce: nonces[number])
            let initial = try mechanism.start()
            self.mechanism = mechanism
            channelBinding = selection.binding.type
            return .send(
                profile.opening(
                    selection.name, initial: initial, wishes: tokenRequest(selection) + upgradeRequest(selection)))
        } catch {
            return .failed(.noMechanism("\(selection.name.rawValue) cannot be used: \(error)"), abort: nil)
        }
    }

    /// Takes a first-level element.
    package mutating func received(_ element: Element) -> Outcome {
        guard !isSuperseded else { return broken("the server goes on although it has changed what it offers") }
        guard element.namespace == profile.namespace,
            element.children.isEmpty || profile.allowsChildren(in: element)
        else { return broken("the server sent <\(element.localName)/> during authentication") }
        switch element.localName {
        case "challenge": return challenged(element.text)
        case "success": return succeeded(element)
        case "failure": return refused(SASLFailure(element))
        case "continue" where profile != .classic: return asked(for: element)
        case "task-data" where profile != .classic: return received(taskData: element)
        default: return broken("the server sent <\(element.localName)/> during authentication")
        }
    }

    private mutating func challenged(_ text: String) -> Outcome {
        do throws(SASLError) {
            let challenge = try SASLPayload.decode(text)
            // RFC 6120 §6.4.3: a challenge is answered before the next one comes.
            guard let current = mechanism, unanswered == nil else { throw .unexpectedMessage }
            if let work = try current.derivation(for: challenge) {
                unanswered = (challenge, work)
                return .derive(work)
            }
            return try answer(challenge)
        } catch {
            return broken("\(error)")
        }
    }

    private mutating func answer(_ challenge: [UInt8]) throws(SASLError) -> Outcome {
        guard var current = mechanism else { throw .unexpectedMessage }
        let answer = try current.respond(to: challenge)
        mechanism = current
        return .send(Element("response", namespace: profile.namespace, text: SASLPayload.encode(answer)))
    }

    /// The keys that were asked for have been worked out, or could not be.
    ///
    /// - Returns: `nil` when nothing waits for them any more.
    package mutating func derived(
        _ outcome: Result<SCRAMKeyMaterial, CryptoError>, for work: SCRAMKeyDerivation
    ) -> Outcome? {
        if let outcome = upgraded(outcome, for: work) { return outcome }
        guard let (challenge, expected) = unanswered, expected == work else { return nil }
        unanswered = nil
        do throws(SASLError) {
            switch outcome {
            case .success(let keys): mechanism?.take(keys)
            case .failure(let error): throw .crypto(error)
            }
            return try answer(challenge)
        } catch {
            return broken("\(error)")
        }
    }

    /// The keys of a login that has succeeded: worth keeping for the next.
    package var keyMaterial: SCRAMKeyMaterial? { mechanism?.keyMaterial }

    /// Success is believed only when the mechanism says that the server has proven itself (RFC 5802 §5).
    private mutating func succeeded(_ element: Element) -> Outcome {
        do throws(SASLError) {
            let data = try profile.additionalData(of: element)
            try finish(with: data)
        } catch {
            guard usesToken else {
                return .failed(.serverNotAuthenticated("\(error)", mechanism: mechanismName), abort: nil)
            }
            // Whether the server has lost the token or somebody else sits there: it is of no use any more, and the next
            // login goes by the password.
            hasLostToken = true
            let reason = "it does not prove that it has the token of an earlier login, which is forgotten now"
            return .failed(.serverNotAuthenticated(reason, mechanism: mechanismName), abort: nil)
        }
        guard profile != .classic else { return .succeeded(mechanism: mechanismName, nil) }
        // XEP-0388 §2.6.1: without the identity nobody knows whose session it is.
        guard let success = try? SASL2Success(element) else {
            return .failed(
                .serverNotAuthenticated("the server does not say who is logged in", mechanism: mechanismName),
                abort: nil)
        }
        guard success.address.domain == account.domain else {
            return .failed(.bindingFailed(.foreignDomain(success.address)), abort: nil)
        }
        return .succeeded(mechanism: mechanismName, success)
    }

    /// The server claims that the exchange is done. Where it has proven itself before a further step, nothing is left
    /// to prove.
    mutating func finish(with data: [UInt8]?) throws(SASLError) {
        if upgrade.isExchangeOver {
            guard data == nil, !upgrade.isUnderWay else { throw .unexpectedMessage }
            return
        }
        guard var current = mechanism else { throw .unexpectedMessage }
        try current.succeed(with: data)
        mechanism = current
    }

    /// The server asks for a further step (XEP-0388 §2.6.3). Only one that was offered to it is taken: one that it
    /// thinks of itself may ask for the password.
    private mutating func asked(for element: Element) -> Outcome {
        let tasks = element.firstChild("tasks", namespace: Namespace.sasl2)?.children.map(\.text) ?? []
        if let outcome = begin(upgrades: tasks, element) { return outcome }
        let names =
            tasks.isEmpty
            ? "a further step" : tasks.prefix(SASLSelectionError.maximumRejections).joined(separator: ", ")
        return .failed(.noMechanism("the server asks for \(names), which this client does not do"), abort: abort)
    }

    /// A refusal of the mechanism itself leads to the next of ours; a refusal of the credentials is final, so that a
    /// wrong password is tried once (RFC 6120 §6.4.5).
    private mutating func refused(_ failure: SASLFailure) -> Outcome {
        if usesToken, failure.condition != .temporaryAuthFailure {
            // XEP-0484 §4.1: a token that is refused is worth nothing more, and says nothing about the password.
            usesToken = false
            hasLostToken = true
            guard authentication.endsToken else { return attempt(0) }
            return .failed(.authenticationRefused(failure, mechanism: mechanismName), abort: nil)
        }
        switch failure.condition {
        case .invalidMechanism, .mechanismTooWeak:
            guard attempts < Self.maximumAttempts, let current = mechanism?.name else { break }
            refused.insert(current)
            let next = attempt(attempts)
            if case .send = next { return next }
        default: break
        }
        return .failed(.authenticationRefused(failure, mechanism: mechanismName), abort: nil)
    }

    func broken(_ reason: String) -> Outcome {
        .failed(.serverNotAuthenticated(reason, mechanism: mechanismName), abort: abort)
    }

    private var abort: Element { Element("abort", namespace: profile.namespace) }
}

extension SASLAdvertisement {
    /// What a stream's features offer for one profile.
    init(_ features: StreamFeatures, profile: SASLProfile) {
        let isSASL2 = profile != .classic
        self.init(
            mechanisms: (isSASL2 ? features.sasl2Mechanisms : features.mechanisms).map(SASLMechanismName.init),
            channelBindingTypes: features.channelBindings?.map(ChannelBindingType.init), isSASL2: isSASL2)
    }
}

extension SASLMechanismSelector {
    /// A selector for what an account has and allows on a channel.
    init(_ authentication: SASLAuthentication, on channel: SecureChannel) {
        self.init(
            credentials: authentication.credentials,
            security: channel.protection == .tls ? .verifiedTLS : .permittedLoopback,
            bindings: channel.channelBindings, policy: authentication.policy)
    }
}
