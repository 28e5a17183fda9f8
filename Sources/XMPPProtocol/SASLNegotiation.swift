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

    /// Makes it.
    package init(credentials: SASLCredentials, policy: SASLPolicy = SASLPolicy()) {
        self.credentials = credentials
        self.policy = policy
    }
}

/// The exchange of `<auth/>`, `<challenge/>`, `<response/>` and `<success/>` (RFC 6120 §6.4).
package struct SASLNegotiation: Sendable {
    /// What to do next.
    package enum Outcome: Sendable, Equatable {
        /// This is to be sent.
        case send(Element)
        /// The user is authenticated, and so is the server where the mechanism can do that.
        case succeeded(mechanism: String)
        /// It failed; `abort` is to be sent before the stream ends.
        case failed(StreamEnd, abort: Element?)
    }

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
    ///   - authentication: Who to authenticate as.
    ///   - channel: The proof that credentials may be sent.
    ///   - features: What the server offers.
    ///   - random: Where nonces come from.
    package init(
        _ authentication: SASLAuthentication, on channel: SecureChannel, features: StreamFeatures,
        random: any RandomSource
    ) {
        self.authentication = authentication
        offer = SASLAdvertisement(
            mechanisms: features.mechanisms.map(SASLMechanismName.init),
            channelBindingTypes: features.channelBindings?.map(ChannelBindingType.init))
        nonces = (0..<Self.maximumAttempts).map { _ in random.identifier() }
        selector = SASLMechanismSelector(
            credentials: authentication.credentials,
            security: channel.protection == .tls ? .verifiedTLS : .permittedLoopback,
            bindings: channel.channelBindings, policy: authentication.policy)
    }

    /// The mechanism in use; empty before the first.
    package var mechanismName: String { mechanism?.name.rawValue ?? "" }

    /// Chooses a mechanism and begins.
    package mutating func start() -> Outcome {
        attempt(0)
    }

    private var attempts = 0

    private mutating func attempt(_ number: Int) -> Outcome {
        attempts = number + 1
        let remaining = SASLAdvertisement(
            mechanisms: offer.mechanisms.filter { !refused.contains($0) },
            channelBindingTypes: offer.channelBindingTypes)
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
            var auth = Element("auth", namespace: Namespace.sasl, attributes: ["mechanism": selection.name.rawValue])
            auth.append(text: SASLPayload.encodeInitialResponse(initial) ?? "")
            return .send(auth)
        } catch {
            return .failed(.noMechanism("\(selection.name.rawValue) cannot be used: \(error)"), abort: nil)
        }
    }

    /// Takes a first-level element.
    package mutating func received(_ element: Element) -> Outcome {
        guard element.namespace == Namespace.sasl, element.children.isEmpty || element.localName == "failure" else {
            return broken("the server sent <\(element.localName)/> during authentication")
        }
        switch element.localName {
        case "challenge": return challenged(element.text)
        case "success": return succeeded(element.text)
        case "failure": return refused(SASLFailure(element))
        default: return broken("the server sent <\(element.localName)/> during authentication")
        }
    }

    private mutating func challenged(_ text: String) -> Outcome {
        do throws(SASLError) {
            let challenge = try SASLPayload.decode(text)
            guard var current = mechanism else { throw .unexpectedMessage }
            let answer = try current.respond(to: challenge)
            mechanism = current
            return .send(Element("response", namespace: Namespace.sasl, text: SASLPayload.encode(answer)))
        } catch {
            return broken("\(error)")
        }
    }

    /// Success is believed only when the mechanism says that the server has proven itself (RFC 5802 §5).
    private mutating func succeeded(_ text: String) -> Outcome {
        do throws(SASLError) {
            let data = try SASLPayload.decodeAdditionalData(text)
            guard var current = mechanism else { throw .unexpectedMessage }
            try current.succeed(with: data)
            mechanism = current
            return .succeeded(mechanism: mechanismName)
        } catch {
            return .failed(.serverNotAuthenticated("\(error)", mechanism: mechanismName), abort: nil)
        }
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
        .failed(
            .serverNotAuthenticated(reason, mechanism: mechanismName),
            abort: Element("abort", namespace: Namespace.sasl))
    }
}
