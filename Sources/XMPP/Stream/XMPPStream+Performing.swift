// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
internal import XMPPCore
internal import XMPPCrypto
internal import XMPPProtocol
internal import XMPPXML

extension XMPPStream {
    /// Something happened on the transport.
    func transportEvent(_ event: TransportEvent, generation: Int) {
        guard generation == self.generation else { return }
        switch event {
        case .received(let bytes):
            configuration.meter?.count { $0.bytesReceived += UInt64(bytes.count) }
            consume(bytes[...])
        case .drained:
            resumeSenders()
        case .endOfInput:
            perform(machine.inputEnded())
        case .closed(let error):
            if let error, error.code == .violation, !isDisconnecting {
                attemptEnd = XMPPError(
                    .protocolViolation, "The connection to \(configuration.jid.domainpart) was closed: \(error).")
                // It may have been a message that is too long.
                if framing == .messages { metOversized() }
            }
            perform(machine.transportEnded(error?.description ?? ""))
            transport = nil
        }
        endTurn()
    }

    /// Parses what was read. Until the session is established it goes event by event, since the bytes behind one may
    /// belong to another layer.
    private func consume(_ bytes: ArraySlice<UInt8>) {
        unparsed = bytes
        let isLoggingWire = isLogging(.wire)
        while !unparsed.isEmpty, !machine.hasEnded {
            // Looked at once for all events of a read: negotiation goes event by event.
            let isNegotiating = machine.isNegotiating
            let outcome = parser.feed(unparsed, isNegotiating ? .oneEvent : .batch)
            unparsed = unparsed.dropFirst(outcome.consumed)
            for event in outcome.events {
                if isLoggingWire { log(received: event) }
                if isNegotiating, case .element(let element) = event,
                    element.isNamed("features", namespace: Namespace.streams)
                {
                    reached(.offered(StreamFeatures(element)))
                }
                perform(machine.received(event))
            }
            if let error = outcome.error {
                if isGreetedByTLS(bytes) { attemptEnd = .speaksTLSAtOnce(endpoint ?? "") }
                if case .limitExceeded = error { metOversized() }
                perform(machine.parserFailed(error))
                break
            }
            // The beginning of a stanza is no sign of life: one that never ends must not pass for a healthy stream.
            if outcome.events.isEmpty, parser.isBetweenElements { machine.receivedWhitespace() }
            if outcome.consumed == 0 && outcome.events.isEmpty { break }
        }
        unparsed = []
        perform(machine.readEnded(midElement: !parser.isBetweenElements))
    }

    /// Takes up a stream of which a scout has read the features already.
    func takeUp(_ offer: XMLStreamEvent, then rest: ArraySlice<UInt8>) {
        unparsed = rest
        if case .element(let element) = offer { reached(.offered(StreamFeatures(element))) }
        perform(machine.received(offer))
        let rest = unparsed
        if !rest.isEmpty { consume(rest) }
    }

    /// Whether the first byte on a connection in the clear begins a TLS record, an alert as a rule: the port wants TLS
    /// from the first byte (XEP-0368), and no XML begins like that.
    private func isGreetedByTLS(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard case .opening(.unprotected) = machine.state else { return false }
        return bytes.first == 0x15 || bytes.first == 0x16
    }

    /// Does what the machine decided. Never suspends, so it is never entered twice.
    func perform(_ actions: [StreamAction]) {
        for action in actions { perform(action) }
    }

    private func perform(_ action: StreamAction) {
        switch action {
        case .openStream(let header): write(header)
        case .send(let element): write(element)
        case .sendWhitespace:
            flush()
            transport?.keepAlive()
        case .endStream: enqueue(framing.closing)
        case .restartParser(let limits): parser = StreamReader(framing, limits: limits)
        case .limit(let limits): parser.limits = limits
        case .startTLS:
            flush()
            startTLS()
        case .deriveKeys(let work): derive(work)
        case .schedule(let timer, let delay): schedule(timer, after: delay)
        case .cancel(let timer): timers.removeValue(forKey: timer)?.cancel()
        case .emit(let occurrence): occurred(occurrence)
        case .closeTransport:
            flush()
            transport?.close()
        case .abortTransport: transport?.abort()
        }
    }

    /// Ends the present turn: what was written goes out in one piece, what happened is published in one batch.
    func endTurn() {
        flush()
        keepName()
        guard !deliveries.isEmpty || !arrived.isEmpty else { return }
        var batch = deliveries
        deliveries = []
        expectedDeliveries = min(batch.count, Self.maximumExpectedDeliveries)
        handOut(&batch)
        // Only in a session: before it there is no end of pausing, and little to read.
        let isBehind = hub.publish(batch) || keeping?.isOverfull == true
        if isBehind, hasSession, !isReadingPaused {
            isReadingPaused = true
            transport?.pauseReading()
        }
    }

    /// The readers have caught up.
    func readersCaughtUp() {
        guard isReadingPaused, !hub.isOverfull, keeping?.isOverfull != true else { return }
        isReadingPaused = false
        transport?.resumeReading()
    }

    func schedule(_ timer: StreamTimer, after delay: Duration) {
        timers[timer]?.cancel()
        timers[timer] = configuration.clock.schedule(after: delay, on: executor) { [weak self] in
            self?.assumeIsolated { $0.fired(timer) }
        }
    }

    private func fired(_ timer: StreamTimer) {
        timers[timer] = nil
        if timer == .certificate { return certificateDue(at: .now) }
        // While we do not read, silence says nothing about the server.
        if isReadingPaused, timer == .answer || timer == .stanza {
            let timeouts = configuration.timeouts
            schedule(timer, after: timer == .answer ? timeouts.answer : timeouts.stanza)
            return
        }
        perform(machine.timerFired(timer))
        endTurn()
    }

    /// Works keys out on a queue of their own: a server chooses how long that takes, up to some seconds, and the
    /// socket, the timers and whoever calls the attempt off share the stream's. No task: those have few threads, for
    /// the whole program.
    private func derive(_ work: SCRAMKeyDerivation) {
        log(.step, "working out keys, \(work.iterations) iterations")
        let generation = generation
        StreamExecutor(label: "swift-xmpp.keys").run { [weak self, executor, derivation = configuration.derivation] in
            let outcome = Result { () throws(CryptoError) in try derivation(work) }
            executor.run { [weak self] in
                self?.assumeIsolated { $0.keysDerived(outcome, for: work, generation: generation) }
            }
        }
    }

    private func keysDerived(
        _ outcome: Result<SCRAMKeyMaterial, CryptoError>, for work: SCRAMKeyDerivation, generation: Int
    ) {
        guard generation == self.generation else { return }
        perform(machine.keysDerived(outcome, for: work))
        endTurn()
    }

    // MARK: Writing

    private func write(_ header: StreamHeader) {
        guard let opening = framing.opening(header) else { return }
        log(.wire, "sent a stream header for \(header.to)")
        enqueue(opening)
    }

    /// Writes what the machine made; its own elements hold nothing that XML forbids, and what peers said in them is
    /// mended.
    private func write(_ element: Element) {
        if isLogging(.wire) { log(.wire, "sent \(WireLog.describe(element))") }
        if let bytes = try? framing.serialize(element, illegalCharacters: .replace) {
            if element.isIn(Namespace.client) { outgoingStanzas += 1 }
            enqueue(bytes)
        }
    }

    /// Writes a first-level element, or one of the root's tags, at the end of the turn.
    func enqueue(_ bytes: [UInt8]) {
        outgoing.append(contentsOf: bytes)
        if framing == .messages { messageEnds.append(outgoing.count) }
    }

    func flush() {
        guard !outgoing.isEmpty else { return }
        if let meter = configuration.meter {
            let (bytes, stanzas) = (UInt64(outgoing.count), outgoingStanzas)
            meter.count { reading in
                reading.bytesSent += bytes
                reading.stanzasSent += stanzas
            }
            outgoingStanzas = 0
        }
        switch framing {
        case .document: transport?.send(outgoing)
        case .messages:
            var start = 0
            for end in messageEnds {
                transport?.send(Array(outgoing[start..<end]))
                start = end
            }
            messageEnds.removeAll(keepingCapacity: true)
        }
        outgoing.removeAll(keepingCapacity: outgoing.capacity <= 4_096)
        guard let transport, transport.pendingBytes > Self.maximumUnwrittenBytes, !machine.hasEnded else { return }
        // Senders wait long before that: these are answers to a server that asks and asks and reads none of them.
        perform(machine.transportEnded("the server does not read what it is sent") + [.abortTransport])
    }

    // MARK: Log

    func isLogging(_ level: StreamLogEntry.Level) -> Bool {
        configuration.log != nil && level <= configuration.logLevel
    }

    func log(_ level: StreamLogEntry.Level, _ text: @autoclosure () -> String) {
        guard isLogging(level) else { return }
        configuration.log?(StreamLogEntry(level, text()))
    }

    private func log(received event: XMLStreamEvent) {
        switch event {
        case .streamOpened(let root, _): log(.wire, "received a stream header from \(root["from"] ?? "nobody")")
        case .element(let element): log(.wire, "received \(WireLog.describe(element))")
        case .passedOver(let element): log(.wire, "passed over <\(element.name.localName)> of \(element.bytes) bytes")
        case .streamClosed: log(.wire, "received the end of the stream")
        }
    }
}
