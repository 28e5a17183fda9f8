// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
internal import XMPPCore
internal import XMPPProtocol
internal import XMPPTransport
internal import XMPPXML

extension XMPPStream {
    /// For how long an interrupted session is believed in where the server did not say how long it keeps it; 5 minutes.
    static let assumedSessionLifetime: Duration = .seconds(300)

    /// How long a new connection waits for delegates that are still at work on what came over the old one; 30 s.
    static let maximumSettling: Duration = .seconds(30)

    /// Whether the session waits for ``reconnect()``.
    package var isInterrupted: Bool {
        if case .interrupted = phase { true } else { false }
    }

    /// From now on the stream waits for ``reconnect()`` when the connection is lost and the session can be resumed.
    package func outliveConnection() {
        outlivesConnection = true
    }

    /// Waits until the stream is over or interrupted.
    ///
    /// - Returns: Why; `nil` when this side closed it.
    package func waitUntilDown() async -> XMPPError? {
        if hasSession { _ = await wait(for: .interruption, heedsCancellation: false) }
        await savingMemory?.value
        switch phase {
        case .interrupted(let error): return error
        case .fresh, .connecting, .registering, .established, .ended: return disconnection
        }
    }

    /// The connection is gone, the session is not.
    func interrupt(_ error: XMPPError) {
        phase = .interrupted(error)
        log(.step, "interrupted: \(error)")
        for timer in timers.values { timer.cancel() }
        timers = [:]
        noteLoss()
        resumeSenders()
        let lifetime = resumableState?.maximumDuration ?? Self.assumedSessionLifetime
        sessionExpiry = configuration.clock.schedule(after: lifetime, on: executor) { [weak self] in
            self?.assumeIsolated { $0.sessionExpired() }
        }
        report(.interrupted(error))
        endTurn()
        endWaiting { $0 == .interruption }
    }

    /// Nobody can be believed to be online after such a time. Whether the server still has the session is asked all the
    /// same.
    private func sessionExpired() {
        sessionExpiry = nil
        loseSession(XMPPError(.connectionLost, "The connection could not be had again in time."))
        endTurn()
    }

    /// The session is over: who waits for something in it is told, and its buddies are offline.
    func loseSession(_ failure: XMPPError) {
        sessionExpiry?.cancel()
        sessionExpiry = nil
        for id in requests.streamEnded() { resolve(id, .failure(failure)) }
        endWaiting(.failure(failure)) { awaited in
            switch awaited {
            case .handled, .entry, .exit, .quiet: true
            case .room, .end, .interruption, .settling, .kept: false
            }
        }
        rosterRequest = nil
        guard isSessionAlive else { return }
        isSessionAlive = false
        leaveRooms()
        for transition in tracker.streamEnded() { report(transition) }
    }

    /// Lets go of the connection and leaves the session to whoever resumes it: the server is told what is kept, and
    /// nothing of an end. What arrives from then on comes in the session that is resumed. A session that cannot be
    /// resumed ends in good order.
    package func leaveResumable() async {
        guard isEstablished, keeping != nil, machine.management.sessionID != nil else { return await disconnect() }
        outlivesConnection = true
        await settle(atMost: Self.maximumFarewell)
        guard isEstablished else { return }
        if machine.management.isOn { perform([.send(machine.management.answer)]) }
        perform([.closeTransport])
        endTurn()
        _ = await waitUntilDown()
    }

    // MARK: What is handled

    /// A stanza has gone where it belongs.
    ///
    /// - Parameter isReported: Whether anybody was told of it. A message of which nobody was is counted and not kept: a
    ///   result of an archive, or what only calls itself a copy. Other stanzas tell how things stand, which the next
    ///   session is told anew; but who asks for a subscription has to be known until there is an answer.
    func arrivedStanza(_ element: Element, isReported: Bool) {
        configuration.meter?.count { $0.stanzasReceived += 1 }
        let isMessage = isReported && element.localName == "message"
        if isMessage { hasHeardMessages = true }
        // A receipt, say, of which nobody is told.
        if !isReported, element.localName == "message", element.firstChild("body", namespace: Namespace.client) == nil {
            archives?.handled(element)
        }
        guard keeping != nil || configuration.stanzaHandling == .whenDelegatesAreDone else {
            if isMessage { archives?.handled(element) }
            return perform(machine.handledStanzas(1))
        }
        // What is left to the server comes again, from the server.
        guard !machine.management.isLeavingTheRest else { return }
        // Before the server has agreed, nothing is counted (XEP-0198 §4); messages are kept all the same.
        if machine.management.isOn { arrived.count &+= 1 }
        let isRequest = keeping != nil && isReported && Self.isRequest(element)
        guard keeping != nil || archives != nil, isMessage || isRequest else { return }
        var stanza = element
        if stanza["from"] == nil { stanza["from"] = account.bare.description }
        arrived.append(stanza)
        if keeping != nil { configuration.observer?.kept(stanza) }
    }

    /// Whether a stanza asks for a subscription (RFC 6121 §3.1.3).
    private static func isRequest(_ element: Element) -> Bool {
        element.localName == "presence" && element["type"] == "subscribe"
    }

    /// A message of an archive has gone where it belongs. It does not count for the server, which has not sent it as
    /// such.
    func took(_ element: Element, isReported: Bool) {
        let isAwaited = keeping != nil || configuration.stanzaHandling == .whenDelegatesAreDone
        if isReported, isAwaited { arrived.append(element) } else { archives?.handled(element) }
    }

    /// Hands the events of the present turn out together with the stanzas behind them.
    func handOut(_ batch: inout [EventDelivery]) {
        guard !arrived.isEmpty else { return }
        let stanzas = arrived
        arrived = ArrivedStanzas()
        guard configuration.stanzaHandling == .whenDelegatesAreDone else { return handled(stanzas) }
        let id = ledger.handOut(stanzas)
        // Without events this is the last reference, and the stanzas are handled when those before them are.
        let token = HandlingToken(id, of: self)
        for index in batch.indices { batch[index].handling = token }
    }

    /// The delegates are done with what was handed out under an id.
    func finishedHandling(_ id: Int) {
        let stanzas = ledger.finished(id)
        if !stanzas.isEmpty { handled(stanzas) }
        endTurn()
        settled()
    }

    /// Stanzas were dealt with: they count, once they are kept where they are to be.
    private func handled(_ stanzas: ArrivedStanzas) {
        if keeping != nil { return keep(.received(stanzas)) }
        counted(stanzas)
    }

    /// Stanzas are where they are to be.
    func counted(_ stanzas: ArrivedStanzas) {
        for message in stanzas.messages { archives?.handled(message) }
        perform(machine.handledStanzas(stanzas.count))
    }

    /// Tells those who wait for it that nothing is in anybody's hands.
    func settled() {
        if ledger.isEmpty, keeping?.isSettled != false { endWaiting { $0 == .settling } }
    }

    /// Waits until the delegates are done with everything that came, at most ``maximumSettling``: what is not counted
    /// then comes again. What is being kept at that time is waited for without limit, since it may count already.
    package func settle(atMost limit: Duration = XMPPStream.maximumSettling) async {
        guard !ledger.isEmpty || keeping?.isSettled == false else { return }
        let timer = configuration.clock.schedule(after: limit, on: executor) { [weak self] in
            self?.assumeIsolated {
                $0.ledger.forget()
                $0.settled()
            }
        }
        _ = await wait(for: .settling, heedsCancellation: false)
        timer.cancel()
    }
}

extension ConnectionTarget {
    /// A place as servers write it (RFC 6120 §4.9.3.19, XEP-0198 §5): `host`, `host:port`, an IPv6 address in brackets;
    /// `nil` for anything else.
    ///
    /// - Parameters:
    ///   - location: What the server has written.
    ///   - security: How the channel becomes secure there.
    init?(location: String, security: Security = .startTLS) {
        let host: Substring
        let rest: Substring
        if location.hasPrefix("["), let end = location.unicodeScalars.firstIndex(of: "]") {
            host = location[location.index(after: location.startIndex)..<end]
            rest = location[location.index(after: end)...]
        } else {
            let end = location.unicodeScalars.firstIndex(of: ":") ?? location.endIndex
            host = location[..<end]
            rest = location[end...]
        }
        guard !host.isEmpty, rest.isEmpty || rest.hasPrefix(":") else { return nil }
        let digits = rest.dropFirst()
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        let port = rest.isEmpty ? security.defaultPort : UInt16(digits)
        guard let port, port > 0, let name = try? JID(domainpart: location.hasPrefix("[") ? "[\(host)]" : String(host))
        else { return nil }
        self.init(host: name.connectDomain, port: port, security: security)
    }
}
