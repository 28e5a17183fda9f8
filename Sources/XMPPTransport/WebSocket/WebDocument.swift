// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
package import SocketIO

/// Gets one small document over HTTPS: what a domain publishes about itself (RFC 8615).
package struct WebDocument: Sendable {
    /// Bytes of an answer at most, head and body.
    package static let maximumBytes = 65_536

    /// Why it could not be had.
    package enum Failure: Error, Sendable, Hashable, CustomStringConvertible {
        /// No connection to the web server.
        case unreachable(ConnectError)
        /// The web server could not prove that it is the host, or TLS failed.
        case insecure(TLSError)
        /// The answer has another status than 200; where it sends on to, if it does. Nobody goes there.
        case status(Int, location: String?)
        /// The answer is no HTTP, ends early or is too long.
        case malformed
        /// The answer was not there within this time.
        case timedOut(Duration)

        /// What happened.
        package var description: String {
            switch self {
            case .unreachable(let error): "\(error)"
            case .insecure(let error): "\(error)"
            case .status(let code, nil): "the web server answers \(code)"
            case .status(let code, let location?):
                "the web server answers \(code) and sends on to \(PrintableText.clean(location)), where nobody goes"
            case .malformed: "the web server's answer cannot be read"
            case .timedOut(let time): "no answer of the web server within \(time.spoken)"
            }
        }
    }

    /// A document that was had.
    package struct Contents: Sendable, Hashable {
        /// The body.
        package let bytes: [UInt8]
        /// What kind of document the web server says it is, in lower case and without parameters; `nil` when it says
        /// nothing.
        package let mediaType: String?
    }

    private let host: String
    private let path: String
    private let mediaType: String
    private let connector: any StreamConnector
    private let context: TLSContext
    private let clock: any StreamClock

    /// Names a document.
    ///
    /// - Parameters:
    ///   - host: The host, which its certificate must prove; port 443.
    ///   - path: The path; begins with `/`.
    ///   - mediaType: The kind of document that is asked for.
    ///   - connector: Where connections come from.
    ///   - context: The trust in certificates.
    ///   - clock: Where time comes from.
    package init(
        host: String, path: String, mediaType: String, connector: any StreamConnector, context: TLSContext,
        clock: any StreamClock = SystemClock()
    ) {
        self.host = host
        self.path = path
        self.mediaType = mediaType
        self.connector = connector
        self.context = context
        self.clock = clock
    }

    /// Gets the document. Cancelling the task closes the connection.
    ///
    /// - Parameters:
    ///   - executor: Whose queue the connection is on.
    ///   - timeout: How long it may take once the connection is there.
    /// - Returns: The document, whatever kind it is of.
    package func get(on executor: StreamExecutor, timeout: Duration) async throws(Failure) -> Contents {
        let target = ConnectionTarget(host: host, security: .webSocket(path: path))
        let transport: any ByteTransport
        do throws(ConnectError) {
            transport = try await connector.connect(to: target, on: executor)
        } catch {
            throw Failure.unreachable(error)
        }
        let exchange = Exchange(
            request: Array(
                "GET \(path) HTTP/1.1\r\nHost: \(target.hostField)\r\nAccept: \(mediaType)\r\nConnection: close\r\n\r\n"
                    .utf8))
        executor.queue.async { [host, context, clock] in
            exchange.begin(over: transport, host: host, context: context, clock: clock, timeout: timeout)
        }
        return try await withTaskCancellationHandler {
            await exchange.outcome.value()
        } onCancel: {
            executor.queue.async { exchange.end(.failure(.unreachable(.cancelled))) }
        }.get()
    }

    /// One request and its answer.
    ///
    /// Unchecked: all mutable state is confined to the executor's queue of the transport.
    private final class Exchange: @unchecked Sendable {
        let outcome = Handover<Result<Contents, Failure>>()
        private let request: [UInt8]
        private var tls: TLSTransport?
        private var deadline: (any ScheduledTimer)?
        private var input: [UInt8] = []

        init(request: [UInt8]) {
            self.request = request
        }

        func begin(
            over transport: any ByteTransport, host: String, context: TLSContext, clock: any StreamClock,
            timeout: Duration
        ) {
            let identity = ReferenceIdentity(domain: host)
            do throws(TLSError) {
                tls = try TLSTransport(
                    over: transport, context: context, role: .client(identity, offersProtocol: false), mode: .direct,
                    clock: clock)
            } catch {
                transport.abort()
                return end(.failure(.insecure(error)))
            }
            deadline = clock.schedule(after: timeout, on: transport.executor) { [weak self] in
                self?.end(.failure(.timedOut(timeout)))
            }
            tls?.handshake(timeout: timeout) { self.secured($0) }
        }

        private func secured(_ result: Result<TLSProperties, TLSError>) {
            if case .failure(let error) = result { return end(.failure(.insecure(error))) }
            tls?.start { [weak self] in self?.handle($0) }
            tls?.send(request)
        }

        private func handle(_ event: TransportEvent) {
            switch event {
            case .received(let bytes):
                input += bytes
                look(isEnd: false)
            case .drained: break
            // Without TLS's goodbye somebody may have cut it off: only a body that says where it ends is whole then.
            case .endOfInput: look(isEnd: true)
            case .closed: end(.failure(.malformed))
            }
        }

        private func look(isEnd: Bool) {
            guard input.count <= WebDocument.maximumBytes else { return end(.failure(.malformed)) }
            do throws(HTTPHead.Fault) {
                guard let (head, count) = try HTTPHead.read(input[...]) else {
                    return isEnd ? end(.failure(.malformed)) : ()
                }
                guard let status = head.status else { return end(.failure(.malformed)) }
                guard status.code == 200 else {
                    return end(.failure(.status(status.code, location: head.values("location").first)))
                }
                guard let body = try HTTPBody(head).read(input[count...], isEnd: isEnd) else { return }
                end(.success(Contents(bytes: body, mediaType: head.mediaType)))
            } catch {
                end(.failure(.malformed))
            }
        }

        func end(_ result: Result<Contents, Failure>) {
            deadline?.cancel()
            deadline = nil
            tls?.abort()
            tls = nil
            outcome.give(result)
        }
    }
}
