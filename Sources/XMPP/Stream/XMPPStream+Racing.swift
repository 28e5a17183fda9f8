// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
internal import XMPPCore
internal import XMPPProtocol
internal import XMPPTransport
internal import XMPPXML

/// The race between the place that is being tried and those that come after it.
struct PlaceRace {
    /// The place that is being tried.
    let first: ConnectionTarget
    /// The trust in certificates.
    let context: TLSContext
    /// The places that nobody has gone to, in order.
    var waiting: ArraySlice<ConnectionTarget>
    /// Those that are on their way.
    var running: [StreamScout] = []
    /// The one that has found a live stream first.
    var winner: StreamScout?
    /// Why places were left.
    var failures: [XMPPError] = []
    /// Sends the next scout.
    var timer: (any ScheduledTimer)?
    /// The priority of the place that was gone to last.
    var group: UInt16
    /// Places that are connected, at their other addresses.
    var elsewhere: Set<ConnectionTarget> = []
    /// Whether the place that is being tried has given a sign of life.
    var isFirstAlive = false
    /// Whether the place that was tried first is out of the race.
    var isFirstOut = false
    /// Who waits for the outcome then.
    var waiter: CheckedContinuation<Void, Never>?

    /// Whether the next place is one of those that are gone to already, by its priority.
    var goesOnInGroup: Bool { waiting.first?.priority == group }

    /// Whether the next place has to let those before it have more time: one of the present priority is connected.
    var isHeldBack: Bool {
        !goesOnInGroup
            && ((isFirstAlive && !isFirstOut && first.priority == group)
                || running.contains { $0.target.priority == group && $0.transport != nil })
    }
}

extension XMPPStream {
    /// How long a place may give no sign of life before the next one is tried beside it; 250 ms (RFC 8305 §8).
    package static let raceDelay: Duration = .milliseconds(250)
    /// The same before a place of the next priority, where one of the present priority has taken the connection: the
    /// domain's wish counts as long as there is hope; 1 s.
    package static let raceGroupDelay: Duration = .seconds(1)
    /// The same through a proxy, which has to connect itself first; 2 s.
    package static let raceDelayThroughProxy: Duration = .seconds(2)

    /// Lets the places that come after the one about to be tried run with it, up to live features (XEP-0495): a place
    /// that is out of reach, or that takes connections and says nothing, costs a moment and not its time limit.
    ///
    /// Priorities come one after another (XEP-0495 §4.1): a place of the next one is gone to when all of the present
    /// one have failed; or when all have set out and are silent for ``raceDelay``, for ``raceGroupDelay`` if one of
    /// them is connected.
    ///
    /// - Parameters:
    ///   - first: The place that is about to be tried.
    ///   - others: Those after it, in order; WebSockets, which are a last resort, do not run.
    func beginRace(
        _ first: ConnectionTarget, _ others: ArraySlice<ConnectionTarget>, _ context: TLSContext
    ) {
        let others = others.filter { !$0.isWebSocket }
        guard !others.isEmpty || hasMoreAddresses(first) else { return }
        race = PlaceRace(first: first, context: context, waiting: others[...], group: first.priority)
        armRace()
    }

    private func hasMoreAddresses(_ target: ConnectionTarget) -> Bool {
        connector.choosesAddresses && !target.isWebSocket && target.mayHaveMoreAddresses
    }

    /// A place is connected at one of its addresses: it may be silent there, so the others come next in the race, as
    /// another place of the same priority (XEP-0495 §4).
    func raceAddresses(of target: ConnectionTarget, except address: SocketAddress?) {
        guard race != nil, let address, hasMoreAddresses(target) else { return }
        let other = target.avoiding(address)
        guard race?.elsewhere.insert(other).inserted == true else { return }
        let behind = race?.waiting ?? []
        race?.waiting = [other] + behind
        race?.timer?.cancel()
        armRace()
    }

    /// A place has answered, and not with XMPP that can be trusted: what is wrong there is told, and nobody else sets
    /// out for the host's other addresses, which are the same server as a rule. Those that are on their way go on.
    func leavePlace(_ target: ConnectionTarget) {
        race?.waiting.removeAll { $0.isSamePlace(as: target) }
    }

    /// The place that is being tried has given a sign of life: it gets its time anew, unless others have set out.
    func showedLife() {
        race?.isFirstAlive = true
        lookedUp()
    }

    /// What DNS says about the certificate of the place that is being tried is known, and it is about to be gone to: it
    /// gets its time anew, unless others have set out.
    func lookedUp() {
        guard let race, race.running.isEmpty, let timer = race.timer else { return }
        timer.cancel()
        armRace()
    }

    /// The race is over: everybody still on the way is called back.
    func endRace() {
        guard let race else { return }
        self.race = nil
        race.timer?.cancel()
        for scout in race.running { scout.callOff() }
        race.winner?.callOff()
        race.waiter?.resume()
    }

    private func armRace() {
        guard let race, !race.waiting.isEmpty else { return }
        let isHeldBack = race.isHeldBack
        let delay =
            configuration.proxy != nil
            ? Self.raceDelayThroughProxy : isHeldBack ? Self.raceGroupDelay : Self.raceDelay
        self.race?.timer = configuration.clock.schedule(after: delay, on: executor) { [weak self] in
            self?.assumeIsolated { stream in
                // Somebody may have come through meanwhile.
                !isHeldBack && stream.race?.isHeldBack == true ? stream.armRace() : stream.sendScout()
            }
        }
    }

    private func sendScout() {
        race?.timer?.cancel()
        race?.timer = nil
        guard let context = race?.context, let target = race?.waiting.popFirst() else { return }
        race?.group = target.priority
        log(.step, "trying \(target) as well")
        let role = TLSRole.client(identity(at: target), offersProtocol: target.security == .directTLS)
        let clock = configuration.clock
        // What DNS says about each place has to be known before it is gone to, and each is held to what is said of it.
        let scout = StreamScout(to: target, newMachine(isCautious: true), configuration, proof: proofSource) {
            lower, dane throws(TLSError) in
            try TLSTransport(over: lower, context: context, role: role, mode: .direct, dane: dane, clock: clock)
        }
        race?.running.append(scout)
        scout.start(
            connector, on: executor,
            opened: { [weak self] address in
                self?.assumeIsolated { $0.raceAddresses(of: target, except: address) }
            },
            report: { [weak self, scout] in
                self?.assumeIsolated { $0.returned(scout) }
            })
        armRace()
    }

    private func returned(_ scout: StreamScout) {
        guard race != nil else { return scout.callOff() }
        race?.running.removeAll { $0 === scout }
        if let error = scout.error, !scout.isSentOn {
            if scout.extent != .address { leavePlace(scout.target) }
            if !scout.hadNowhereToGo {
                race?.failures.append(error)
                reached(.failed(StreamPlace(scout.target), error))
            }
            // A refusal is an answer: no reason to wait for the next one's turn (RFC 8305 §5), unless that is behind
            // others.
            if race?.goesOnInGroup == true { sendScout() }
            guard race?.isFirstOut == true, race?.running.isEmpty == true else { return }
            wakeRace()
            return
        }
        // Nobody overtakes a place that has begun to answer, nor one that was sent a proof of who we are.
        guard !attemptGotFeatures, !(machine.hasAnticipated && security != nil) || race?.isFirstOut == true else {
            scout.callOff()
            return endRace()
        }
        race?.winner = scout
        race?.timer?.cancel()
        callBack()
        if race?.isFirstOut == true { wakeRace() } else { giveUpFirst(overtakenBy: scout.target) }
    }

    /// Calls those back that are on their way: nothing was heard of their places, which may still be tried.
    private func callBack() {
        guard let running = race?.running, !running.isEmpty else { return }
        for scout in running { scout.callOff() }
        race?.running = []
        let behind = race?.waiting ?? []
        race?.waiting = running.map(\.target) + behind
    }

    private func wakeRace() {
        let waiter = race?.waiter
        race?.waiter = nil
        waiter?.resume()
    }

    private func giveUpFirst(overtakenBy target: ConnectionTarget) {
        attemptEnd = overtaken(race?.first, by: target)
        opening?()
        guard attempt != nil else { return }
        transport?.abort()
        perform(machine.transportEnded("overtaken"))
        endTurn()
    }

    private func overtaken(_ first: ConnectionTarget?, by target: ConnectionTarget) -> XMPPError {
        XMPPError(.timedOut, "\(first?.description ?? "") was still silent when \(target) had answered.").placed(
            at: first?.description, in: attempt == nil ? .connection : presentPhase)
    }

    /// The place that was tried first has failed: waits for those that run already.
    ///
    /// - Returns: The race as it stands then; `nil` when there is none.
    func raceOutcome() async -> PlaceRace? {
        guard race != nil else { return nil }
        race?.isFirstOut = true
        if race?.winner == nil, race?.running.isEmpty == false {
            await withCheckedContinuation { race?.waiter = $0 }
            race?.waiter = nil
        }
        // One may have set out since the last of the others came back.
        callBack()
        let outcome = race
        race?.winner = nil
        endRace()
        return outcome
    }

    /// Why the present attempt is given up: another place has answered.
    var overtaking: XMPPError? {
        guard let race, !race.isFirstOut, let winner = race.winner else { return nil }
        return overtaken(race.first, by: winner.target)
    }

    /// Goes on with the stream that a scout has found.
    func adopt(_ scout: StreamScout, _ context: TLSContext) async -> AttemptOutcome {
        if let error = scout.error {
            beginAttempt(at: scout.target, scout.machine, context)
            security = scout.security
            return .failed(error, .domain)
        }
        await prepareToken()
        guard let transport = scout.transport, let offer = scout.offer, !Task.isCancelled, !isDisconnecting else {
            scout.callOff()
            return .failed(nil, .address)
        }
        keeping?.forgetReceived()
        beginPhase(isAnew: true)
        var machine = scout.machine
        // What was sent or handled meanwhile is with the machine of the place that was tried first.
        machine.inherit(self.machine.resumableState, token: memory?.token)
        beginAttempt(at: scout.target, machine, context)
        attemptAnswer = scout.answer
        reached(.connected(StreamPlace(scout.target)))
        security = scout.security
        if let security = scout.security {
            meet(security, identity: identity(at: scout.target).domain)
            reached(.secured(security))
        }
        take(transport)
        framing = .document
        parser = scout.parser
        return await withCheckedContinuation { continuation in
            attempt = continuation
            perform([.schedule(.negotiation, after: configuration.timeouts.negotiation)])
            transport.replaceHandler(eventHandler())
            takeUp(offer, then: scout.unparsed)
            for event in scout.untold { transportEvent(event, generation: generation) }
            transport.resumeReading()
            endTurn()
        }
    }
}

extension ConnectionTarget {
    /// Whether the way there is a web server.
    var isWebSocket: Bool {
        if case .webSocket = security { true } else { false }
    }
}
