// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Glibc
internal import JabberControl
internal import SocketIO
internal import XMPP

/// What the command line of the program asks for.
struct ServiceOrder: Sendable {
    /// The words behind the program's name, for the program that may take this one's place.
    let arguments: [String]
    /// The control socket in place of the usual one.
    var socket: String?
    /// The settings file in place of the usual ones.
    var settings: String?

    init(arguments: [String]) {
        self.arguments = arguments
    }
}

/// The process of a daemon that stays: its lock, its socket, its signals and its end.
enum Service {
    /// Runs until somebody wishes the end; then the process ends, or the same program takes its place.
    ///
    /// - Throws: `ControlError` when it cannot begin.
    static func run(
        _ order: ServiceOrder, environment: DaemonEnvironment, variables: [String: String]
    ) throws(ControlError) -> Never {
        // Asked for now: when the program is exchanged while it runs, the new one is at the same path.
        let program = OwnProgram.path
        let configuration = try ConfigurationFile(paths: environment.paths, path: order.settings)
        let executor = StreamExecutor(label: "jabberctld.server")
        let (socket, lock) = try open(order, environment, variables, executor)
        let daemon = LastingDaemon(
            environment: environment, variables: variables, settings: order.settings, socket: socket)
        let hangup = DaemonMain.upon(SIGHUP) { Task { await daemon.reload() } }
        let first = Locked<SystemMoment?>(nil)
        let ends = [SIGINT, SIGTERM].map { number in
            DaemonMain.upon(number) {
                // A second one ends the process at once; not the echo of the first, which some senders make.
                let isInsistent = first.withLock { first in
                    defer { first = first ?? .now }
                    return first.map { SystemMoment.now - $0 > .seconds(1) } ?? false
                }
                if isInsistent { exit(128 + number) }
                daemon.end()
            }
        }
        Task {
            let end = await daemon.run(configuration)
            if end == .restart { replace(program, order.arguments, isActivated: socket.isShared) }
            withExtendedLifetime(lock) { exit(ExitCode.done.rawValue) }
        }
        withExtendedLifetime((hangup, ends)) { dispatchMain() }
    }

    /// The socket that a supervisor has opened, or one of our own.
    private static func open(
        _ order: ServiceOrder, _ environment: DaemonEnvironment, _ variables: [String: String],
        _ executor: StreamExecutor
    ) throws(ControlError) -> (ListeningSocket, Descriptor) {
        do {
            if let handed = SocketActivation.socket(variables) {
                let socket = try ListeningSocket(adopting: handed, on: executor)
                guard socket.address.isUnix, socket.address.host.hasPrefix("/") else {
                    throw ControlError(.usage, "the socket that was handed over is no Unix socket with a path")
                }
                return (socket, try SocketPlace(socket.address.host).takeLock())
            }
            let place = SocketPlace(order.socket ?? environment.paths.controlSocket)
            let lock = try place.take()
            guard let address = SocketAddress(unixPath: place.path) else {
                throw ControlError(.usage, "\(place.path) cannot be the path of a socket")
            }
            return (try ListeningSocket(address, on: executor, backlog: 1024), lock)
        } catch let error as ControlError {
            throw error
        } catch {
            throw ControlError(.inputOutput, "no control socket: \(error)")
        }
    }

    /// Puts the program in this one's place: the same process, so that a supervisor stays with it.
    private static func replace(_ program: String, _ arguments: [String], isActivated: Bool) {
        // Without one the number belongs to something of ours, which must not live on.
        if isActivated { SocketActivation.keep() }
        // The queue's thread blocks signals, and a program inherits that.
        var none = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, nil)
        var words = ([program] + arguments).map { strdup($0) }
        words.append(nil)
        execv(program, words)
        Log.write(StreamLogEntry(.step, "cannot start \(program) again: \(String(cString: strerror(errno)))"))
        exit(ExitCode.internalError.rawValue)
    }
}
