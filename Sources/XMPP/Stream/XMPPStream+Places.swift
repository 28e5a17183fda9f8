// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
internal import XMPPProtocol
internal import XMPPTransport

extension XMPPConfiguration {
    /// The place that the user names, if any.
    var givenPlace: ConnectionTarget? {
        if let address = webSocket { return ConnectionTarget(address) }
        return host.map {
            ConnectionTarget(host: $0, port: port, security: hostSecurity == .directTLS ? .directTLS : .startTLS)
        }
    }
}

extension XMPPStream {
    /// The place that the user names, if any.
    var override: ConnectionTarget? { configuration.givenPlace }

    /// Where the server would like the session to be asked for (XEP-0198 §5). The certificate proves the domain there
    /// as everywhere; a place that the user names comes first.
    private var preferredTarget: ConnectionTarget? {
        guard override == nil, let state = machine.resumableState, state.id != nil else { return nil }
        return state.location.flatMap { ConnectionTarget(location: $0) }
    }

    func tryTargets() async -> Result<JID, XMPPError> {
        let domain = configuration.jid.connectDomain
        loginPhases = []
        beginPhase()
        let context: TLSContext
        do {
            context = try configuration.tlsContexts.context(
                trusting: configuration.trustAnchors, certificate: configuration.clientCertificate)
        } catch {
            return .failure(XMPPError(.invalidConfiguration, "TLS cannot be set up: \(error)."))
        }
        await recall()
        var failures: [XMPPError] = []
        let known = publishedPlaces
        if !known.isEmpty {
            reached(.resolved(known.map(StreamPlace.init)))
            let targets = (preferredTarget.map { [$0] } ?? []) + known
            if let outcome = await tryEach(of: targets, context, &failures) { return outcome }
        }
        let targets: [ConnectionTarget]
        do {
            log(.step, "resolving \(domain)")
            let found = try await connector.targets(for: domain, override: override)
            targets = (preferredTarget.map { [$0] } ?? []) + found
        } catch {
            return .failure(XMPPError(error, domain: domain).placed(at: nil, in: .lookup))
        }
        reached(.resolved(targets.map(StreamPlace.init)))
        if let outcome = await tryEach(of: targets, context, &failures) { return outcome }
        let others = await alternatives(after: failures).filter { !known.contains($0) }
        if !others.isEmpty { reached(.resolved(others.map(StreamPlace.init))) }
        if let outcome = await tryEach(of: others, context, &failures) { return outcome }
        if Task.isCancelled || isDisconnecting {
            return .failure(XMPPError(.cancelled, "Connecting to \(domain) was called off."))
        }
        return .failure(Self.summary(failures, domain: domain))
    }

    /// Tries one place after another until one answers with stream features.
    ///
    /// - Returns: What became of it; `nil` when none did, or the attempt was called off.
    private func tryEach(
        of targets: [ConnectionTarget], _ context: TLSContext, _ failures: inout [XMPPError]
    ) async -> Result<JID, XMPPError>? {
        defer { endRace() }
        var rest = targets[...]
        while let target = rest.popFirst() {
            if Task.isCancelled || isDisconnecting { break }
            beginRace(target, rest, context)
            let attempted = await reach(target, context)
            if let outcome = judge(attempted, at: target, &failures) { return outcome }
            if case .failed(_, .place) = attempted { leavePlace(target) }
            // Those that have set out meanwhile need no second try.
            guard let race = await raceOutcome() else { continue }
            let elsewhere = race.waiting.filter(race.elsewhere.contains)
            rest = (elsewhere + rest.filter { $0.isWebSocket || race.waiting.contains($0) })[...]
            failures += race.failures
            guard let winner = race.winner else { continue }
            let outcome = await reach(winner.target, context, beginningWith: winner)
            if let outcome = judge(outcome, at: winner.target, &failures) { return outcome }
        }
        return nil
    }

    /// What an attempt at a place means for the login: its end, or `nil` when another place may do better.
    private func judge(
        _ outcome: AttemptOutcome, at target: ConnectionTarget, _ failures: inout [XMPPError]
    ) -> Result<JID, XMPPError>? {
        switch outcome {
        case .established(let jid): return .success(jid)
        case .failed(let error, .domain):
            let domain = configuration.jid.connectDomain
            return .failure(error ?? XMPPError(.cancelled, "Connecting to \(domain) was called off."))
        case .failed(let error, .place), .failed(let error, .address):
            if let error {
                failures.append(error)
                reached(.failed(StreamPlace(target), error))
            }
            return nil
        }
    }

    /// Tries one place, and again where that relied too much on what there was before.
    func tryPlace(_ target: ConnectionTarget, _ context: TLSContext) async -> AttemptOutcome {
        var outcome = await attempt(target, context, isCautious: !configuration.anticipatesFeatures)
        if case .failed(let error?, let extent) = outcome, extent != .domain, hasMissedTLSSession {
            log(.step, "\(error) Trying again without resuming the TLS session of before.")
            outcome = await attempt(target, context, isCautious: !configuration.anticipatesFeatures)
        }
        guard case .failed(let error?, _) = outcome, machine.hasAnticipated, error.mayComeOfHaste else {
            return outcome
        }
        log(.step, "\(error) Trying again without relying on what was offered before.")
        remember { $0.offered = nil }
        return await attempt(target, context, isCautious: true)
    }

    /// One error for all targets: the most telling one, with the others' reasons.
    private static func summary(_ failures: [XMPPError], domain: String) -> XMPPError {
        // A refused certificate says more than a port that nothing listens on.
        let order: [XMPPError.Code] = [
            .certificateRejected, .tlsFailed, .tlsUnavailable, .protocolViolation, .timedOut,
        ]
        let telling = order.lazy.compactMap { code in failures.first { $0.code == code } }.first
        guard var error = telling ?? failures.first else {
            return XMPPError(.connectionFailed, "No place to connect to was found for \(domain).")
        }
        // Of many places the same may be said: once is enough, and a few tell how it is.
        var others: [String] = []
        for failure in failures where failure.message != error.message && !others.contains(failure.message) {
            others.append(failure.message)
        }
        if !others.isEmpty {
            error.message += " Also tried: " + others.prefix(maximumTold).joined(separator: " ")
            if others.count > maximumTold { error.message += " And \(others.count - maximumTold) more." }
        }
        return error
    }

    /// Of how many places an error tells beside the one that it is about; 5.
    private static let maximumTold = 5
}
