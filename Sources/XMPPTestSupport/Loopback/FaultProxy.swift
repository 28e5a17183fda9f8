// SPDX-License-Identifier: Apache-2.0

internal import SocketIO

/// Stands between a client and any server on this machine, and does to the bytes of each connection what
/// ``LoopbackFault`` says: what a ``LoopbackServer`` can do by itself, for servers that people run.
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

    /// Who is at an end of a connection.
    private enum Side {
        case client
        case server
    }

    /// Both ends of a connection.
    private struct Link {
        let client: any ByteTransport
        let socket: SocketTransport
        let server: SocketTransport
        var openEnds = 2
        var isHushed = false

        /// The end where a side is, and the other one.
        func ends(from side: Side) -> (here: any ByteTransport, there: any ByteTransport) {
            switch side {
            case .client: (client, server)
            case .server: (server, client)
            }
        }
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

    /// From now on nothing that the server says comes through on the connections that are open, and neither side is
    /// told.
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
        client.start { [weak self] event in self?.assumeIsolated { $0.pass(event, from: .client, on: id) } }
        server.start { [weak self] event in self?.assumeIsolated { $0.pass(event, from: .server, on: id) } }
    }

    /// One side has said something, or has gone: the other one is told.
    private func pass(_ event: TransportEvent, from side: Side, on id: Int) {
        guard let link = links[id] else { return }
        let (here, there) = link.ends(from: side)
        switch event {
        case .received(let bytes):
            guard !(link.isHushed && side == .server) else { return }
            note(bytes.count, from: side, on: id)
            there.send(bytes)
            if there.pendingBytes > WriteQueue.defaultHighWaterMark { here.pauseReading() }
        case .drained: there.resumeReading()
        case .endOfInput: there.close()
        case .closed:
            there.close()
            ended(id)
        }
    }

    private func ended(_ id: Int) {
        links[id]?.openEnds -= 1
        if links[id]?.openEnds == 0 { links[id] = nil }
    }

    private func note(_ count: Int, from side: Side, on id: Int) {
        let path: WritableKeyPath<Traffic, [Int]> = side == .client ? \.fromClient : \.toClient
        guard traffic[id][keyPath: path].count < Self.maximumPieces else { return }
        traffic[id][keyPath: path].append((traffic[id][keyPath: path].last ?? 0) + count)
    }
}
