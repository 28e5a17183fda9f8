// SPDX-License-Identifier: Apache-2.0

package import XMPPCore
internal import XMPPCrypto
package import XMPPXML

/// Who to authenticate as, and what is allowed.
package struct SASLAuthentication: Sendable {
    /// What there is to log in with.
    package var credentials: SASLCredentials
    /// What the account allows.
    package var policy: SASLPolicy

    /// Makes it.
    package init(credentials: SASLCredentials, policy: SASLPolicy = SASLPolicy()) {
        self.credentials = credentials
        self.policy = policy
    }
}

/// The exchange of `<auth/>`, `<challenge/>`, `<response/>` and `<success/>` (RFC 6120 §6.4), or the same with the words of
/// XEP-0388.
package struct SASLNegotiation: Sendable {
    /// What to do next.
    package enum Outcome: Sendable, Equatable {
        /// This is to be sent.
        case send(Element)
        /// The user is authenticated, and so is the server where the mechanism can do that; with what XEP-0388 brings.
        case succeeded(mechanism: String, SASL2Success?)
        /// It failed; `abort` is to be sent before the stream ends.
        case failed(StreamEnd, abort: Element?)
    }

    /// How the exchange is carried.
    package let profile: SASLProfile
    /// What the server offered.
    let features: StreamFeatures
    private let account: JID
    private let authentication: SASLAuthentication
    private let selector: SASLMechanismSelector
    private let nonces: [String]
    /// The whole offer, as XEP-0474 hashes it.
    private let offer: SASLAdvertisement
    /// Mechanisms that the server offered and then refused as such.
    private var refused: Set<SASLMechanismName> = []
    private var mechanism: (any SASLMechanism)?

    /// The most mechanisms that are tried one after another when the server rejects one as such.
    private static let maximumAttempts = 3

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
        nonces = (0..<Self.maximumAttempts).map { _ in configuration.random.identifier() }
        selector = SASLMechanismSelector(authentication, on: channel)
    }

    /// The mechanism in use; empty before the first.
    package var mechanismName: String { mechanism?.name.rawValue ?? "" }

    /// Whether the server may resume an earlier session when this succeeds.
    var asksToResume: Bool {
        if case .extensible(let request) = profile { request.resume != nil } else { false }
    }

    /// Chooses a mechanism and begins.
    package mutating func start() -> Outcome {
        attempt(0)
    }

    private var attempts = 0

    private mutating func attempt(_ number: Int) -> Outcome {
        attempts = number + 1
        let remaining = SASLAdvertisement(
            mechanisms: offer.mechanisms.filter { !refused.contains($0) },
            channelBindingTypes: offer.channelBindingTypes, isSASL2: offer.isSASL2)
        let selection: SASLSelection
        do {
            selection = try selector.select(from: remaining)
        } catch {
            return .failed(.noMechanism("\(error)"), abort: nil)
        }
        do {
            var mechanism = try selection.makeMechanism(
                credentials: authentication.credentials, advertisement: offer, nonce: nonces[number])
            let initial = try mechanism.start()
            self.mechanism = mechanism
            return .send(profile.opening(selection.name, initial: initial))
        } catch {
            return .failed(.noMechanism("\(selection.name.rawValue) cannot be used: \(error)"), abort: nil)
        }
    }

    /// Takes a first-level element.
    package mutating func received(_ element: Element) -> Outcome {
        guard element.namespace == profile.namespace,
            element.children.isEmpty || profile.allowsChildren(in: element)
        else { return broken("the server sent <\(element.localName)/> during authentication") }
        switch element.localName {
        case "challenge": return challenged(element.text)
        case "success": return succeeded(element)
        case "failure": return refused(SASLFailure(element))
        case "continue" where profile != .classic: return asked(for: element)
        default: return broken("the server sent <\(element.localName)/> during authentication")
        }
    }

    private mutating func challenged(_ text: String) -> Outcome {
        do throws(SASLError) {
            let challenge = try SASLPayload.decode(text)
            guard var current = mechanism else { throw .unexpectedMessage }
            let answer = try current.respond(to: challenge)
            mechanism = current
            return .send(Element("response", namespace: profile.namespace, text: SASLPayload.encode(answer)))
        } catch {
            return broken("\(error)")
        }
    }

    /// Success is believed only when the mechanism says that the server has proven itself (RFC 5802 §5).
    private mutating func succeeded(_ element: Element) -> Outcome {
        do throws(SASLError) {
            let data = try profile.additionalData(of: element)
            guard var current = mechanism else { throw .unexpectedMessage }
            try current.succeed(with: data)
            mechanism = current
        } catch {
            return .failed(.serverNotAuthenticated("\(error)", mechanism: mechanismName), abort: nil)
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

    /// The server asks for a further step (XEP-0388 §2.6.3). None was offered to it, and one that it thinks of itself may ask
    /// for the password.
    private func asked(for element: Element) -> Outcome {
        let tasks = element.firstChild("tasks", namespace: Namespace.sasl2)?.children.map(\.text) ?? []
        let names =
            tasks.isEmpty
            ? "a further step" : tasks.prefix(SASLSelectionError.maximumRejections).joined(separator: ", ")
        return .failed(.noMechanism("the server asks for \(names), which this client does not do"), abort: abort)
    }

    /// A refusal of the mechanism itself leads to the next of ours; a refusal of the credentials is final, so that a wrong
    /// password is tried once (RFC 6120 §6.4.5).
    private mutating func refused(_ failure: SASLFailure) -> Outcome {
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

    private func broken(_ reason: String) -> Outcome {
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
