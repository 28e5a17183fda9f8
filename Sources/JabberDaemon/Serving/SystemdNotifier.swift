// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import JabberControl
internal import SocketIO

/// Tells a supervisor what becomes of the service, by the protocol of sd_notify(3): datagrams to `$NOTIFY_SOCKET`.
struct SystemdNotifier: Sendable {
    private let socket: String?
    /// How often the supervisor wants to hear that the service is alive; `nil` when it does not care.
    let watchdog: Duration?

    /// Reads the environment; without `NOTIFY_SOCKET` nobody is told.
    init(_ variables: [String: String], processID: Int32 = getpid()) {
        socket = variables["NOTIFY_SOCKET"].flatMap { $0.hasPrefix("/") || $0.hasPrefix("@") ? $0 : nil }
        let isMeant = variables["WATCHDOG_PID"].map { Int32($0) == processID } ?? true
        let interval = variables["WATCHDOG_USEC"].flatMap { Int64($0) } ?? 0
        watchdog = isMeant && interval > 0 ? .microseconds(interval) : nil
    }

    /// The service serves.
    func ready(_ status: String) {
        send("READY=1\nSTATUS=\(Self.line(status))")
    }

    /// The service reads its settings again, and says ``ready(_:)`` when that is done.
    func reloading() {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        send("RELOADING=1\nMONOTONIC_USEC=\(Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1_000)")
    }

    /// The service ends.
    func stopping() {
        send("STOPPING=1\nSTATUS=ending")
    }

    /// What the service is doing, for people.
    func status(_ text: String) {
        send("STATUS=\(Self.line(text))", mayBeLost: true)
    }

    /// The service is alive.
    func alive() {
        send("WATCHDOG=1", mayBeLost: true)
    }

    private static func line(_ text: String) -> String {
        TerminalText.line(text)
    }

    /// A supervisor that does not read must not stop the service: it is waited for a second at most.
    private func send(_ text: String, mayBeLost: Bool = false) {
        guard let socket else { return }
        let number = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { return }
        let descriptor = Descriptor(owning: number)
        var patience = timeval(tv_sec: 1, tv_usec: 0)
        setsockopt(number, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        let flags = Int32(MSG_NOSIGNAL) | (mayBeLost ? Int32(MSG_DONTWAIT) : 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var path = Array(socket.utf8)
        // A name of the abstract kind: unix(7).
        if path.first == UInt8(ascii: "@") { path[0] = 0 }
        let capacity = MemoryLayout.size(ofValue: address.sun_path)
        guard path.count < capacity else { return }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
        let length = socklen_t(MemoryLayout<sockaddr_un>.size - capacity + path.count)
        let bytes = Array(text.utf8)
        _ = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                sendto(descriptor.number, bytes, bytes.count, flags, address, length)
            }
        }
    }
}

/// The sockets that a supervisor has opened for the service, by the protocol of sd_listen_fds(3).
enum SocketActivation {
    /// The first descriptor that is handed over.
    static let firstDescriptor: Int32 = 3

    /// A copy of the listening socket that was handed over; `nil` when there is none.
    ///
    /// The original stays open, for the program that may take this one's place.
    static func socket(_ variables: [String: String], processID: Int32 = getpid()) -> Descriptor? {
        guard variables["LISTEN_PID"].flatMap({ Int32($0) }) == processID,
            let count = variables["LISTEN_FDS"].flatMap({ Int32($0) }), count > 0
        else { return nil }
        let copy = fcntl(firstDescriptor, F_DUPFD_CLOEXEC, firstDescriptor + 1)
        return copy >= 0 ? Descriptor(owning: copy) : nil
    }

    /// Makes the program that takes this one's place inherit the socket.
    static func keep() {
        _ = fcntl(firstDescriptor, F_SETFD, 0)
    }
}
