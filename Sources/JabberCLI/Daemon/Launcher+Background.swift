// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import JabberControl
internal import SocketIO

extension Launcher {
    /// How long a daemon in the background may take until it serves.
    private static let patience: Duration = .seconds(15)
    /// How long a daemon that is there may take to greet.
    private static let greetingPatience: Duration = .seconds(5)
    /// How much of the log is looked through for the reason of a failure, in bytes.
    private static let maximumLogBytes = 64 << 10

    /// Runs the daemon in this program's place.
    ///
    /// - Throws: `ControlError` with ``ControlErrorCode/daemonNotFound`` when that is not possible.
    func run(_ words: [String]) throws(ControlError) {
        let program = try program()
        // What the environment holds can be read by others of the same user for as long as the daemon runs.
        unsetenv("JABBERCTL_PASSWORD")
        var arguments = ([program] + words).map { strdup($0) }
        arguments.append(nil)
        execv(program, arguments)
        throw ControlError(.daemonNotFound, "cannot start \(program): \(String(cString: strerror(errno)))")
    }

    /// Starts the daemon in the background and waits until it serves, for as long as asked, at most 15 seconds.
    ///
    /// - Returns: Whether it was started; `false` when one served already.
    /// - Throws: `ControlError` with what the daemon said before it ended.
    func start(_ words: [String], socket: SocketPlace, seconds: Double) throws(ControlError) -> Bool {
        let clock = SystemClock()
        let end = clock.now + min(Self.patience, .seconds(seconds))
        if try isServed(socket, until: end) { return false }
        let program = try program()
        // One at a time: each puts the log of the one before aside.
        return try PrivateFile.inTurn(at: paths.state) { () throws(ControlError) in
            while clock.now < end {
                if try isServed(socket, until: end) { return false }
                if try startAlone(program, words, socket, until: end) { return true }
                // Another one has the place: it is about to serve, or to go.
                usleep(20_000)
            }
            throw ControlError(
                .timedOut, "another daemon has the place of \(socket.path), and neither serves nor ends; try again")
        }
    }

    /// Whether a daemon serves at a place.
    ///
    /// - Throws: `ControlError` with ``ControlErrorCode/timedOut`` when somebody is there and says nothing.
    private func isServed(_ socket: SocketPlace, until end: Duration) throws(ControlError) -> Bool {
        switch socket.ask(within: min(Self.greetingPatience, max(.milliseconds(100), end - SystemClock().now))) {
        case .serves: return true
        case .nobody, .ends: return false
        case .nothing:
            let remedy = socket.holder.map { "; end it with: kill -KILL \($0)" } ?? ""
            throw ControlError(.timedOut, "a daemon runs at \(socket.path) but hangs, or was stopped\(remedy)")
        }
    }

    /// Starts the program, and waits until it serves.
    ///
    /// - Returns: `false` when another daemon has its place.
    private func startAlone(
        _ program: String, _ words: [String], _ socket: SocketPlace, until end: Duration
    ) throws(ControlError) -> Bool {
        let path = paths.daemonLog
        let log = try openLog(path)
        defer { close(log) }
        let child = try spawn(program, words, log: log)
        while SystemClock().now < end {
            // The end of this one first: another may have been faster, and serves.
            if let code = child.wait(milliseconds: 10) {
                if code == ExitCode.temporary.rawValue { return false }
                throw failure(code, path, log)
            }
            if serves(child, at: socket) { return true }
        }
        throw ControlError(.timedOut, "the daemon does not serve yet; see \(path)")
    }

    private func spawn(_ program: String, _ words: [String], log: Int32) throws(ControlError) -> ChildProcess {
        let null = SystemCall.uninterrupted { open("/dev/null", O_RDONLY | O_CLOEXEC) }
        guard null >= 0 else { throw ControlError(.inputOutput, "cannot open /dev/null") }
        defer { close(null) }
        var environment = variables
        environment["JABBERCTL_PASSWORD"] = nil
        return try ChildProcess(
            [program] + words, environment: environment, descriptors: [(null, 0), (log, 1), (log, 2)],
            ownSession: true)
    }

    /// Whether who listens is the program that was started, or one that this has started, and not another daemon.
    private func serves(_ child: ChildProcess, at socket: SocketPlace) -> Bool {
        guard let listener = socket.listener else { return false }
        return listener == child.processID || getsid(listener) == child.processID
    }

    private func openLog(_ path: String) throws(ControlError) -> Int32 {
        try PrivateFile.makeFolder(paths.state)
        rename(path, path + ".old")
        let log = SystemCall.uninterrupted { open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0o600) }
        guard log >= 0 else {
            throw ControlError(.inputOutput, "cannot create \(path): \(String(cString: strerror(errno)))")
        }
        // A umask that keeps the owner out would keep us out.
        fchmod(log, 0o600)
        return log
    }

    private func failure(_ code: Int32, _ path: String, _ log: Int32) -> ControlError {
        let text = (try? PrivateFile.read(path)).flatMap { $0 }.map { contents in
            String(decoding: contents.bytes.suffix(Self.maximumLogBytes), as: UTF8.self)
        }
        let last = text?.unicodeScalars.split(separator: "\n").last.map { String($0) } ?? silence(code, path, log)
        let kind: ControlErrorCode =
            switch code {
            case ExitCode.configuration.rawValue: .configuration
            case ExitCode.temporary.rawValue: .temporary
            default: .inputOutput
            }
        var error = ControlError(kind, last.hasPrefix("jabberctld: ") ? String(last.dropFirst(12)) : last)
        // What is no code of ours, as of another program that JABBERCTLD names, says nothing to who reads the table.
        let exit = ExitCode(rawValue: code)
        if (1...127).contains(code), exit.isKnown { error.exit = exit }
        return error
    }

    /// What is told of a daemon that said nothing: whether it could have said something.
    private func silence(_ code: Int32, _ path: String, _ log: Int32) -> String {
        let end = code > 128 ? "was ended by signal \(code - 128)" : "ended with code \(code)"
        do throws(ControlError) {
            try FileDescriptor(log).writeAll(Array("jabberctld: \(end)\n".utf8), name: path)
            return "the daemon \(end)"
        } catch {
            return "the daemon \(end), and could not say why: \(error.message)"
        }
    }
}
