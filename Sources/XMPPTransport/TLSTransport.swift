// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
package import SocketIO

/// TLS over another transport, as a ``ByteTransport``.
///
/// Make it, call ``handshake(timeout:_:)``, and after its success ``start(_:)``: events of the plaintext follow.
///
/// Unchecked: all mutable state is confined to the executor's queue, and every method checks that.
package final class TLSTransport: ByteTransport, @unchecked Sendable {
    /// How TLS begins.
    package enum Mode: Sendable, Hashable {
        /// From the first byte (XEP-0368): the transport below has not been started.
        case direct
        /// After `<proceed/>` (RFC 6120 §5.4.2.3): the transport below is running and is taken over; these bytes had
        /// already arrived behind `<proceed/>`.
        case startTLS(pendingInput: [UInt8])
    }

    /// How long a handshake may take. Default 15 seconds.
    package static let defaultHandshakeTimeout: Duration = .seconds(15)
    /// Bytes that OpenSSL is given at once.
    private static let pieceSize = 16_384
    /// First byte of every handshake record (RFC 8446 §5.1).
    private static let handshakeRecordType: UInt8 = 0x16

    private enum State {
        case idle
        case handshaking
        case open
        case closing
        case closed
    }

    package let executor: StreamExecutor
    /// What is known about the channel; `nil` before the handshake is done.
    package private(set) var properties: TLSProperties?

    private let lower: any ByteTransport
    private let engine: TLSEngine
    private let mode: Mode
    private let upgrade: TransportUpgrade<TLSProperties, TLSError>
    private var state = State.idle
    private var plaintext: [UInt8] = []
    private var isFlushScheduled = false
    private var isDrainScheduled = false
    private var isPaused = false
    private var hasInputEnded = false

    /// Prepares TLS over a transport.
    ///
    /// - Parameters:
    ///   - transport: The transport below; owned by this object from now on.
    ///   - context: The configuration.
    ///   - role: Which side this is, and whom the peer must prove to be.
    ///   - mode: How TLS begins.
    ///   - owner: For whom sessions are resumed and kept in `context`, an account as a rule; nobody else's are offered.
    ///     `nil` does without.
    ///   - dane: What DNS says about the peer's certificate, which it has to be then.
    ///   - clock: Where time comes from.
    /// - Throws: ``TLSError/configuration(_:)`` when OpenSSL refuses the settings.
    package init(
        over transport: any ByteTransport, context: TLSContext, role: TLSRole, mode: Mode,
        resumingFor owner: String? = nil, dane: DANEProof? = nil, clock: any StreamClock = SystemClock()
    ) throws(TLSError) {
        lower = transport
        executor = transport.executor
        engine = try TLSEngine(context, role: role, resumingFor: owner, dane: dane)
        self.mode = mode
        upgrade = TransportUpgrade(over: transport, clock: clock)
    }

    /// Shakes hands.
    ///
    /// - Parameters:
    ///   - timeout: How long it may take.
    ///   - completion: Called once on the queue, never from inside this call. After a failure the transport below is
    ///     being closed and no event will come unless ``start(_:)`` is called.
    package func handshake(
        timeout: Duration = TLSTransport.defaultHandshakeTimeout,
        _ completion: @escaping @Sendable (Result<TLSProperties, TLSError>) -> Void
    ) {
        checkQueue()
        guard state == .idle else { return }
        state = .handshaking
        upgrade.begin(
            self, within: timeout, late: { [weak self] in self?.fail(.timedOut(within: timeout)) }, completion)
        let receive: @Sendable (TransportEvent) -> Void = { [weak self] in self?.handle($0) }
        switch mode {
        case .direct:
            lower.start(receive)
        case .startTLS(let pendingInput):
            lower.replaceHandler(receive)
            // RFC 6120 §5.4.2.3, §5.3.3: what follows `<proceed/>` must be TLS; anything else was put there by
            // somebody.
            if let first = pendingInput.first, first != Self.handshakeRecordType { return fail(.plaintextInjected) }
            engine.feed(pendingInput[...])
        }
        advance()
        lower.resumeReading()
    }

    /// SHA-256 of the key in the certificate that the server has shown, 32 bytes, be the certificate refused; `nil`
    /// before.
    package var presentedKey: [UInt8]? {
        checkQueue()
        return engine.presentedKey
    }

    /// The certificates that the server has shown, its own first, be they refused; empty before. 16 at most.
    package var presentedCertificates: [TLSCertificate] {
        checkQueue()
        return engine.path
    }

    /// Whether the server was offered a session to resume: where the handshake fails, that may be the reason.
    package var hasOfferedSession: Bool {
        checkQueue()
        return engine.hasOfferedSession
    }

    package var peerIsLoopback: Bool { lower.peerIsLoopback }

    package var roundTrips: Int { lower.roundTrips }

    package var pendingBytes: Int {
        checkQueue()
        return plaintext.count + lower.pendingBytes
    }

    package func start(_ handler: @escaping @Sendable (TransportEvent) -> Void) {
        checkQueue()
        upgrade.listen(handler)
        executor.queue.async { self.upgrade.tellEnd() }
        if state == .open {
            scheduleDrain()
            if !isPaused { lower.resumeReading() }
        }
    }

    package func replaceHandler(_ handler: @escaping @Sendable (TransportEvent) -> Void) {
        checkQueue()
        upgrade.listen(handler)
    }

    package func send(_ bytes: [UInt8]) {
        checkQueue()
        guard state != .closing, state != .closed, !bytes.isEmpty else { return }
        plaintext.append(contentsOf: bytes)
        guard !isFlushScheduled, state == .open else { return }
        isFlushScheduled = true
        executor.queue.async { self.flush() }
    }

    package func pauseReading() {
        checkQueue()
        isPaused = true
        lower.pauseReading()
    }

    package func resumeReading() {
        checkQueue()
        guard isPaused else { return }
        isPaused = false
        if state == .open, upgrade.handler != nil {
            scheduleDrain()
            lower.resumeReading()
        }
    }

    package func close() {
        checkQueue()
        switch state {
        case .idle, .handshaking:
            abort()
        case .open:
            flush()
            guard state == .open else { return }
            state = .closing
            upgrade.hold(self)
            engine.sayGoodbye()
            lower.send(engine.takeOutput())
            lower.close()
        case .closing, .closed:
            break
        }
    }

    package func abort() {
        checkQueue()
        guard state != .closed else { return }
        upgrade.settle(.failure(.connectionLost("called off")))
        lower.abort()
        finish(nil)
    }

    private func checkQueue() {
        dispatchPrecondition(condition: .onQueue(executor.queue))
    }

    // MARK: Events of the transport below

    private func handle(_ event: TransportEvent) {
        switch event {
        case .received(let bytes):
            received(bytes)
        case .drained:
            if state == .open { upgrade.handler?(.drained) }
        case .endOfInput:
            inputEnded()
        case .closed(let error):
            if state == .handshaking {
                fail(.connectionLost(error?.description ?? "closed"))
            } else {
                finish(error)
            }
        }
    }

    /// Decrypts in pieces of about a record, so that OpenSSL's buffer, which never shrinks, stays small.
    private func received(_ ciphertext: [UInt8]) {
        var rest = ciphertext[...]
        while !rest.isEmpty {
            // After the peer's goodbye there is nothing to decrypt any more: do not pile it up either.
            guard state == .handshaking || (state == .open && !hasInputEnded) else { return }
            let piece = rest.prefix(Self.pieceSize)
            rest = rest.dropFirst(piece.count)
            engine.feed(piece)
            if state == .handshaking { advance() } else { drain() }
        }
    }

    private func advance() {
        do throws(TLSError) {
            let progress = try engine.advanceHandshake()
            // A client's last message waits for what its owner has to say first: they go in one flight.
            if progress != .done || engine.context.isServer { lower.send(engine.takeOutput()) }
            guard progress == .done else { return }
        } catch {
            return fail(error)
        }
        let properties = engine.properties()
        self.properties = properties
        state = .open
        // Until the owner listens nothing more is read, so that nothing piles up here.
        if upgrade.handler == nil { lower.pauseReading() }
        upgrade.settle(.success(properties))
        // Behind what the owner does when it is told.
        executor.queue.async { self.executor.queue.async { self.sendHandshakeRest() } }
        flush()
        if upgrade.handler != nil { scheduleDrain() }
    }

    /// The owner has had its say.
    private func sendHandshakeRest() {
        guard state == .open else { return }
        flush()
        if state == .open { lower.send(engine.takeOutput()) }
    }

    private func fail(_ error: TLSError) {
        guard state == .handshaking else { return }
        engine.forgetSessions()
        // The alert tells the peer why.
        lower.send(engine.takeOutput())
        lower.close()
        finish(TransportError(.tls, error.description))
        upgrade.settle(.failure(error))
    }

    private func scheduleDrain() {
        guard !isDrainScheduled else { return }
        isDrainScheduled = true
        executor.queue.async {
            self.isDrainScheduled = false
            self.drain()
        }
    }

    /// Decrypts until OpenSSL wants more input: one record may hide another, and nothing announces it.
    private func drain() {
        while state == .open, !isPaused, !hasInputEnded, let handler = upgrade.handler {
            let reading: TLSEngine.Reading
            do throws(TLSError) {
                reading = try engine.read()
            } catch {
                return breakDown(error)
            }
            switch reading {
            case .plaintext(let bytes):
                handler(.received(bytes))
            case .ended:
                hasInputEnded = true
                handler(.endOfInput)
            case .needsInput:
                // Reading may have produced an answer, to a key update for one.
                lower.send(engine.takeOutput())
                return
            }
        }
    }

    private func inputEnded() {
        switch state {
        case .handshaking:
            fail(.connectionLost("the server closed it"))
        case .open:
            isPaused = false
            drain()
            guard state == .open, !hasInputEnded else { return }
            lower.abort()
            finish(TransportError(.truncated, "the connection ended without the closing message of TLS"))
        case .idle, .closing, .closed:
            break
        }
    }

    private func breakDown(_ error: TLSError) {
        lower.send(engine.takeOutput())
        lower.close()
        finish(TransportError(.tls, error.description))
    }

    // MARK: Sending

    private func flush() {
        isFlushScheduled = false
        guard state == .open, !plaintext.isEmpty else { return }
        var rest = plaintext[...]
        plaintext = []
        do throws(TLSError) {
            while !rest.isEmpty {
                let piece = rest.prefix(Self.pieceSize)
                rest = rest.dropFirst(piece.count)
                try engine.write(piece)
                lower.send(engine.takeOutput())
            }
        } catch {
            breakDown(error)
        }
    }

    // MARK: The end

    private func finish(_ error: TransportError?) {
        guard state != .closed else { return }
        state = .closed
        plaintext = []
        upgrade.end(error)
    }
}
