// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
internal import XMPPCore
internal import XMPPProtocol
internal import XMPPTransport
internal import XMPPXML

/// Looks whether XMPP is spoken at a place while its stream waits at another one (XEP-0495): connects, secures the
/// channel where TLS comes first, opens a stream and waits for features. It says nothing that depends on them, and
/// hands everything over as it is then.
///
/// Unchecked: all state is confined to the executor's queue.
final class StreamScout: @unchecked Sendable {
    /// The place.
    let target: ConnectionTarget
    /// The machine of the stream there, which has not been told of the features yet.
    private(set) var machine: StreamStateMachine
    /// What reads the stream there.
    private(set) var parser = StreamReader(limits: .beforeAuthentication)
    /// The connection, with TLS where that comes first.
    private(set) var transport: (any ByteTransport)?
    /// What DNS says about the certificate there.
    private(set) var answer = DANEAnswer.notAsked
    /// How the channel is protected.
    private(set) var security: ChannelSecurity?
    /// The features.
    private(set) var offer: XMLStreamEvent?
    /// What came behind them.
    private(set) var unparsed: ArraySlice<UInt8> = []
    /// What has happened on the connection since then.
    private(set) var untold: [TransportEvent] = []
    /// Why nothing came of it.
    private(set) var error: XMPPError?
    /// How much of the domain fails with it, then.
    private(set) var extent = FailureExtent.address
    /// Whether the place has no address that it could have gone to.
    private(set) var hadNowhereToGo = false

    /// Whether a server that has proven the domain sends everybody on to another host: an answer as good as features.
    var isSentOn: Bool { security != nil && error?.streamError?.condition == .seeOtherHost }

    private let account: JID
    private let clock: any StreamClock
    private let handshakeTimeout: Duration
    private let proof: ProofSource
    private let makeTLS: @Sendable (any ByteTransport, DANEProof?) throws(TLSError) -> TLSTransport
    private var opening: Task<Void, Never>?
    private var deadline: (any ScheduledTimer)?
    private var report: (@Sendable () -> Void)?

    /// Makes a scout; it goes nowhere yet.
    ///
    /// - Parameters:
    ///   - target: The place.
    ///   - machine: A machine that anticipates nothing.
    ///   - configuration: The account, and how long things may take.
    ///   - proof: Asks what DNS says about the certificate there.
    ///   - makeTLS: Makes TLS over a connection that begins with it, with what DNS says the certificate has to be.
    init(
        to target: ConnectionTarget, _ machine: StreamStateMachine, _ configuration: XMPPConfiguration,
        proof: @escaping ProofSource,
        tls makeTLS: @escaping @Sendable (any ByteTransport, DANEProof?) throws(TLSError) -> TLSTransport
    ) {
        self.target = target
        self.machine = machine
        account = configuration.jid
        clock = configuration.clock
        handshakeTimeout = configuration.timeouts.tls
        self.proof = proof
        self.makeTLS = makeTLS
    }

    private var isDirect: Bool { target.security != .startTLS }

    /// Sets out.
    ///
    /// - Parameters:
    ///   - connector: Where connections come from.
    ///   - executor: The stream's.
    ///   - opened: Called once on the queue, when it is connected, with the address.
    ///   - report: Called once on the queue, when there are features or an ``error``.
    func start(
        _ connector: any StreamConnector, on executor: StreamExecutor,
        opened: @escaping @Sendable (SocketAddress?) -> Void, report: @escaping @Sendable () -> Void
    ) {
        self.report = report
        opening = Task { [target, proof] in
            var answer = DANEAnswer.notAsked
            let result: Result<any ByteTransport, ConnectError>
            do throws(ConnectError) {
                answer = try await proof(target)
                result = .success(try await connector.connect(to: target, on: executor))
            } catch {
                result = .failure(error)
            }
            executor.run { [answer] in
                self.answer = answer
                if case .success(let transport) = result, self.report != nil { opened(transport.peerAddress) }
                self.opened(result)
            }
        }
    }

    /// Calls it off, without a report.
    func callOff() {
        report = nil
        opening?.cancel()
        deadline?.cancel()
        transport?.abort()
    }

    private func opened(_ result: Result<any ByteTransport, ConnectError>) {
        switch result {
        case .failure(let error):
            if case .noOtherAddress = error { hadNowhereToGo = true }
            fail(XMPPError(error, domain: account.asciiDomain), .place)
        case .success(let transport):
            guard report != nil else { return transport.abort() }
            self.transport = transport
            if !isDirect { listen() }
            perform(machine.transportConnected(directTLS: isDirect, peerIsLoopback: transport.peerIsLoopback))
        }
    }

    private func listen() {
        transport?.start { [weak self] event in self?.handle(event) }
    }

    private func handle(_ event: TransportEvent) {
        guard report != nil else {
            // The connection may end before the stream takes it over.
            if offer != nil { untold.append(event) }
            return
        }
        switch event {
        case .received(let bytes): read(bytes[...])
        case .drained: break
        case .endOfInput: perform(machine.inputEnded())
        case .closed(let error): perform(machine.transportEnded(error?.description ?? ""))
        }
    }

    private func read(_ bytes: ArraySlice<UInt8>) {
        var rest = bytes
        while !rest.isEmpty, report != nil {
            let outcome = parser.feed(rest, .oneEvent)
            rest = rest.dropFirst(outcome.consumed)
            for event in outcome.events {
                if case .element(let element) = event, element.isNamed("features", namespace: Namespace.streams) {
                    unparsed = rest
                    return succeed(event)
                }
                perform(machine.received(event))
            }
            if let error = outcome.error { return perform(machine.parserFailed(error)) }
            if outcome.consumed == 0, outcome.events.isEmpty { return }
        }
    }

    private func succeed(_ offer: XMLStreamEvent) {
        self.offer = offer
        transport?.pauseReading()
        end()
    }

    private func fail(_ error: XMPPError?, _ extent: FailureExtent) {
        guard report != nil else { return }
        self.extent = extent
        let phase: LoginPhase.Name = transport == nil ? .connection : security == nil ? .tls : .authentication
        self.error = (error ?? XMPPError(.connectionLost, "\(account.domainpart) closed the stream.")).placed(
            at: target.description, in: phase)
        transport?.abort()
        end()
    }

    private func end() {
        deadline?.cancel()
        let report = report
        self.report = nil
        report?()
    }

    private func perform(_ actions: [StreamAction]) {
        for action in actions where report != nil { perform(action) }
    }

    /// Does what the machine decided, as far as that can come before the features.
    private func perform(_ action: StreamAction) {
        switch action {
        case .openStream(let header):
            if let bytes = StreamFraming.document.opening(header) { transport?.send(bytes) }
        case .send(let element):
            if let bytes = try? StreamFraming.document.serialize(element, illegalCharacters: .replace) {
                transport?.send(bytes)
            }
        case .endStream: transport?.send(StreamFraming.document.closing)
        case .restartParser(let limits): parser = StreamReader(limits: limits)
        case .limit(let limits): parser.limits = limits
        case .startTLS: startTLS()
        case .schedule(.negotiation, let delay):
            guard let executor = transport?.executor else { return }
            deadline = clock.schedule(after: delay, on: executor) { [weak self] in
                guard let self else { return }
                perform(machine.timerFired(.negotiation))
            }
        case .emit(.ended(let end)): fail(XMPPError(end, domain: account.domainpart), end.extentBeforeFeatures)
        case .cancel(.negotiation): deadline?.cancel()
        case .closeTransport: transport?.close()
        case .abortTransport: transport?.abort()
        // The rest belongs to a stream that has its features.
        case .schedule, .cancel, .emit, .sendWhitespace, .deriveKeys: break
        }
    }

    private func startTLS() {
        guard let lower = transport else { return }
        do throws(TLSError) {
            let tls = try makeTLS(lower, answer.proof)
            transport = tls
            tls.handshake(timeout: handshakeTimeout) { [weak self] result in self?.secured(result) }
        } catch {
            fail(XMPPError(error, domain: account.asciiDomain), .place)
        }
    }

    private func secured(_ result: Result<TLSProperties, TLSError>) {
        guard report != nil else { return }
        switch result {
        case .failure(let error):
            fail(XMPPError(error, domain: account.asciiDomain), error.isSilence ? .address : .place)
        case .success(let properties):
            var security = ChannelSecurity(properties)
            security.tlsa = ChannelSecurity.TLSA(answer)
            self.security = security
            listen()
            perform(
                machine.tlsEstablished(
                    .verifiedTLS(channelBindings: properties.channelBindings, tlsVersion: properties.versionNumber)))
        }
    }
}
