// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
package import SocketIO

/// Which side of a WebSocket this is.
package enum WebSocketRole: Sendable, Hashable {
    /// The side that asks: the host of the address, with its port where that is not the usual one, and the path.
    case client(host: String, path: String)
    /// The side that is asked: for a WebSocket at this path, or for one of these documents at theirs.
    case server(path: String, documents: [String: WebReply] = [:])
}

/// A WebSocket for XMPP over another transport (RFC 7395), as a ``ByteTransport`` that keeps messages apart: each
/// ``send(_:)`` is one message, and each ``TransportEvent/received(_:)`` is one.
///
/// Make it over a transport that nobody has started yet, call ``upgrade(timeout:_:)``, and after its success
/// ``start(_:)``.
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
    private let handshake: TransportUpgrade<Void, WebSocketError>
    private let key = WebSocketHandshake.makeKey()
    private var state = State.idle
    /// Bytes of the handshake, or of frames that nobody has asked for yet.
    private var input: [UInt8] = []
    /// Messages read and not handed on.
    private var messages: ArraySlice<WebSocketEngine.Event> = []
    private var isPaused = false
    private var isDelivering = false
    private var hasInputEnded = false

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
        handshake = TransportUpgrade(over: transport, clock: clock)
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
    ///   - completion: Called once on the queue, never from inside this call. After a failure the transport below is
    ///     being closed.
    package func upgrade(
        timeout: Duration = WebSocketTransport.defaultHandshakeTimeout,
        _ completion: @escaping @Sendable (Result<Void, WebSocketError>) -> Void
    ) {
        checkQueue()
        guard state == .idle else { return }
        state = .upgrading
        handshake.begin(
            self, within: timeout, late: { [weak self] in self?.fail(.timedOut(within: timeout)) }, completion)
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
        handshake.listen(handler)
        executor.queue.async {
            self.decode()
            self.deliver()
            self.handshake.tellEnd()
        }
        if !isPaused { lower.resumeReading() }
    }

    package func replaceHandler(_ handler: @escaping @Sendable (TransportEvent) -> Void) {
        checkQueue()
        handshake.listen(handler)
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
        guard state == .open, handshake.handler != nil else { return }
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
        handshake.settle(.failure(.connectionLost("called off")))
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
            if state == .open { handshake.handler?(.drained) }
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
        // Until the owner listens nothing more is read, so that nothing piles up here.
        if handshake.handler == nil || isPaused { lower.pauseReading() }
        handshake.settle(.success(()))
    }

    private func fail(_ error: WebSocketError) {
        guard state == .upgrading else { return }
        lower.close()
        finish(TransportError(.connectionLost, error.description))
        handshake.settle(.failure(error))
    }

    // MARK: Messages

    /// Takes the frames apart that have come, in pieces, unless nobody wants them now.
    private func decode() {
        while state == .open, !input.isEmpty, handshake.handler != nil, !isPaused {
            let piece = input.prefix(Self.pieceSize)
            do throws(WebSocketEngine.Violation) {
                messages += try engine.feed(piece)
            } catch {
                lower.send(engine.takeOutput())
                lower.close()
                return finish(
                    TransportError(.violation, "the server breaks the rules of WebSocket: \(error.description)"))
            }
            input.removeFirst(piece.count)
            // Answers to pings, and to the closing frame. RFC 6455 §5.5.3 leaves it open to answer every ping: nothing
            // piles up for a server that asks and asks and reads none of the answers.
            let answer = engine.takeOutput()
            if !answer.isEmpty, lower.pendingBytes < Self.maximumUnwrittenAnswers { lower.send(answer) }
            deliver()
        }
    }

    private func deliver() {
        guard !isDelivering else { return }
        isDelivering = true
        defer { isDelivering = false }
        while state == .open, !isPaused, !hasInputEnded, let handler = handshake.handler,
            let event = messages.popFirst()
        {
            switch event {
            case .message(let bytes):
                // An empty message says nothing: RFC 7395 §3.3 does not have it, and it is not worth a stream.
                if !bytes.isEmpty { handler(.received(bytes)) }
            case .closed(let code, let reason):
                hasInputEnded = true
                guard let why = Self.farewell(code, reason) else {
                    handler(.endOfInput)
                    continue
                }
                lower.close()
                finish(TransportError(.connectionLost, "the server closed the WebSocket (\(why))"))
            }
        }
    }

    /// What a closing frame says beyond that all is done; `nil` for nothing. The codes are those of RFC 6455 §7.4.1,
    /// and of the registry behind it.
    private static func farewell(_ code: UInt16, _ reason: String) -> String? {
        let meaning: String? =
            switch code {
            case 0, 1_000, 1_005: nil
            case 1_001: "going away, 1001"
            case 1_002: "protocol error, 1002"
            case 1_003: "unsupported data, 1003"
            case 1_007: "invalid data, 1007"
            case 1_008: "policy violation, 1008"
            case 1_009: "message too big, 1009"
            case 1_011: "internal error, 1011"
            case 1_012: "restart, 1012"
            case 1_013: "try again later, 1013"
            default: "code \(code)"
            }
        let parts = [meaning, reason.isEmpty ? nil : "“\(reason)”"].compactMap { $0 }
        return parts.isEmpty ? nil : parts.joined(separator: ": ")
    }

    // MARK: The end

    private func finish(_ error: TransportError?) {
        guard state != .closed else { return }
        state = .closed
        input = []
        messages = []
        handshake.end(error)
    }
}
