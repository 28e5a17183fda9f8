// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
package import SocketIO

/// Which side of a WebSocket this is.
package enum WebSocketRole: Sendable, Hashable {
    /// The side that asks: the host of the address, with its port where that is not the usual one, and the path.
    case client(host: String, path: String)
    /// The side that is asked: for a WebSocket at this path, or for one of these documents at theirs.
    case server(path: String, documents: [String: [UInt8]] = [:])
}

/// A WebSocket for XMPP over another transport (RFC 7395), as a ``ByteTransport`` that keeps messages apart: each ``send(_:)`` is
/// one message, and each ``TransportEvent/received(_:)`` is one.
///
/// Make it over a transport that nobody has started yet, call ``upgrade(timeout:_:)``, and after its success ``start(_:)``.
///
/// Unchecked: all mutable state is confined to the executor's queue, and every method checks that.
package final class WebSocketTransport: ByteTransport, @unchecked Sendable {
    /// How long the handshake may take. Default 15 seconds.
    package static let defaultHandshakeTimeout: Duration = .seconds(15)
    /// Bytes handed to the framing at once.
    private static let pieceSize = 16_384
    /// How many bytes may wait to be written for an answer to a ping to be written too; 64 KiB.
    static let maximumUnwrittenAnswers = 65_536

    private enum State {
        case idle
        case upgrading
        case open
        case closed
    }

    package let executor: StreamExecutor

    private let lower: any ByteTransport
    private let role: WebSocketRole
    private let engine: WebSocketEngine
    private let clock: any StreamClock
    private let key = WebSocketHandshake.makeKey()
    private var state = State.idle
    private var handler: (@Sendable (TransportEvent) -> Void)?
    private var completion: (@Sendable (Result<Void, WebSocketError>) -> Void)?
    private var deadline: (any ScheduledTimer)?
    /// Bytes of the handshake, or of frames that nobody has asked for yet.
    private var input: [UInt8] = []
    /// Messages read and not handed on.
    private var messages: ArraySlice<WebSocketEngine.Event> = []
    private var isPaused = false
    private var isDelivering = false
    private var hasInputEnded = false
    private var untoldEnd: TransportEvent?
    /// This object during the handshake, so that its owner need not hold it.
    private var keepAliveReference: WebSocketTransport?

    /// Prepares a WebSocket over a transport.
    ///
    /// - Parameters:
    ///   - transport: The transport below, not started; owned by this object from now on.
    ///   - role: Which side this is.
    ///   - maximumMessageBytes: Bytes of a received message at most.
    ///   - clock: Where time comes from.
    /// - Throws: ``WebSocketError/connectionLost(_:)`` when there is no memory.
    package init(
        over transport: any ByteTransport, role: WebSocketRole, maximumMessageBytes: Int,
        clock: any StreamClock = SystemClock()
    ) throws(WebSocketError) {
        lower = transport
        executor = transport.executor
        self.role = role
        self.clock = clock
        let isServer = if case .server = role { true } else { false }
        do throws(WebSocketEngine.Violation) {
            engine = try WebSocketEngine(isServer: isServer, maximumMessageBytes: maximumMessageBytes)
        } catch {
            throw WebSocketError.connectionLost(error.description)
        }
    }

    /// Agrees on the WebSocket.
    ///
    /// - Parameters:
    ///   - timeout: How long it may take.
    ///   - completion: Called once on the queue, never from inside this call. After a failure the transport below is being
    ///     closed.
    package func upgrade(
        timeout: Duration = WebSocketTransport.defaultHandshakeTimeout,
        _ completion: @escaping @Sendable (Result<Void, WebSocketError>) -> Void
    ) {
        checkQueue()
        guard state == .idle else { return }
        state = .upgrading
        self.completion = completion
        keepAliveReference = self
        deadline = clock.schedule(after: timeout, on: executor) { [weak self] in
            self?.fail(.timedOut(within: timeout))
        }
        lower.start { [weak self] in self?.handle($0) }
        lower.resumeReading()
        if case .client(let host, let path) = role {
            lower.send(WebSocketHandshake.request(host: host, path: path, key: key))
        }
    }

    package var peerIsLoopback: Bool { lower.peerIsLoopback }

    package var roundTrips: Int { lower.roundTrips }

    package var pendingBytes: Int { lower.pendingBytes }

    package func start(_ handler: @escaping @Sendable (TransportEvent) -> Void) {
        checkQueue()
        self.handler = handler
        executor.queue.async {
            self.decode()
            self.deliver()
            self.tellEnd()
        }
        if !isPaused { lower.resumeReading() }
    }

    package func replaceHandler(_ handler: @escaping @Sendable (TransportEvent) -> Void) {
        checkQueue()
        self.handler = handler
    }

    /// Sends one message.
    package func send(_ bytes: [UInt8]) {
        checkQueue()
        guard state == .open, !bytes.isEmpty else { return }
        engine.send(bytes[...])
        lower.send(engine.takeOutput())
    }

    /// Sends a ping frame (RFC 7395 §3.8): white space is no message.
    package func keepAlive() {
        checkQueue()
        guard state == .open else { return }
        engine.ping()
        lower.send(engine.takeOutput())
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
        guard state == .open, handler != nil else { return }
        executor.queue.async {
            self.decode()
            self.deliver()
        }
        lower.resumeReading()
    }

    package func close() {
        checkQueue()
        switch state {
        case .idle, .upgrading: abort()
        case .open:
            engine.close()
            lower.send(engine.takeOutput())
            lower.close()
            finish(nil)
        case .closed: break
        }
    }

    package func abort() {
        checkQueue()
        guard state != .closed else { return }
        if let completion = takeCompletion() {
            executor.queue.async { completion(.failure(.connectionLost("called off"))) }
        }
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
            guard state == .upgrading || (state == .open && !hasInputEnded) else { return }
            input += bytes
            if state == .upgrading { advance() } else { decode() }
            deliver()
        case .drained:
            if state == .open { handler?(.drained) }
        case .endOfInput:
            if state == .upgrading { return fail(.connectionLost("the server closed it")) }
            guard state == .open, !hasInputEnded else { return }
            lower.abort()
            finish(TransportError(.truncated, "the connection ended without the closing message of WebSocket"))
        case .closed(let error):
            if state == .upgrading { return fail(.connectionLost(error?.description ?? "closed")) }
            finish(error)
        }
    }

    /// Goes on with the handshake as far as the input allows.
    private func advance() {
        do throws(HTTPHead.Fault) {
            guard let (head, count) = try HTTPHead.read(input[...]) else { return }
            input.removeFirst(count)
            try agree(head)
        } catch {
            fail(error == .tooLong ? .wrongAnswer("its head has no end") : .notHTTP)
        }
    }

    private func agree(_ head: HTTPHead) throws(HTTPHead.Fault) {
        switch role {
        case .client:
            do throws(WebSocketError) {
                try WebSocketHandshake.check(head, key: key)
            } catch {
                return fail(error)
            }
        case .server(let path, let documents):
            let (bytes, isAgreement) = WebSocketHandshake.answer(to: head, path: path, documents: documents)
            lower.send(bytes)
            guard isAgreement else { return fail(.refused(status: 400, reason: head.startLine)) }
        }
        state = .open
        keepAliveReference = nil
        // Until the owner listens nothing more is read, so that nothing piles up here.
        if handler == nil || isPaused { lower.pauseReading() }
        if let completion = takeCompletion() { executor.queue.async { completion(.success(())) } }
    }

    private func fail(_ error: WebSocketError) {
        guard state == .upgrading else { return }
        lower.close()
        let completion = takeCompletion()
        finish(TransportError(.connectionLost, error.description))
        if let completion { executor.queue.async { completion(.failure(error)) } }
    }

    private func takeCompletion() -> (@Sendable (Result<Void, WebSocketError>) -> Void)? {
        deadline?.cancel()
        deadline = nil
        defer { completion = nil }
        return completion
    }

    // MARK: Messages

    /// Takes the frames apart that have come, in pieces, unless nobody wants them now.
    private func decode() {
        while state == .open, !input.isEmpty, handler != nil, !isPaused {
            let piece = input.prefix(Self.pieceSize)
            do throws(WebSocketEngine.Violation) {
                messages += try engine.feed(piece)
            } catch {
                lower.send(engine.takeOutput())
                lower.close()
                return finish(
                    TransportError(.connectionLost, "the server breaks the rules of WebSocket: \(error.description)"))
            }
            input.removeFirst(piece.count)
            // Answers to pings, and to the closing frame. RFC 6455 §5.5.3 leaves it open to answer every ping: nothing piles
            // up for a server that asks and asks and reads none of the answers.
            let answer = engine.takeOutput()
            if !answer.isEmpty, lower.pendingBytes < Self.maximumUnwrittenAnswers { lower.send(answer) }
            deliver()
        }
    }

    private func deliver() {
        guard !isDelivering else { return }
        isDelivering = true
        defer { isDelivering = false }
        while state == .open, !isPaused, !hasInputEnded, let handler, let event = messages.popFirst() {
            switch event {
            case .message(let bytes):
                // An empty message says nothing: RFC 7395 §3.3 does not have it, and it is not worth a stream.
                if !bytes.isEmpty { handler(.received(bytes)) }
            case .closed:
                hasInputEnded = true
                handler(.endOfInput)
            }
        }
    }

    // MARK: The end

    private func finish(_ error: TransportError?) {
        guard state != .closed else { return }
        state = .closed
        deadline?.cancel()
        deadline = nil
        input = []
        messages = []
        lower.replaceHandler { _ in }
        untoldEnd = .closed(error)
        executor.queue.async { self.tellEnd() }
        keepAliveReference = nil
    }

    private func tellEnd() {
        guard let event = untoldEnd, let handler else { return }
        untoldEnd = nil
        self.handler = nil
        handler(event)
    }
}
