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
    /// Every place that DNS names is tried until one answers with stream features; what goes wrong after that is final.
    /// Cancelling the task abandons the attempt.
    ///
    /// - Returns: The full address of the session.
    /// - Throws: ``XMPPError`` that names the step that failed, ``XMPPError/Code/notConnected`` when the stream was used
    ///   before.
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

    /// Connects again for the session of an interrupted stream: resumes it, or makes a new one where the server does not.
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

    /// The place that the user names, if any.
    private var override: ConnectionTarget? {
        if let address = configuration.webSocket { return ConnectionTarget(address) }
        return configuration.host.map {
            ConnectionTarget(
                host: $0, port: configuration.port,
                security: configuration.hostSecurity == .directTLS ? .directTLS : .startTLS)
        }
    }

    /// Where the server would like the session to be asked for (XEP-0198 §5). The certificate proves the domain there as
    /// everywhere; a place that the user names comes first.
    private var preferredTarget: ConnectionTarget? {
        guard override == nil, let state = machine.resumableState, state.id != nil else { return nil }
        return state.location.flatMap { ConnectionTarget(location: $0) }
    }

    private func tryTargets() async -> Result<JID, XMPPError> {
        let domain = configuration.jid.connectDomain
        let targets: [ConnectionTarget]
        let context: TLSContext
        do {
            context = try configuration.tlsContexts.context(
                authorities: configuration.certificateAuthorityFile, certificate: configuration.clientCertificate)
        } catch {
            return .failure(XMPPError(.invalidConfiguration, "TLS cannot be set up: \(error)."))
        }
        do {
            log(.step, "resolving \(domain)")
            let found = try await connector.targets(for: domain, override: override)
            targets = (preferredTarget.map { [$0] } ?? []) + found
        } catch {
            return .failure(XMPPError(error, domain: domain))
        }
        reached(.resolved(targets.map(StreamPlace.init)))
        await recall()
        var failures: [XMPPError] = []
        if let outcome = await tryEach(of: targets, context, &failures) { return outcome }
        let others = await alternatives(after: failures, context)
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
        for target in targets {
            if Task.isCancelled || isDisconnecting { break }
            switch await reach(target, context) {
            case .established(let jid): return .success(jid)
            case .failed(let error, spokeXMPP: true):
                let domain = configuration.jid.connectDomain
                return .failure(error ?? XMPPError(.cancelled, "Connecting to \(domain) was called off."))
            case .failed(let error, spokeXMPP: false):
                if let error {
                    failures.append(error)
                    reached(.failed(StreamPlace(target), error))
                }
            }
        }
        return nil
    }

    /// Tries one place, twice where the first time relied too much on what was offered before.
    func tryPlace(_ target: ConnectionTarget, _ context: TLSContext) async -> AttemptOutcome {
        let outcome = await attempt(target, context, isCautious: !configuration.anticipatesFeatures)
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
        let others = failures.filter { $0 != error }.map(\.message)
        if !others.isEmpty { error.message += " Also tried: " + others.joined(separator: " ") }
        return error
    }

    private func attempt(
        _ target: ConnectionTarget, _ context: TLSContext, isCautious: Bool
    ) async -> AttemptOutcome {
        await prepareToken()
        // What is still in the delegates' hands was not counted: the server sends it again. What the store is at work on counts in
        // the session as it was.
        ledger.forget()
        while keeping?.isAtWork == true { _ = await wait(for: .settling, heedsCancellation: false) }
        let transport: any ByteTransport
        do {
            log(.step, "connecting to \(target)")
            transport = try await connector.connect(to: target, on: executor)
        } catch {
            // Without the proxy there is no way to the other places either.
            let isFinal = if case .proxyFailed(_, _, let reason) = error { !reason.concernsTarget } else { false }
            return .failed(XMPPError(error, domain: configuration.jid.asciiDomain), spokeXMPP: isFinal)
        }
        guard !Task.isCancelled, !isDisconnecting else {
            transport.abort()
            return .failed(nil, spokeXMPP: false)
        }
        reached(.connected(StreamPlace(target)))
        keeping?.forgetReceived()
        machine = StreamStateMachine(
            configuration: configuration.stream(
                isResumable: isResumable, memory: memory, inlineFeatures: inlineWishes, isCautious: isCautious),
            resuming: machine.resumableState, features: features, leavesRepeating: keeping != nil,
            leavesRoomMessages: !ownsHub)
        attemptGotFeatures = false
        isDerivingKeys = false
        attemptEnd = nil
        security = nil
        endpoint = target.description
        tlsContext = context
        take(transport)
        attemptTarget = target
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

    /// Makes a transport the stream's own; what an earlier one still says is passed over.
    private func take(_ transport: any ByteTransport) {
        generation += 1
        self.transport = transport
        unparsed = []
        messageEnds = []
        isReadingPaused = false
    }

    private func startReading(_ transport: any ByteTransport) {
        transport.start(eventHandler())
    }

    private func eventHandler() -> @Sendable (TransportEvent) -> Void {
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
                mode: isDirect ? .direct : .startTLS(pendingInput: pending), clock: configuration.clock)
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
            attemptEnd = XMPPError(error, domain: configuration.jid.asciiDomain)
            perform(machine.transportEnded("\(error)"))
        case .success(let properties):
            let security = ChannelSecurity(properties)
            self.security = security
            reached(.secured(security))
            log(.step, "secured with \(properties.version), \(properties.cipher)")
            let channel = SecureChannel.verifiedTLS(channelBindings: properties.channelBindings)
            if case .webSocket(let path)? = attemptTarget?.security { return openWebSocket(path, over: tls, channel) }
            tls.start(eventHandler())
            perform(machine.tlsEstablished(channel))
        }
        endTurn()
    }

    /// Whom the certificate must prove: the account's domain, whatever the host that was connected to; at a web server, which
    /// serves many domains, the host that the user, or the domain itself by way of HTTPS, has named (RFC 7395 §4).
    private func identity(at target: ConnectionTarget) -> ReferenceIdentity {
        if case .webSocket = target.security { return ReferenceIdentity(domain: target.host) }
        return ReferenceIdentity(
            domain: configuration.jid.connectDomain, unicodeDomain: configuration.jid.domainpart)
    }

    /// Agrees on a WebSocket inside of TLS; the stream begins when it is there.
    private func openWebSocket(_ path: String, over tls: TLSTransport, _ channel: SecureChannel) {
        guard let target = attemptTarget else { return }
        do throws(WebSocketError) {
            let webSocket = try WebSocketTransport(
                over: tls, role: .client(host: target.hostField, path: path),
                maximumMessageBytes: configuration.limits.maximumStanzaBytes, clock: configuration.clock)
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
        perform(machine.transportEnded("\(error)"))
    }

    /// The task that connects was cancelled.
    private func cancelAttempt() {
        guard case .connecting = phase else { return }
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

extension ChannelSecurity {
    /// What a handshake brought.
    init(_ properties: TLSProperties) {
        let certificate = properties.certificates.first
        self.init(
            version: properties.version, cipher: properties.cipher, subject: certificate?.subject ?? "",
            issuer: certificate?.issuer ?? "", notAfter: certificate?.notAfter ?? "",
            names: certificate?.names.map(\.description) ?? [], matchedName: properties.matchedName?.description,
            fingerprint: certificate?.fingerprint ?? [])
    }
}

extension XMPPError {
    /// Why no connection could be made.
    init(_ error: ConnectError, domain: String) {
        let code: Code =
            switch error {
            case .hostNotFound: .hostNotFound
            case .serviceNotAvailable: .serviceUnavailable
            case .allAddressesFailed: .connectionFailed
            case .proxyFailed(_, _, let error) where error.concernsTarget: .connectionFailed
            case .proxyFailed(_, _, let error): error.concernsSettings ? .invalidConfiguration : .proxyFailed
            case .resolverFailed, .timedOut: .resolverFailed
            case .cancelled: .cancelled
            }
        self.init(code, "Cannot connect for \(domain): \(error).")
    }

    /// Why the channel could not be secured.
    init(_ error: TLSError, domain: String) {
        let code: Code
        if error.concernsCertificate {
            code = .certificateRejected
        } else if case .timedOut = error {
            code = .timedOut
        } else {
            code = .tlsFailed
        }
        self.init(code, "No secure connection for \(domain): \(error). Nothing secret was sent.")
    }
}
