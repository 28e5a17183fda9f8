// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Glibc

/// A socket that accepts connections: a Unix socket, or TCP.
///
/// Unchecked: all state is confined to the executor's queue.
package final class ListeningSocket: @unchecked Sendable {
    /// How long accepting rests when the process has no descriptor left, instead of spinning.
    private static let exhaustionPause: Duration = .milliseconds(100)
    /// Connections accepted in one turn of the queue.
    private static let maximumAcceptsPerTurn = 64

    /// The executor that accepts, and that accepted transports belong to unless told otherwise.
    package let executor: StreamExecutor
    /// Where the socket listens: with the port that the system chose when 0 was asked for.
    package let address: SocketAddress

    private let clock: any StreamClock
    /// The file of a Unix socket that this object made.
    private let file: SocketFile?
    /// Whether others hold the same socket, as systemd does: it must go on listening when this object stops.
    package let isShared: Bool
    private var descriptor: Descriptor?
    private var watch: DescriptorWatch?
    private var pause: (any ScheduledTimer)?
    private var accept: (@Sendable (SocketTransport) -> Void)?
    private var executorForConnection: (@Sendable () -> StreamExecutor)?

    /// Binds and listens. Nothing is accepted until ``start(executorForConnection:_:)``. May be called from anywhere.
    ///
    /// A Unix socket's file gets mode 0600 and is removed by ``close()`` unless another has taken its place; a file
    /// that is already there is an error, for whoever decides whether its owner is dead must hold a lock.
    ///
    /// - Parameters:
    ///   - address: Where to listen; port 0 lets the system choose.
    ///   - executor: Whose queue accepts.
    ///   - backlog: Connections that may wait to be accepted.
    ///   - clock: Where time comes from.
    package init(
        _ address: SocketAddress, on executor: StreamExecutor, backlog: Int32 = 128,
        clock: any StreamClock = SystemClock()
    ) throws(SystemError) {
        let descriptor = try Descriptor.socket(family: address.family)
        let subject = address.description
        if address.isUnix {
            // On a socket that is not yet bound this sets the mode that its file will have: no moment of openness.
            guard fchmod(descriptor.number, 0o600) == 0 else { throw SystemError.last("fchmod", subject) }
        } else {
            var on: Int32 = 1
            _ = setsockopt(descriptor.number, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        }
        guard address.withSockaddr({ bind(descriptor.number, $0, $1) }) == 0 else {
            throw SystemError.last("bind", subject)
        }
        guard listen(descriptor.number, backlog) == 0 else { throw SystemError.last("listen", subject) }
        self.descriptor = descriptor
        self.executor = executor
        self.clock = clock
        self.address = SocketAddress.ask(descriptor) { getsockname($0, $1, $2) } ?? address
        file = address.isUnix ? SocketFile(address.host) : nil
        isShared = false
        try watch(descriptor)
    }

    /// Takes over a socket that listens already, such as one that systemd hands over. Its file stays where it is, and
    /// the socket goes on listening for whoever else holds it. May be called from anywhere.
    ///
    /// - Parameters:
    ///   - descriptor: A listening stream socket; it is made non-blocking.
    ///   - executor: Whose queue accepts.
    ///   - clock: Where time comes from.
    /// - Throws: `SystemError` with `EINVAL` when it does not listen.
    package init(
        adopting descriptor: Descriptor, on executor: StreamExecutor, clock: any StreamClock = SystemClock()
    ) throws(SystemError) {
        var listens: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(descriptor.number, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 else {
            throw SystemError.last("getsockopt")
        }
        guard listens == 1, let address = SocketAddress.ask(descriptor, { getsockname($0, $1, $2) }) else {
            throw SystemError(EINVAL, "listen")
        }
        try descriptor.prepare()
        self.descriptor = descriptor
        self.executor = executor
        self.clock = clock
        self.address = address
        file = nil
        isShared = true
        try watch(descriptor)
    }

    private func watch(_ descriptor: Descriptor) throws(SystemError) {
        watch = try DescriptorWatch(descriptor.number, for: [], on: executor) { [weak self] in
            self?.acceptAvailable()
        }
    }

    deinit {
        watch?.cancel()
    }

    /// Begins to accept. Must be called on the executor's queue.
    ///
    /// - Parameters:
    ///   - executorForConnection: Gives each connection its executor; `nil` uses the listening socket's.
    ///   - accept: Gets each transport on the listening socket's queue; it is not yet started.
    package func start(
        executorForConnection: (@Sendable () -> StreamExecutor)? = nil,
        _ accept: @escaping @Sendable (SocketTransport) -> Void
    ) {
        checkQueue()
        self.accept = accept
        self.executorForConnection = executorForConnection
        watch?.wait(for: .reading)
    }

    /// Stops accepting; transports that were accepted live on. Idempotent. Must be called on the executor's queue.
    package func close() {
        checkQueue()
        guard let descriptor else { return }
        pause?.cancel()
        pause = nil
        watch?.cancel()
        watch = nil
        // Refuses from now on, also where a child process still has it.
        if !isShared { _ = shutdown(descriptor.number, Int32(SHUT_RDWR)) }
        self.descriptor = nil
        accept = nil
        file?.remove()
    }

    private func checkQueue() {
        dispatchPrecondition(condition: .onQueue(executor.queue))
    }

    private func acceptAvailable() {
        for _ in 0..<Self.maximumAcceptsPerTurn {
            guard let descriptor, let accept else { return }
            let number = Glibc.accept(descriptor.number, nil, nil)
            if number >= 0 {
                let executor = executorForConnection?() ?? self.executor
                guard let transport = try? SocketTransport(Descriptor(owning: number), on: executor, clock: clock)
                else {
                    continue
                }
                accept(transport)
                continue
            }
            switch errno {
            case EAGAIN, EWOULDBLOCK: return
            case EMFILE, ENFILE, ENOBUFS, ENOMEM: return rest()
            // A connection that was gone before it was accepted, or a signal: take the next one.
            default: continue
            }
        }
        executor.queue.async { [weak self] in self?.acceptAvailable() }
    }

    private func rest() {
        guard pause == nil else { return }
        watch?.wait(for: [])
        pause = clock.schedule(after: Self.exhaustionPause, on: executor) { [weak self] in
            self?.pause = nil
            self?.watch?.wait(for: .reading)
        }
    }
}

/// The file of a Unix socket, told from another that has taken its place.
private struct SocketFile: Sendable {
    private let path: String
    private let device: UInt
    private let inode: UInt

    /// Notes which file is there now.
    init?(_ path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        self.path = path
        device = UInt(status.st_dev)
        inode = UInt(status.st_ino)
    }

    /// Removes the file if it is still the same.
    func remove() {
        guard let now = SocketFile(path), now.device == device, now.inode == inode else { return }
        _ = unlink(path)
    }
}
