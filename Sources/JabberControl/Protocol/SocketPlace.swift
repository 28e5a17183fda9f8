// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import SocketIO

/// The place of a control socket: its folder, and the lock beside it that says whether a daemon serves there.
///
/// Whoever holds the lock may repair what a daemon that was killed has left. The lock's file stays: removing it would
/// let two daemons hold the lock of two files with the same name.
package struct SocketPlace: Sendable {
    /// How often a lock that is taken is tried again, 20 ms apart, for one who only looked at it.
    private static let lockAttempts = 10

    /// The path of the socket.
    package let path: String

    /// Makes a place; nothing is touched.
    package init(_ path: String) {
        self.path = path
    }

    private var lockPath: String { path + ".lock" }

    /// Takes the lock, makes the folder (0700) and removes a socket that nobody serves any more.
    ///
    /// - Returns: What holds the lock for as long as it lives.
    /// - Throws: `ControlError`: `temporary` when a daemon runs there, `permissions` when the folder is not the user's
    ///   alone, `inputOutput` when something else is in the way.
    package func take() throws(ControlError) -> Descriptor {
        try checkFolder()
        let lock = try takeLock()
        try removeStale()
        return lock
    }

    /// Takes the lock alone, for a socket that somebody else has made and holds open.
    ///
    /// - Throws: As ``take()``.
    package func takeLock() throws(ControlError) -> Descriptor {
        let lock = try openLock(O_RDWR | O_CREAT)
        for attempt in 1... {
            if SystemCall.uninterrupted({ flock(lock.number, LOCK_EX | LOCK_NB) }) == 0 { break }
            guard attempt < Self.lockAttempts else {
                throw ControlError(.temporary, "a daemon runs already at \(path)")
            }
            usleep(20_000)
        }
        _ = SystemCall.uninterrupted { ftruncate(lock.number, 0) }
        try FileDescriptor(lock.number).writeAll(Array("\(getpid())\n".utf8), name: lockPath)
        return lock
    }

    /// Whether a daemon holds the lock.
    package var isTaken: Bool {
        guard let lock = try? openLock(O_RDWR) else { return false }
        return SystemCall.uninterrupted { flock(lock.number, LOCK_SH | LOCK_NB) } != 0
    }

    /// The process that holds the lock; `nil` when none does, or has not said yet which one it is.
    package var holder: Int32? {
        guard let lock = try? openLock(O_RDWR),
            SystemCall.uninterrupted({ flock(lock.number, LOCK_SH | LOCK_NB) }) != 0,
            let bytes = try? FileDescriptor(lock.number).readAll(limit: 64, name: lockPath)
        else { return nil }
        return Int32(String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
    }

    /// Whether a process holds the lock, and not another one after it.
    ///
    /// - Parameter process: The process; `nil` for any.
    package func isTaken(by process: Int32?) -> Bool {
        guard let process else { return isTaken }
        // One that has taken the lock says who it is at once.
        return isTaken && holder.map { $0 == process } ?? true
    }

    /// Whether somebody listens at the socket.
    package var answers: Bool {
        connectionError() == 0
    }

    /// What somebody at the socket says when asked.
    package enum Answer: Sendable, Hashable {
        /// Nobody listens, or who does is going.
        case nobody
        /// Somebody listens and says nothing: a daemon that hangs or was stopped, or no daemon.
        case nothing
        /// A daemon serves, even when it has no room for one more client.
        case serves
        /// A daemon is about to end.
        case ends
    }

    /// Asks who is there: the greeting of a daemon that works comes at once.
    ///
    /// - Parameter limit: How long to wait for it.
    package func ask(within limit: Duration) -> Answer {
        guard let address = SocketAddress(unixPath: path), let probe = probe() else { return .nobody }
        guard Self.connect(probe, to: address) == 0 else {
            return errno == EAGAIN ? .nothing : .nobody
        }
        let clock = SystemClock()
        let end = clock.now + limit
        var reader = ControlLineReader()
        while true {
            let rest = end - clock.now
            var wait = pollfd(fd: probe.number, events: Int16(POLLIN), revents: 0)
            let ready = poll(&wait, 1, Int32(clamping: Int((rest.inSeconds * 1_000).rounded(.up))))
            if ready == 0 || rest <= .zero { return .nothing }
            guard ready > 0 else { continue }
            guard let bytes = try? FileDescriptor(probe.number).readSome(name: path) else { return .nobody }
            guard let line = reader.feed(bytes).lines.first else { continue }
            guard case .notification(let word)? = try? ControlFrame.decode(line), word.method == "goodbye" else {
                return .serves
            }
            let error = ControlError(json: word.params["error"]?.objectValue ?? [:])
            return error.code == .daemonEnding ? .ends : .serves
        }
    }

    /// The process that made the socket listen; `nil` when nobody listens, or is too busy to be asked.
    package var listener: Int32? {
        guard let address = SocketAddress(unixPath: path), let probe = probe(),
            Self.connect(probe, to: address) == 0
        else { return nil }
        return try? PeerCredentials(of: probe.number).processID
    }

    private func openLock(_ flags: Int32) throws(ControlError) -> Descriptor {
        let number = SystemCall.uninterrupted {
            open(lockPath, flags | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0o600)
        }
        guard number >= 0 else { throw failure("open", lockPath) }
        let lock = Descriptor(owning: number)
        var status = stat()
        guard fstat(number, &status) == 0, status.st_uid == geteuid(), status.st_mode & S_IFMT == S_IFREG else {
            throw ControlError(.permissions, "\(lockPath) is not a file of this user")
        }
        return lock
    }

    private func checkFolder() throws(ControlError) {
        guard path.hasPrefix("/"), SocketAddress(unixPath: path) != nil else {
            throw ControlError(.usage, "\(path) cannot be the path of a socket: absolute, at most 107 bytes")
        }
        let folder = PrivateFolder.containing(path)
        try PrivateFile.makeFolder(folder)
        var status = stat()
        guard lstat(folder, &status) == 0 else { throw failure("read", folder) }
        guard status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid() else {
            throw ControlError(.permissions, "\(folder) is not a folder of this user")
        }
        guard status.st_mode & 0o077 == 0 else {
            throw ControlError(.permissions, "others may look into \(folder); run: chmod 700 '\(folder)'")
        }
    }

    /// The lock is held: a socket of ours that refuses is what a killed daemon has left.
    private func removeStale() throws(ControlError) {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            guard errno == ENOENT else { throw failure("read", path) }
            return
        }
        guard status.st_mode & S_IFMT == S_IFSOCK, status.st_uid == geteuid() else {
            throw ControlError(.inputOutput, "\(path) is in the way: it is not a socket of this user")
        }
        guard connectionError() == ECONNREFUSED else {
            throw ControlError(.temporary, "another program listens at \(path)")
        }
        try PrivateFile.remove(path)
    }

    private func connectionError() -> Int32 {
        guard let address = SocketAddress(unixPath: path) else { return EINVAL }
        guard let probe = probe() else { return errno }
        let result = Self.connect(probe, to: address) == 0 ? 0 : errno
        // A full backlog: somebody listens, and has much to do.
        return result == EAGAIN ? 0 : result
    }

    private static func connect(_ probe: Descriptor, to address: SocketAddress) -> Int32 {
        address.withSockaddr { name, length in
            SystemCall.uninterrupted { Glibc.connect(probe.number, name, length) }
        }
    }

    private func probe() -> Descriptor? {
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let number = socket(AF_UNIX, type, 0)
        return number >= 0 ? Descriptor(owning: number) : nil
    }

    private func failure(_ verb: String, _ path: String) -> ControlError {
        ControlError(.inputOutput, "cannot \(verb) \(path): \(String(cString: strerror(errno)))")
    }
}
