// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
public import XMPPCore
internal import XMPPCrypto
internal import XMPPProtocol
internal import XMPPTransport
internal import XMPPXML

extension XMPPStream {
    /// Finds the server, connects, secures the channel, authenticates and binds a resource.
    ///
    /// Every place that DNS names is tried until one has a stream to log in at. What goes wrong once it was told who we
    /// are is final, and so is a wrong certificate, or no TLS, behind an answer: somebody in between may have brought
    /// that about. The other addresses of a host are tried while it is silent, or ends the connection before it has
    /// said anything; not after it has answered with something else, such as a certificate that is refused. Cancelling
    /// the task abandons the attempt.
    ///
    /// - Returns: The full address of the session.
    /// - Throws: ``XMPPError`` that names the step that failed, ``XMPPError/Code/notConnected`` when the stream was
    ///   used before.
    @discardableResult
    public func connect() async throws(XMPPError) -> JID {
        guard case .fresh = phase else {
            throw XMPPError(.notConnected, "A stream can be connected once; make a new one.")
        }
        phase = .connecting
        let outcome = await makeConnection()
        if case .failure(let error) = outcome { finish(error) }
        return try outcome.get()
    }

    private func makeConnection() async -> Result<JID, XMPPError> {
        // A task of its own, so that `disconnect()` can call off what is under way, look-ups included.
        let task = Task { await tryTargets() }
        connecting = task
        let outcome = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
            Task { await self.cancelAttempt() }
        }
        connecting = nil
        await saveMemory()
        return outcome
    }

    /// Connects again for the session of an interrupted stream: resumes it, or makes a new one where the server does
    /// not.
    ///
    /// - Returns: The full address of the session.
    /// - Throws: ``XMPPError``; the stream is still interrupted then, unless the error is permanent.
    @discardableResult
    package func reconnect() async throws(XMPPError) -> JID {
        guard case .interrupted = phase else { throw disconnection ?? .notConnected }
        phase = .connecting
        await settle()
        let outcome = await makeConnection()
        if case .failure(let error) = outcome {
            if isDisconnecting || error.isPermanent { finish(error) } else { phase = .interrupted(error) }
        }
        return try outcome.get()
    }

    func attempt(
        _ target: ConnectionTarget, _ context: TLSContext, isCautious: Bool
    ) async -> AttemptOutcome {
        await prepareToken()
        beginPhase(isAnew: true)
        // What is still in the delegates' hands was not counted: the server sends it again. What the store is at work
        // on counts in the session as it was.
        ledger.forget()
        while keeping?.isAtWork == true { _ = await wait(for: .settling, heedsCancellation: false) }
        let transport: any ByteTransport
        do {
            let (connector, executor, proof) = (connector, executor, proofSource)
            attemptAnswer = try await unlessOvertaken { () async throws(ConnectError) in try await proof(target) }
            lookedUp()
            log(.step, "connecting to \(target)")
            transport = try await unlessOvertaken { () async throws(ConnectError) in
                try await connector.connect(to: target, on: executor)
            }
        } catch {
            if let error = overtaking { return .failed(error, .address) }
            // Nothing was tried.
            if case .noOtherAddress = error { return .failed(nil, .address) }
            // Without the proxy there is no way to the other places either.
            let isFinal = if case .proxyFailed(_, _, let reason) = error { !reason.concernsTarget } else { false }
            let failure = XMPPError(error, domain: configuration.jid.asciiDomain)
            return .failed(failure.placed(at: target.description, in: .connection), isFinal ? .domain : .place)
        }
        guard !Task.isCancelled, !isDisconnecting, overtaking == nil else {
            transport.abort()
            return .failed(overtaking, .address)
        }
        raceAddresses(of: target, except: transport.peerAddress)
        showedLife()
        reached(.connected(StreamPlace(target)))
        keeping?.forgetReceived()
        beginAttempt(at: target, newMachine(isCautious: isCautious), context)
        take(transport)
        if case .webSocket = target.security { framing = .messages } else { framing = .document }
        let isDirect = target.security != .startTLS
        return await withCheckedContinuation { continuation in
            attempt = continuation
            if !isDirect { startReading(transport) }
            perform(
                machine.transportConnected(directTLS: isDirect, peerIsLoopback: transport.peerIsLoopback))
            endTurn()
        }
    }

    /// A machine for another connection.
    func newMachine(isCautious: Bool) -> StreamStateMachine {
        StreamStateMachine(
            configuration: configuration.stream(
                isResumable: isResumable, memory: memory, inlineFeatures: inlineWishes, isCautious: isCautious),
            resuming: machine.resumableState, features: features, leavesRepeating: keeping != nil || !ownsHub,
            leavesRoomMessages: !ownsHub,
            leavesDoubted: (keeping != nil || !ownsHub) && isLossRecent(withMessages: true))
    }

    /// What was known of an earlier attempt does not hold for this one.
    func beginAttempt(at target: ConnectionTarget, _ machine: StreamStateMachine, _ context: TLSContext) {
        self.machine = machine
        attemptGotFeatures = false
        hasMissedTLSSession = false
        attemptEnd = nil
        isAttemptAnswered = false
        security = nil
        endpoint = target.description
        tlsContext = context
        attemptTarget = target
    }

    /// Does a part of opening a connection, unless another place is faster meanwhile.
    private func unlessOvertaken<Value: Sendable>(
        _ work: @escaping @Sendable () async throws(ConnectError) -> Value
    ) async throws(ConnectError) -> Value {
        guard overtaking == nil else { throw .cancelled }
        let task = Task { () -> Result<Value, ConnectError> in
            do throws(ConnectError) {
                return .success(try await work())
            } catch {
                return .failure(error)
            }
        }
        opening = { task.cancel() }
        defer { opening = nil }
        return try await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }.get()
    }

    /// Makes a transport the stream's own; what an earlier one still says is passed over.
    func take(_ transport: any ByteTransport) {
        generation += 1
        self.transport = transport
        unparsed = []
        messageEnds = []
        isReadingPaused = false
    }

    private func startReading(_ transport: any ByteTransport) {
        transport.start(eventHandler())
    }

    func eventHandler() -> @Sendable (TransportEvent) -> Void {
        let generation = generation
        return { [weak self] event in
            self?.assumeIsolated { $0.transportEvent(event, generation: generation) }
        }
    }

    /// Begins TLS on the present transport; what was read behind `<proceed/>` is its first input.
    func startTLS() {
        guard let lower = transport, let tlsContext, let target = attemptTarget else { return }
        let isDirect = target.security != .startTLS
        let pending = Array(unparsed)
        do {
            let tls = try TLSTransport(
                over: lower, context: tlsContext,
                role: .client(identity(at: target), offersProtocol: target.security == .directTLS),
                mode: isDirect ? .direct : .startTLS(pendingInput: pending), resumingFor: tlsSessionOwner,
                dane: attemptAnswer.proof, clock: configuration.clock)
            take(tls)
            let generation = generation
            tls.handshake(timeout: configuration.timeouts.tls) { [weak self] result in
                self?.assumeIsolated { $0.handshakeEnded(result, tls, generation: generation) }
            }
        } catch {
            attemptEnd = XMPPError(error, domain: configuration.jid.asciiDomain)
            perform(machine.transportEnded("\(error)"))
        }
    }

    private func handshakeEnded(
        _ result: Result<TLSProperties, TLSError>, _ tls: TLSTransport, generation: Int
    ) {
        guard generation == self.generation else { return }
        switch result {
        case .failure(let error):
            hasMissedTLSSession = tls.hasOfferedSession && !error.concernsCertificate
            isAttemptAnswered = !error.isSilence
            attemptEnd = XMPPError(
                error, domain: configuration.jid.asciiDomain, presentedKey: tls.presentedKey,
                certificates: tls.presentedCertificates)
            perform(machine.transportEnded("\(error)"))
        case .success(let properties):
            var security = ChannelSecurity(properties)
            security.tlsa = ChannelSecurity.TLSA(attemptAnswer)
            self.security = security
            if let identity = properties.identity { meet(security, identity: identity.domain) }
            showedLife()
            reached(.secured(security))
            log(.step, "secured with \(properties.version), \(properties.cipher)")
            let channel = SecureChannel.verifiedTLS(
                channelBindings: properties.channelBindings, tlsVersion: properties.versionNumber)
            if case .webSocket(let path)? = attemptTarget?.security { return openWebSocket(path, over: tls, channel) }
            tls.start(eventHandler())
            perform(machine.tlsEstablished(channel))
        }
        endTurn()
    }

    /// Whom the certificate must prove: the account's domain, whatever the host that was connected to; at a web server,
    /// which serves many domains, the host that the user, or the domain itself by way of HTTPS, has named (RFC 7395
    /// §4). Where the domain has said over HTTPS which server it is, either of the two will do (XEP-0487 §4).
    func identity(at target: ConnectionTarget) -> ReferenceIdentity {
        if case .webSocket = target.security, target.delegation == nil {
            return ReferenceIdentity(domain: target.host)
        }
        return ReferenceIdentity(
            domain: configuration.jid.connectDomain, unicodeDomain: configuration.jid.domainpart,
            delegation: target.delegation)
    }

    /// Agrees on a WebSocket inside of TLS; the stream begins when it is there.
    private func openWebSocket(_ path: String, over tls: TLSTransport, _ channel: SecureChannel) {
        guard let target = attemptTarget else { return }
        do throws(WebSocketError) {
            let webSocket = try WebSocketTransport(
                over: tls, role: .client(host: target.hostField, path: path),
                maximumMessageBytes: maximumMessageBytes, clock: configuration.clock)
            take(webSocket)
            let generation = generation
            webSocket.upgrade(timeout: configuration.timeouts.tls) { [weak self] result in
                self?.assumeIsolated { $0.webSocketOpened(result, webSocket, channel, generation: generation) }
            }
        } catch {
            webSocketFailed(error)
        }
        endTurn()
    }

    private func webSocketOpened(
        _ result: Result<Void, WebSocketError>, _ webSocket: WebSocketTransport, _ channel: SecureChannel,
        generation: Int
    ) {
        guard generation == self.generation else { return }
        switch result {
        case .failure(let error): webSocketFailed(error)
        case .success:
            log(.step, "opened a WebSocket")
            webSocket.start(eventHandler())
            parser = StreamReader(framing, limits: .beforeAuthentication)
            perform(machine.tlsEstablished(channel))
        }
        endTurn()
    }

    private func webSocketFailed(_ error: WebSocketError) {
        attemptEnd = XMPPError(
            .connectionFailed, "Cannot connect for \(configuration.jid.asciiDomain) at \(endpoint ?? ""): \(error).")
        isAttemptAnswered = true
        perform(machine.transportEnded("\(error)"))
    }

    /// The task that connects was cancelled.
    private func cancelAttempt() {
        guard case .connecting = phase else { return }
        endRace()
        attemptEnd = XMPPError(.cancelled, "Connecting to \(configuration.jid.domainpart) was called off.")
        transport?.abort()
        perform(machine.transportEnded("called off"))
        endTurn()
    }
}

extension JID {
    /// The domain as DNS and certificates write it: A-labels, and an IPv6 address without brackets.
    var connectDomain: String {
        let domain = asciiDomain
        return domain.hasPrefix("[") && domain.hasSuffix("]") ? String(domain.dropFirst().dropLast()) : domain
    }
}

extension StreamPlace {
    /// A target of the connector.
    init(_ target: ConnectionTarget) {
        let way: Way =
            switch target.security {
            case .startTLS: .startTLS
            case .directTLS: .directTLS
            case .webSocket: .webSocket
            }
        self.init(endpoint: target.description, way: way)
    }
}

extension TLSProperties {
    /// What SASL may bind to, best first (RFC 9266 §2).
    var channelBindings: [ChannelBindingData] {
        [
            exporterBinding.map { ChannelBindingData(type: .tlsExporter, bytes: $0) },
            serverEndPointBinding.map { ChannelBindingData(type: .tlsServerEndPoint, bytes: $0) },
        ].compactMap { $0 }
    }
}

extension XMPPError {
    /// Why no connection could be made.
    init(_ error: ConnectError, domain: String) {
        let code: Code =
            switch error {
            case .hostNotFound: .hostNotFound
            case .serviceNotAvailable: .serviceUnavailable
            case .allAddressesFailed, .noOtherAddress: .connectionFailed
            case .proxyFailed(_, _, let error) where error.concernsTarget: .connectionFailed
            case .proxyFailed(_, _, let error): error.concernsSettings ? .invalidConfiguration : .proxyFailed
            case .resolverFailed, .notVerifiable, .timedOut: .resolverFailed
            case .cancelled: .cancelled
            }
        self.init(code, "Cannot connect for \(domain): \(error).")
    }

    /// Why the channel could not be secured.
    ///
    /// - Parameters:
    ///   - presentedKey: SHA-256 of the key that the server has shown.
    ///   - certificates: What it has shown.
    init(
        _ error: TLSError, domain: String, presentedKey: [UInt8]? = nil, certificates: [TLSCertificate] = []
    ) {
        let code: Code
        if error.concernsCertificate {
            code = .certificateRejected
        } else if case .timedOut = error {
            code = .timedOut
        } else {
            code = .tlsFailed
        }
        self.init(code, "No secure connection for \(domain): \(error). Nothing secret was sent.")
        if error.concernsCertificate {
            self.presentedKey = presentedKey.flatMap { KeyFingerprint($0) }
            presentedCertificates = certificates.map(ChannelSecurity.Certificate.init)
            certificateFault = CertificateFault(error)
        }
    }
}

extension XMPPError.CertificateFault {
    fileprivate init(_ error: TLSError) {
        self =
            switch error {
            case .certificateNameMismatch: .name
            case .expired: .expired
            case .notYetValid: .notYetValid
            case .selfSigned: .selfSigned
            case .untrustedIssuer: .issuer
            case .keyNotPinned: .key
            case .revoked: .revoked
            default: .other
            }
    }
}
