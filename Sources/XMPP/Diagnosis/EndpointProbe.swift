// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
internal import XMPPCore
internal import XMPPProtocol
internal import XMPPTransport

/// Looks at one address of one place: connects, secures the channel, and waits for what is offered. A stream like any
/// other does it, which logs nobody in.
struct EndpointProbe: Sendable {
    /// What happened on the way.
    struct Sight: Sendable {
        var start: Duration
        var connected: Duration?
        var secured: Duration?
        var offered: Duration?
        var security: ChannelSecurity?
        var features: StreamFeatures?
        var redirection: StreamPlace?
        var error: XMPPError?
    }

    let configuration: XMPPConfiguration
    let target: ConnectionTarget
    /// The address to connect to; `nil` leaves that to the connector.
    var address: SocketAddress?
    /// Whether a name led there.
    var isNamed = false

    /// What is found without DNS having a say in the certificate. Cancelling the task ends it: what was found until
    /// then is told.
    func look() async -> Sight {
        await look(trusting: configuration.trust == .dane ? .authorities : configuration.trust)
    }

    /// What was found, and what is found where DNS has a say, if it says anything.
    ///
    /// - Parameters:
    ///   - usual: What ``look()`` has found.
    ///   - signed: What DNS says, signed, about the certificate; or why nobody can tell, which ends a login that
    ///     insists on it.
    func conclude(_ usual: Sight, _ signed: Result<DANEProof?, XMPPError>) async -> SurveyedEndpoint {
        let isStrict = configuration.trust == .dane
        var bySignedRecords: Sight?
        if case .success(let dane?) = signed, usual.connected != nil {
            bySignedRecords = await look(trusting: .dane, dane)
        }
        var endpoint = SurveyedEndpoint(
            place: StreamPlace(target), address: address?.description,
            connectionTime: usual.connected.map { $0 - usual.start }, certificates: certificates(usual),
            proofs: [], isPrivateAddress: isNamed && address?.isPrivate == true)
        if let proof = proof(usual, .authority) { endpoint.proofs.append(proof) }
        // Records that say nothing that can be used leave it to authorities (RFC 7671 §2.3).
        if let bySignedRecords, let proof = proof(bySignedRecords, .dane), proof.kind == .dane {
            endpoint.proofs.append(proof)
        }
        // What counts is what a login of this account would meet.
        let decisive = isStrict ? bySignedRecords ?? usual : usual
        endpoint.securingTime = time(from: decisive.connected, to: decisive.secured)
        endpoint.featuresTime = time(from: decisive.secured, to: decisive.offered)
        endpoint.security = decisive.security
        endpoint.features = decisive.features
        endpoint.redirection = decisive.redirection
        endpoint.error = error(decisive)
        if isStrict, case .failure(let error) = signed { endpoint.error = error }
        return endpoint
    }

    private func time(from start: Duration?, to end: Duration?) -> Duration? {
        guard let start, let end else { return nil }
        return end - start
    }

    private func certificates(_ sight: Sight) -> [ChannelSecurity.Certificate] {
        sight.security?.certificates ?? sight.error?.presentedCertificates ?? []
    }

    private func proof(_ sight: Sight, _ kind: ChannelSecurity.Proof) -> SurveyedEndpoint.Proof? {
        if let security = sight.security { return SurveyedEndpoint.Proof(kind: security.proof, refusal: nil) }
        guard let error = sight.error, error.code == .certificateRejected else { return nil }
        let isPinned = if case .keys = configuration.trust { true } else { false }
        return SurveyedEndpoint.Proof(kind: isPinned && kind == .authority ? .pinnedKey : kind, refusal: error)
    }

    /// Why a login would fail: that nobody logs in here is no reason.
    private func error(_ sight: Sight) -> XMPPError? {
        guard let features = sight.features else {
            guard let error = sight.error, error.code != .cancelled else { return outOfTime(sight) }
            return error
        }
        if features.offersKnownMechanism { return nil }
        return sight.error ?? XMPPError(.noMechanism, "The server offers no way to log in.")
    }

    /// The time for the whole survey was up: how far it had come here.
    private func outOfTime(_ sight: Sight) -> XMPPError {
        let missing =
            if sight.connected == nil {
                "connection"
            } else if sight.secured == nil {
                "TLS"
            } else {
                "offer of the server"
            }
        return XMPPError(.timedOut, "There was no \(missing) in the time for the whole survey.")
    }

    private func look(trusting trust: ServerTrust, _ dane: DANEProof? = nil) async -> Sight {
        let clock = configuration.clock
        let sight = Locked(Sight(start: clock.now))
        var configuration = configuration
        configuration.password = nil
        configuration.accessToken = nil
        configuration.clientCertificate = nil
        configuration.looksOnly = true
        configuration.trust = trust
        configuration.connector = OnePlace(
            base: configuration.route, target: target, address: address, dane: dane)
        (configuration.proxy, configuration.host, configuration.webSocket) = (nil, nil, nil)
        configuration.asksWebForPlaces = false
        configuration.anticipatesFeatures = false
        configuration.resumesTLS = false
        configuration.loginMemory = InMemoryLoginMemoryStore()
        configuration.observer = StreamObserver(milestone: { milestone in
            sight.withLock { Self.note(milestone, &$0, clock.now) }
        })
        let stream = XMPPStream(configuration)
        do throws(XMPPError) {
            try await stream.connect()
            await stream.disconnect()
        } catch {
            sight.withLock { $0.error = error }
        }
        return sight.withLock { $0 }
    }

    private static func note(_ milestone: StreamMilestone, _ sight: inout Sight, _ now: Duration) {
        switch milestone {
        case .connected: sight.connected = now
        case .secured(let security): (sight.secured, sight.security) = (now, security)
        case .offered(let features):
            // What is offered in the clear is TLS, or not to be believed.
            guard sight.security != nil, sight.features == nil else { return }
            (sight.offered, sight.features) = (now, features)
        case .redirected(let place): (sight.redirection, sight.security, sight.features) = (place, nil, nil)
        case .resolved, .authenticated, .established, .failed: break
        }
    }
}

extension StreamFeatures {
    /// Whether this library has one of the mechanisms offered: somebody may log in with it.
    package var offersKnownMechanism: Bool {
        (mechanisms + sasl2Mechanisms).contains { SASLMechanismSelector.isKnown(SASLMechanismName(rawValue: $0)) }
    }
}

extension XMPPError {
    /// There was no time left to look.
    static let cancelledSurvey = XMPPError(.timedOut, "There was no answer in the time for the whole survey.")
}

/// The network with nothing in it but one address, and what a server there sends on to.
private struct OnePlace: StreamConnector {
    let base: any StreamConnector
    let target: ConnectionTarget
    let address: SocketAddress?
    let dane: DANEProof?

    func targets(
        for domain: String, override: ConnectionTarget?
    ) async throws(ConnectError) -> [ConnectionTarget] { [target] }

    func proof(
        of target: ConnectionTarget, domain: String, isGiven: Bool
    ) async throws(ConnectError) -> DANEAnswer {
        if target == self.target { return dane.map(DANEAnswer.secure) ?? .notAsked }
        return try await base.proof(of: target, domain: domain, isGiven: isGiven)
    }

    func connect(
        to target: ConnectionTarget, on executor: StreamExecutor
    ) async throws(ConnectError) -> any ByteTransport {
        guard target == self.target, let address else { return try await base.connect(to: target, on: executor) }
        return try await base.connect(
            to: ConnectionTarget(host: address.host, port: target.port, security: target.security), on: executor)
    }
}
