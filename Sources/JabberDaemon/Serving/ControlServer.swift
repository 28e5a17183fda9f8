// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import JabberControl
internal import SocketIO

/// Accepts control connections at a Unix socket: from the same user only, and from a bounded number of clients.
actor ControlServer {
    /// How many clients may be connected at a time: 64.
    static let maximumClients = 64
    /// How long a client may say nothing before others that wait get its place.
    static let maximumSilence: Duration = .seconds(10)
    /// How long clients are waited for at the end.
    private static let farewell: Duration = .milliseconds(500)

    private let executor: StreamExecutor
    private let socket: ListeningSocket
    private let daemon: Daemon
    private let user: UInt32
    private struct Client {
        let session: ControlSession
        let since: Duration
    }

    private var clients: [Int: Client] = [:]
    private var lastID = 0
    private var isClosing = false
    private var waiter: CheckedContinuation<Void, Never>?

    /// Makes a server; nobody is accepted before ``start()``.
    ///
    /// - Parameters:
    ///   - socket: A Unix socket that listens.
    ///   - daemon: Who answers.
    ///   - user: Whose connections are accepted; those of others are closed without a word.
    init(_ socket: ListeningSocket, daemon: Daemon, user: UInt32 = geteuid()) {
        executor = socket.executor
        self.socket = socket
        self.daemon = daemon
        self.user = user
    }

    /// The executor of the socket, so that connections enter without a hop.
    nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// The path that clients connect to.
    nonisolated var path: String { socket.address.host }

    /// Begins to accept.
    func start() {
        let user = user
        // A queue for each: a client that is flooded does not keep the others waiting.
        socket.start(executorForConnection: { StreamExecutor(label: "jabberctld.client") }) { [weak self] transport in
            guard let self else { return }
            transport.executor.run {
                guard let peer = try? transport.peerCredentials(), peer.userID == user else {
                    return transport.abort()
                }
                self.welcome(transport)
            }
        }
    }

    /// Accepts nobody any more; those who are there stay.
    func stopAccepting() {
        isClosing = true
        socket.close()
    }

    /// Says goodbye to every client, and waits a moment until they have heard it.
    func close(saying error: ControlError) async {
        stopAccepting()
        for client in clients.values { client.session.close(saying: error) }
        guard !clients.isEmpty else { return }
        await Race.attempt(within: Self.farewell) { await self.waitForClients() }
    }

    private func waitForClients() async {
        guard !clients.isEmpty else { return }
        await withCheckedContinuation { waiter = $0 }
    }

    nonisolated private func welcome(_ transport: SocketTransport) {
        Task { await admit(transport) }
    }

    /// Whoever connects and asks nothing holds a place only for as long as nobody else wants it.
    private func dismissSilent() {
        let now = daemon.environment.clock.now
        let silent = clients.filter { now - $1.since >= Self.maximumSilence && !$1.session.hasSpoken }
        guard let (id, client) = silent.min(by: { $0.key < $1.key }) else { return }
        clients[id] = nil
        let time = Int(Self.maximumSilence.components.seconds)
        client.session.close(
            saying: ControlError(.temporary, "the control client asked nothing for \(time) s, and others wait: dropped")
        )
    }

    private func admit(_ transport: SocketTransport) {
        if clients.count >= Self.maximumClients { dismissSilent() }
        guard !isClosing, clients.count < Self.maximumClients else {
            let connection = ControlConnection(over: transport)
            let reason =
                isClosing
                ? ControlError(.daemonEnding, "the daemon is ending")
                : ControlError(
                    .busy, "the daemon has \(Self.maximumClients) clients already; end some of them, or use --no-daemon"
                )
            return transport.executor.run {
                connection.start { _ in }
                connection.close(saying: reason)
            }
        }
        lastID += 1
        let id = lastID
        let session = daemon.control(over: transport)
        clients[id] = Client(session: session, since: daemon.environment.clock.now)
        Task {
            await session.run()
            gone(id)
        }
    }

    private func gone(_ id: Int) {
        clients[id] = nil
        guard clients.isEmpty else { return }
        waiter?.resume()
        waiter = nil
    }
}
