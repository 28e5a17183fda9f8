// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Glibc
internal import JabberControl
internal import SocketIO

/// Finds a daemon that runs, or starts a private one on a socket pair.
struct Launcher: Sendable {
    /// The descriptor at which a private daemon finds its end of the socket pair.
    static let childDescriptor: Int32 = 3

    /// How long a daemon may take to let go of its end of the connection.
    private static let farewell: Duration = .seconds(5)
    /// The same for one that has not answered in time.
    private static let shortFarewell: Duration = .milliseconds(200)

    let paths: RuntimePaths
    let variables: [String: String]

    /// Connects to the daemon that the command wants.
    ///
    /// - Throws: `ControlError` with ``ControlErrorCode/daemonNotRunning`` or ``ControlErrorCode/daemonNotFound``.
    func connect(_ choice: DaemonChoice) async throws(ControlError) -> DaemonConnection {
        if let socket = choice.socket {
            guard let connection = await running(at: socket) else {
                throw ControlError(.daemonNotRunning, "no daemon answers at \(socket)")
            }
            return connection
        }
        if choice.needsRunning {
            guard let connection = await running(at: paths.controlSocket) else {
                throw ControlError(.daemonNotRunning, "no daemon runs; start it with: jabberctl daemon start")
            }
            return connection
        }
        if !choice.isPrivate, access(paths.controlSocket, F_OK) == 0,
            let connection = await running(at: paths.controlSocket)
        {
            return connection
        }
        return try start(verbosity: choice.verbosity)
    }

    /// Calls a method of a daemon that runs, where nothing more than that is wanted.
    ///
    /// - Returns: `nil` when there is none, or when it takes patience or a password: then nothing was done.
    /// - Throws: `ControlError` as the daemon answers it, or `lateness`.
    func askRunning(
        _ choice: DaemonChoice, _ method: String, _ params: JSONObject, seconds: Double, or lateness: ControlError
    ) throws(ControlError) -> JSONValue? {
        guard var caller = DirectCaller.connect(to: choice.socket ?? paths.controlSocket) else { return nil }
        return try DaemonSession.ask(&caller, method, params, seconds: seconds, or: lateness)
    }

    private func running(at path: String) async -> DaemonConnection? {
        // Nobody listens there, as after a crash: a private daemon does.
        guard let transport = try? await ControlSocket.connect(to: path) else { return nil }
        let client = ControlCaller(over: transport)
        return DaemonConnection(
            client: client, transport: transport, isPrivate: false,
            finish: { isLate in _ = await client.close(within: isLate ? Self.shortFarewell : Self.farewell) },
            remedy: { Self.remedy(SocketPlace(path).holder) })
    }

    /// What to do about a daemon that runs and does not answer.
    private static func remedy(_ process: Int32?) -> String {
        let end = process.map { "end it with: kill -KILL \($0), or use" } ?? "use"
        return "it hangs, or was stopped; \(end) --no-daemon"
    }

    private func start(verbosity: Int) throws(ControlError) -> DaemonConnection {
        let program = try program()
        let transport: SocketTransport
        let end: Descriptor
        do throws(SystemError) {
            let pair = try SocketPair()
            transport = try SocketTransport(pair.first, on: StreamExecutor(label: "jabberctl.control"))
            end = pair.second
        } catch {
            throw ControlError(.inputOutput, "cannot start \(program): \(error)")
        }
        let child = try Self.spawn(program, end: end, verbosity: verbosity, variables)
        let client = ControlCaller(over: transport)
        return DaemonConnection(
            client: client, transport: transport, isPrivate: true,
            finish: { isLate in
                let isWilling = await client.close(within: isLate ? Self.shortFarewell : Self.farewell)
                Self.end(child, milliseconds: isWilling ? isLate ? 500 : 5_000 : 0, patience: isLate ? 200 : 1_000)
            },
            // One that works ends with its connection; this is for one that hangs.
            abandon: { child.kill(SIGTERM) })
    }

    private static func spawn(
        _ program: String, end: Descriptor, verbosity: Int, _ variables: [String: String]
    ) throws(ControlError) -> ChildProcess {
        var environment = variables
        // A child's environment can be read by others of the same user for as long as it runs.
        environment["JABBERCTL_PASSWORD"] = nil
        let null = SystemCall.uninterrupted { open("/dev/null", O_RDONLY | O_CLOEXEC) }
        guard null >= 0 else {
            throw ControlError(.inputOutput, "cannot open /dev/null: \(SystemError(errno, "open"))")
        }
        defer { close(null) }
        let words = [program, "--private"] + repeatElement("--verbose", count: verbosity)
        do throws(ControlError) {
            // What the daemon might print goes to standard error: standard output is the command's alone.
            return try ChildProcess(
                words, environment: environment,
                descriptors: [(null, 0), (2, 1), (2, 2), (end.number, childDescriptor)], ownGroup: true)
        } catch {
            throw ControlError(.daemonNotFound, error.message)
        }
    }

    /// Waits for the daemon's end, which follows the end of its connection; one that hangs is ended.
    ///
    /// - Parameter patience: How long it may take, in milliseconds, once it was told to.
    private static func end(_ child: ChildProcess, milliseconds: Int, patience: Int) {
        if child.wait(milliseconds: milliseconds) != nil { return }
        child.kill(SIGTERM)
        if child.wait(milliseconds: patience) != nil { return }
        child.kill(SIGKILL)
        _ = child.wait()
    }

    /// The daemon's program: `$JABBERCTLD`, beside this one, then in `../libexec`.
    ///
    /// - Throws: `ControlError` with ``ControlErrorCode/daemonNotFound`` naming the places.
    func program() throws(ControlError) -> String {
        if let program = variables["JABBERCTLD"], !program.isEmpty {
            guard access(program, X_OK) == 0 else {
                throw ControlError(.daemonNotFound, "JABBERCTLD is \(program), which is no program")
            }
            return program
        }
        let folder = OwnProgram.folder
        let places = ["\(folder)/jabberctld", "\(folder)/../libexec/jabberctld"]
        guard let program = places.first(where: { access($0, X_OK) == 0 }) else {
            throw ControlError(.daemonNotFound, "jabberctld is neither at \(places.joined(separator: " nor at "))")
        }
        return program
    }
}
