// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
internal import XMPPCore
internal import XMPPProtocol
internal import XMPPXML

extension XMPPStream {
    /// How many events of a turn room is made for ahead, 256: a read brings about as many as the one before it.
    static let maximumExpectedDeliveries = 256

    /// Takes what the machine reports.
    func occurred(_ occurrence: StreamOccurrence) {
        switch occurrence {
        case .connected:
            attemptGotFeatures = true
            endRace()
            report(.connected)
        case .secured:
            break
        case .registering(let features):
            beganRegistering(features)
        case .answer(let element):
            if let iq = try? IQ(element) { answered(iq) }
        case .authenticated(let mechanism):
            self.mechanism = mechanism
            channelBinding = machine.channelBinding?.rawValue
            if let keys = machine.scramKeys { configuration.password?.keep(keys) }
            remember(mechanism: SASLMechanismName(rawValue: mechanism))
            log(.step, "authenticated with \(mechanism)")
            reached(.authenticated(mechanism: mechanism))
        case .token(let token):
            log(
                .step,
                token == nil
                    ? "the token of the last login is of no use any more" : "received a token for the next login")
            remember { $0.token = token }
        case .tokenEnded:
            tokenEnded()
        case .established(let session):
            established(session)
        case .resumed(let session):
            resumed(session)
        case .notResumed(let outcome):
            loseSession(
                XMPPError(.connectionLost, "The session could not be resumed; what waited for it waits in vain."))
            isSettlingCertain = outcome.isCertain && unsettled.isEmpty
            // A server that knows of no such session is done with it (XEP-0198 §5).
            mayBeUnderWay = outcome.condition != .itemNotFound && isLossRecent()
            report(.notResumed(outcome))
        case .stanza(let element):
            if configuration.observer?.takesStanzas() == false { machine.leaveTheRest() }
            let known = deliveries.count
            route(element)
            arrivedStanza(element, isReported: deliveries.count > known)
        case .passedOver(let element):
            passedOver(element)
        case .acknowledged(let count):
            acknowledged(count)
        case .doubted:
            doubtUnhandled()
        case .ended(let end):
            ended(end)
        }
    }

    /// Notes an event; it is published at the end of the turn.
    func report(_ event: XMPPEvent) {
        configuration.observer?.event(event)
        if deliveries.isEmpty { deliveries.reserveCapacity(expectedDeliveries) }
        deliveries.append(EventDelivery(stream: self, event: event))
    }

    /// Tells the observer how far the stream has come.
    func reached(_ milestone: StreamMilestone) {
        measure(milestone)
        configuration.observer?.milestone(milestone)
    }

    private func established(_ session: EstablishedSession) {
        start = .fresh
        discovered = DiscoveryCache()
        inlineFeatures = session.inlineFeatures
        // Whoever brings the new session online needs to hear at once when that fails.
        outlivesConnection = false
        keepBeginning(of: session.jid)
        begin(session, .authenticated(session.jid))
    }

    /// The session goes on where it was.
    private func resumed(_ session: EstablishedSession) {
        start = isSessionAlive ? .resumed : .inherited
        keeping?.hasName = true
        begin(session, .resumed(session.jid))
    }

    private func begin(_ session: EstablishedSession, _ news: XMPPEvent) {
        jid = session.jid
        archives?.connectionBegan()
        features = session.features
        phase = .established
        isSessionAlive = true
        loginRoundTrips = transport?.roundTrips
        rememberOffer()
        rememberKey()
        watchCertificate(at: .now)
        sessionExpiry?.cancel()
        sessionExpiry = nil
        // The server decides on the address (RFC 6120 §7.6): from now on it is the own one.
        requests.account = session.jid
        tracker.account = session.jid.bare
        hub.onDrain { [weak self] in
            guard let self else { return }
            self.executor.run { self.assumeIsolated { $0.readersCaughtUp() } }
        }
        log(.step, start == .fresh ? "session \(session.jid)" : "resumed session \(session.jid)")
        reached(.established(session.jid))
        report(news)
        let waiter = attempt
        attempt = nil
        waiter?.resume(returning: .established(session.jid))
    }

    /// The connection is over: during an attempt that is one target's failure, afterwards the stream's end, or an
    /// interruption where the session can be resumed.
    private func ended(_ end: StreamEnd) {
        var error = attemptEnd ?? XMPPError(end, domain: configuration.jid.domainpart)
        if error?.streamError?.condition == .policyViolation, let bytes = machine.resumableState?.largestBytes {
            configuration.stanzaCeiling.refused(bytes)
        }
        if let waiter = attempt {
            attempt = nil
            forgetTLSSessions()
            let isFinal = attemptGotFeatures && !mayGoOnElsewhere(error)
            let extent: FailureExtent = isFinal ? .domain : isAttemptAnswered ? .place : end.extentBeforeFeatures
            waiter.resume(returning: .failed(error.map(placed), extent))
            return
        }
        error?.endpoint = endpoint
        if let error, outlivesConnection, !isDisconnecting, !error.isPermanent, resumableState?.id != nil {
            interrupt(error)
        } else {
            finish(error)
        }
    }

    /// Records the end of the stream and tells everybody who waits.
    func finish(_ error: XMPPError?) {
        if case .ended = phase { return }
        phase = .ended(error)
        disconnection = error
        log(.step, error.map { "ended: \($0)" } ?? "ended")
        for timer in timers.values { timer.cancel() }
        timers = [:]
        let failure = error ?? .notConnected
        loseSession(failure)
        abandonSending(failure)
        endWaiting(.failure(failure)) { awaited in
            switch awaited {
            // What the store is at work on comes to its end, and whoever waits for that goes on waiting.
            case .end, .interruption, .kept, .settling: false
            case .room, .handled, .entry, .exit, .quiet: true
            }
        }
        endKeeping()
        report(.disconnected(error))
        endTurn()
        if ownsHub { hub.finish() }
        endWaiting { $0 == .end || $0 == .interruption }
        settled()
    }

    func report(_ transition: PresenceTracker.Transition) {
        switch transition {
        case .cameOnline(let buddy): report(.buddyCameOnline(buddy))
        case .changed(let buddy): report(.buddyChanged(buddy))
        case .wentOffline(let buddy): report(.buddyWentOffline(buddy))
        }
    }

    private func acknowledged(_ count: UInt32) {
        keep(.step(.acknowledged(count)))
        endWaiting { awaited in
            switch awaited {
            // Modulo 2^32: at or behind the acknowledged count.
            case .handled(let sent): Int32(bitPattern: count &- sent) >= 0
            case .room: true
            case .end, .interruption, .settling, .kept, .entry, .exit, .quiet: false
            }
        }
    }
}

extension XMPPStream {
    /// Whether another place is worth a try although this one has answered: it broke down before it was told who we
    /// are. What somebody in between may have brought about, to be rid of TLS or of a certificate, is no reason to look
    /// further.
    private func mayGoOnElsewhere(_ error: XMPPError?) -> Bool {
        guard machine.offered.beforeLogin == nil, security == nil || !machine.hasAnticipated else { return false }
        return switch error?.code {
        case .connectionLost, .timedOut, .tlsFailed, .streamError: configuration.securityPolicy == .tlsRequired
        default: false
        }
    }
}

extension StreamEnd {
    /// How much of the domain fails with a stream that ends like this before its features.
    var extentBeforeFeatures: FailureExtent {
        switch self {
        case .closed: .domain
        case .streamError(let error): error.condition.concernsPlace ? .place : .domain
        case .violation, .tlsUnavailable, .noMechanism, .channelBindingContradicted, .authenticationRefused,
            .serverNotAuthenticated, .bindingFailed:
            .place
        case .closedByServer, .timedOut, .transportEnded: .address
        }
    }
}

extension StreamError.Condition {
    /// Whether it says that one server of the domain is in trouble, and nothing of the others (RFC 6120 §4.9.3).
    fileprivate var concernsPlace: Bool {
        [
            .connectionTimeout, .internalServerError, .remoteConnectionFailed, .reset, .resourceConstraint,
            .systemShutdown,
        ]
        .contains(self)
    }
}
