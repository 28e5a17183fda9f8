// SPDX-License-Identifier: Apache-2.0

internal import SocketIO

/// Stands between a client and any server on this machine, and does to the bytes of each connection what ``LoopbackFault`` says:
/// what a ``LoopbackServer`` can do by itself, for servers that people run.
///
/// ```swift
/// let proxy = try await FaultProxy.start(to: server.port)
/// await proxy.planNextConnection([.cut(afterBytes: 2_000, .toClient, .reset)])
/// // … connect a client to 127.0.0.1, proxy.port …
/// await proxy.stop()
/// ```
///
/// A cut is one for both sides. A stall is one that neither side hears of.
public actor FaultProxy {
    /// What has passed on one connection.
    public struct Traffic: Sendable, Hashable {
        /// After how many bytes each piece of the server's ended, in order.
        public var toClient: [Int] = []
        /// After how many bytes each piece of the client's ended, in order.
        public var fromClient: [Int] = []
    }

    /// How many pieces are noted in each direction of a connection; 10,000.
    public static let maximumPieces = 10_000
    /// How long connecting to the server may take.
    private static let connectTimeout: Duration = .seconds(10)

    /// Both ends of a connection.
    private struct Link {
        let client: any ByteTransport
        let socket: SocketTransport
        let server: SocketTransport
        var openEnds = 2
        var isHushed = false
    }

    nonisolated let executor = StreamExecutor(label: "swift-xmpp.faults")

    /// The executor that the sockets share.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// The port to connect to, on 127.0.0.1.
    public nonisolated let port: UInt16
    /// What has passed on each connection, in the order in which they were made.
    public private(set) var traffic: [Traffic] = []

    private let target: UInt16
    private let listener: ListeningSocket
    private var plans: [[LoopbackFault]] = []
    private var links: [Int: Link] = [:]
    private var isStopped = false

    /// Starts a proxy.
    ///
    /// - Parameter port: The port of the server, on 127.0.0.1.
    /// - Throws: ``TestSupportError`` when no port can be had.
    public static func start(to port: UInt16) async throws(TestSupportError) -> FaultProxy {
        let proxy = try FaultProxy(to: port)
        await proxy.listen()
        return proxy
    }

    private init(to target: UInt16) throws(TestSupportError) {
        self.target = target
        do throws(SystemError) {
            listener = try ListeningSocket(.loopback(port: 0), on: executor)
        } catch {
            throw TestSupportError("the proxy cannot listen: \(error)")
        }
        port = listener.address.port ?? 0
    }

    private func listen() {
        listener.start { [weak self] socket in self?.assumeIsolated { $0.accept(socket) } }
    }

    /// Plans faults for the next connection that has no plan yet; plans are used in the order in which they were made.
    public func planNextConnection(_ faults: [LoopbackFault]) {
        plans.append(faults)
    }

    /// From now on nothing that the server says comes through on the connections that are open, and neither side is told.
    public func hush() {
        for id in links.keys { links[id]?.isHushed = true }
    }

    /// Resets the connections that are open.
    public func cutConnections() {
        for link in links.values {
            link.socket.reset()
            link.server.reset()
        }
    }

    /// Ends all connections and closes the port. Idempotent.
    public func stop() {
        isStopped = true
        listener.close()
        for link in links.values {
            link.client.abort()
            link.server.abort()
        }
        links = [:]
    }

    private func accept(_ socket: SocketTransport) {
        guard !isStopped else { return socket.abort() }
        let id = traffic.count
        traffic.append(Traffic())
        let faults = plans.isEmpty ? [] : plans.removeFirst()
        Task {
            do {
                let server = try await SocketTransport.connect(
                    to: .loopback(port: target), on: executor, timeout: Self.connectTimeout)
                join(id, socket, server, faults)
            } catch {
                socket.abort()
            }
        }
    }

    private func join(_ id: Int, _ socket: SocketTransport, _ server: SocketTransport, _ faults: [LoopbackFault]) {
        guard !isStopped else {
            socket.abort()
            return server.abort()
        }
        let client = FaultyTransport(over: socket, faults: faults) { [weak socket, weak server] in
            socket?.reset()
            server?.reset()
        }
        links[id] = Link(client: client, socket: socket, server: server)
        client.start { [weak self] event in self?.assumeIsolated { $0.fromClient(event, on: id) } }
        server.start { [weak self] event in self?.assumeIsolated { $0.fromServer(event, on: id) } }
    }

    private func fromClient(_ event: TransportEvent, on id: Int) {
        guard let link = links[id] else { return }
        switch event {
        case .received(let bytes):
            Self.note(bytes.count, &traffic[id].fromClient)
            link.server.send(bytes)
            if link.server.pendingBytes > WriteQueue.defaultHighWaterMark { link.client.pauseReading() }
        case .drained: link.server.resumeReading()
        case .endOfInput: link.server.close()
        case .closed:
            link.server.close()
            ended(id)
        }
    }

    private func fromServer(_ event: TransportEvent, on id: Int) {
        guard let link = links[id] else { return }
        switch event {
        case .received(let bytes):
            guard !link.isHushed else { return }
            Self.note(bytes.count, &traffic[id].toClient)
            link.client.send(bytes)
            if link.client.pendingBytes > WriteQueue.defaultHighWaterMark { link.server.pauseReading() }
        case .drained: link.client.resumeReading()
        case .endOfInput: link.client.close()
        case .closed:
            link.client.close()
            ended(id)
        }
    }

    private func ended(_ id: Int) {
        links[id]?.openEnds -= 1
        if links[id]?.openEnds == 0 { links[id] = nil }
    }

    private static func note(_ count: Int, _ pieces: inout [Int]) {
        guard pieces.count < maximumPieces else { return }
        pieces.append((pieces.last ?? 0) + count)
    }
}
