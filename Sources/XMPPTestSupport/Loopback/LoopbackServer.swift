// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import SocketIO
public import XMPPCore
internal import XMPPTransport
internal import XMPPXML

/// A small XMPP server inside of your test's process: TLS, log-in, roster, presence, messages; and faults on demand.
///
/// ```swift
/// let server = try await LoopbackServer.start(domain: "example.org", accounts: ["juliet": "secret"])
/// try await server.add(LoopbackBuddy("romeo", name: "Romeo"))
/// // … connect a client to 127.0.0.1, server.port, trusting server.certificateAuthorityFile …
/// await server.stop()
/// ```
///
/// It listens on 127.0.0.1 only, on ports that the system chooses, with a certificate of an authority of its own.
/// A server that is dropped without ``stop()`` closes its ports all the same.
public actor LoopbackServer {
    /// First-level elements remembered in the transcript.
    static let maximumRecords = 20_000

    nonisolated let executor = StreamExecutor(label: "swift-xmpp.loopback")

    /// The executor that the server's sockets share.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// The domain that the server serves.
    public nonisolated let domain: JID
    /// The host to connect to.
    public nonisolated var host: String { "127.0.0.1" }
    /// The port for streams that begin without TLS.
    public nonisolated let port: UInt16
    /// The port for TLS from the first byte (XEP-0368); `nil` when the options do without.
    public nonisolated let directTLSPort: UInt16?
    /// The port for WebSockets inside of TLS (RFC 7395); `nil` when the options do without.
    public nonisolated let webSocketPort: UInt16?
    /// The path of the certificate to trust, PEM; it exists until ``stop()``.
    public nonisolated let certificateAuthorityFile: String
    /// The authority that signed the server's certificate.
    public nonisolated let authority: TestAuthority

    let router: LoopbackRouter
    let clock = SystemClock()
    private let folder: TemporaryFolder
    private let context: TLSContext
    private let listener: ListeningSocket
    private let directListener: ListeningSocket?
    private let webSocketListener: ListeningSocket?

    var sessions: [Int: LoopbackSession] = [:]
    /// How many connections there have been.
    public private(set) var acceptedConnections = 0
    var bots: [JID: LoopbackBot] = [:]
    var records: [LoopbackRecord] = []
    var watchers: [Int: LoopbackWatcher] = [:]
    var watcherCount = 0
    private var plans: [FaultPlan] = []
    private var lastingPlan = FaultPlan()
    /// Sessions, over or not, of which the server has messages in its hands for some time.
    var atWork: [Int: LoopbackSession] = [:]
    private var isStopped = false

    /// What will go wrong with one connection.
    private struct FaultPlan {
        var wire: [LoopbackFault] = []
        var stream: [LoopbackFault] = []
    }

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - domain: The domain to serve; default `localhost`.
    ///   - accounts: Passwords by localpart; printable ASCII.
    ///   - port: The port for streams that begin without TLS; 0, the default, lets the system choose.
    ///   - options: What the server offers.
    /// - Throws: ``TestSupportError`` when a name, a port or a certificate cannot be had.
    public static func start(
        domain: String = "localhost", accounts: [String: String] = [:], port: UInt16 = 0,
        options: LoopbackOptions = LoopbackOptions()
    ) async throws(TestSupportError) -> LoopbackServer {
        let server = try LoopbackServer(domain: domain, port: port, options: options)
        for (name, password) in accounts { try await server.addAccount(name, password: password) }
        await server.listen()
        return server
    }

    private init(domain: String, port: UInt16, options: LoopbackOptions) throws(TestSupportError) {
        let jid: JID
        do throws(JIDError) {
            jid = try JID(domainpart: domain)
        } catch {
            throw TestSupportError("“\(domain)” cannot be a domain: \(error)")
        }
        let names = options.certificateNames
        let folder = try TemporaryFolder(prefix: "xmpp-loopback")
        let authority = try TestAuthority()
        let certificate =
            if let names {
                try authority.issue(names: names, flaw: options.certificateFlaw)
            } else {
                try authority.issue(
                    for: jid.asciiDomain, and: options.offersWebSocket ? [.address("127.0.0.1")] : [],
                    flaw: options.certificateFlaw)
            }
        self.domain = jid
        self.folder = folder
        self.authority = authority
        certificateAuthorityFile = try folder.write(authority.certificate, to: "ca.pem")
        router = LoopbackRouter(domain: jid, options: options, wallClock: { DateTime.now })
        do {
            context = try TLSContext.server(
                certificate: .bytes(certificate.certificate), privateKey: .bytes(certificate.privateKey),
                clientAuthorities: options.asksForCertificates ? authority.certificate : nil)
            listener = try ListeningSocket(.loopback(port: port), on: executor)
            directListener =
                options.offersDirectTLS ? try ListeningSocket(.loopback(port: 0), on: executor) : nil
            webSocketListener =
                options.offersWebSocket ? try ListeningSocket(.loopback(port: 0), on: executor) : nil
        } catch {
            throw TestSupportError("the loopback server cannot listen: \(error)")
        }
        self.port = listener.address.port ?? 0
        directTLSPort = directListener?.address.port
        webSocketPort = webSocketListener?.address.port
    }

    private func listen() {
        listener.start { [weak self] socket in
            self?.assumeIsolated { $0.accept(socket, at: .plain) }
        }
        directListener?.start { [weak self] socket in
            self?.assumeIsolated { $0.accept(socket, at: .directTLS) }
        }
        webSocketListener?.start { [weak self] socket in
            self?.assumeIsolated { $0.accept(socket, at: .webSocket(documents: $0.documents)) }
        }
    }

    /// What the web server has beside the WebSocket: what the domain publishes about itself (XEP-0156 §3, XEP-0487 §3).
    private var documents: [String: WebReply] {
        func filled(_ text: String) -> String {
            text.replacing("{port}", with: "\(webSocketPort ?? 0)")
                .replacing("{directTLSPort}", with: "\(directTLSPort ?? 0)")
        }
        let options = router.options
        func reply(_ text: String, _ mediaType: String) -> WebReply {
            if let place = options.publishedRedirection {
                return WebReply(status: "301 Moved Permanently", fields: ["Location: \(place)"])
            }
            return WebReply(
                fields: ["Content-Type: \(options.publishedMediaType ?? mediaType)"], body: Array(text.utf8))
        }
        var documents: [String: WebReply] = [:]
        if let address = options.publishedWebSocket {
            let file = """
                <?xml version='1.0' encoding='UTF-8'?>
                <XRD xmlns='http://docs.oasis-open.org/ns/xri/xrd-1.0'>
                  <Link rel='urn:xmpp:alt-connections:websocket' href='\(filled(address))'/>
                </XRD>
                """
            documents["/.well-known/host-meta"] = reply(file, "application/xrd+xml; charset=utf-8")
        }
        if let text = options.publishedPlaces {
            documents["/.well-known/host-meta.json"] = reply(filled(text), "application/json")
        }
        return documents
    }

    private func accept(_ socket: SocketTransport, at entrance: LoopbackSession.Entrance) {
        guard !isStopped else { return socket.abort() }
        acceptedConnections += 1
        let id = acceptedConnections
        let plan = plans.isEmpty ? lastingPlan : plans.removeFirst()
        let session = LoopbackSession(
            id: id, entrance: entrance, socket: socket, wireFaults: plan.wire, streamFaults: plan.stream,
            context: context,
            router: router, mailbox: mailbox(for: id)
        ) { [weak self] record in
            self?.assumeIsolated { $0.note(record) }
        }
        sessions[id] = session
        session.start()
    }

    private func mailbox(for id: Int) -> LoopbackMailbox {
        LoopbackMailbox(
            events: { [weak self] event in self?.assumeIsolated { $0.handle(event, of: id) } },
            handshake: { [weak self] result in
                self?.assumeIsolated { $0.sessions[id]?.handshakeEnded(try? result.get()) }
            },
            upgrade: { [weak self] result in
                self?.assumeIsolated { $0.sessions[id]?.upgradeEnded(result) }
            },
            hibernated: { [weak self] time in
                self?.assumeIsolated { server in
                    _ = server.clock.schedule(after: time, on: server.executor) { [weak server] in
                        server?.assumeIsolated { $0.sessions[id]?.expire() }
                    }
                }
            },
            holds: { [weak self] time in
                self?.assumeIsolated { server in
                    // The session may be over by then.
                    server.atWork[id] = server.sessions[id]
                    _ = server.clock.schedule(after: time, on: server.executor) { [weak server] in
                        server?.assumeIsolated { $0.atWork.removeValue(forKey: id)?.letGo() }
                    }
                }
            },
            ended: { [weak self] _ in self?.assumeIsolated { _ = $0.sessions.removeValue(forKey: id) } })
    }

    private func handle(_ event: TransportEvent, of id: Int) {
        guard let session = sessions[id], session.phase != .hibernating else { return }
        switch event {
        case .received(let bytes): session.received(bytes)
        case .drained: break
        case .endOfInput: session.isResumable ? session.giveUpConnection() : session.close()
        case .closed: session.isResumable ? session.giveUpConnection() : session.abort()
        }
    }

    /// Ends all connections with `system-shutdown`, closes the ports, removes the files. Idempotent.
    public func stop() {
        guard !isStopped else { return }
        isStopped = true
        listener.close()
        directListener?.close()
        webSocketListener?.close()
        for session in sessions.values { session.fail(StreamError(.systemShutdown)) }
        sessions = [:]
        router.holding = []
        atWork = [:]
        for bot in bots.values { router.disconnect(bot) }
        bots = [:]
        for watcher in watchers.values { watcher.end() }
        watchers = [:]
        folder.remove()
    }

    // MARK: Faults

    /// Plans faults for the next connection that has no plan yet; plans are used in the order in which they were made.
    ///
    /// - Parameters:
    ///   - faults: What goes wrong.
    ///   - layer: Which bytes are counted. Default: those on the wire.
    public func planNextConnection(_ faults: [LoopbackFault], on layer: LoopbackFault.Layer = .wire) {
        plans.append(layer == .wire ? FaultPlan(wire: faults) : FaultPlan(stream: faults))
    }

    /// Plans faults for every connection that has no plan of its own; none ends them.
    public func planEveryConnection(_ faults: [LoopbackFault], on layer: LoopbackFault.Layer = .wire) {
        lastingPlan = layer == .wire ? FaultPlan(wire: faults) : FaultPlan(stream: faults)
    }
}
