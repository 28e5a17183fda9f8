// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import JabberControl

extension Launcher {
    /// How long a daemon in the background may take until it serves, in milliseconds.
    private static let patience = 15_000
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
        if socket.answers { return false }
        let program = try program()
        // One at a time: each puts the log of the one before aside.
        return try PrivateFile.inTurn(at: paths.state) { () throws(ControlError) in
            if socket.answers { return false }
            return try startAlone(program, words, socket, milliseconds: min(Self.patience, Int(seconds * 1_000)))
        }
    }

    private func startAlone(
        _ program: String, _ words: [String], _ socket: SocketPlace, milliseconds: Int
    ) throws(ControlError) -> Bool {
        let path = paths.state + "/daemon.log"
        let log = try openLog(path)
        defer { close(log) }
        let child = try spawn(program, words, log: log)
        var end: Int32?
        for _ in 0..<max(1, milliseconds / 10) {
            // The end of this one first: another may have been faster, and serves.
            end = end ?? child.wait(milliseconds: 10)
            guard let end else {
                if serves(child, at: socket) { return true }
                continue
            }
            if end == ExitCode.temporary.rawValue, socket.answers { return false }
            // The other one has its place, and is about to serve.
            guard end == ExitCode.temporary.rawValue, socket.isTaken else { throw failure(end, path, log) }
            usleep(10_000)
        }
        if let end { throw failure(end, path, log) }
        throw ControlError(.timedOut, "the daemon does not serve yet; see \(path)")
    }

    /// Whether who listens is the program that was started, or one that this has started, and not another daemon.
    private func serves(_ child: ChildProcess, at socket: SocketPlace) -> Bool {
        guard let listener = socket.listener else { return false }
        return listener == child.processID || getsid(listener) == child.processID
    }

    private func spawn(_ program: String, _ words: [String], log: Int32) throws(ControlError) -> ChildProcess {
        let null = open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard null >= 0 else { throw ControlError(.inputOutput, "cannot open /dev/null") }
        defer { close(null) }
        var environment = variables
        environment["JABBERCTL_PASSWORD"] = nil
        return try ChildProcess(
            [program] + words, environment: environment, descriptors: [(null, 0), (log, 1), (log, 2)],
            ownSession: true)
    }

    private func openLog(_ path: String) throws(ControlError) -> Int32 {
        try PrivateFile.makeFolder(paths.state)
        rename(path, path + ".old")
        let log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard log >= 0 else {
            throw ControlError(.inputOutput, "cannot create \(path): \(String(cString: strerror(errno)))")
        }
        return log
    }

    private func failure(_ code: Int32, _ path: String, _ log: Int32) -> ControlError {
        let text = (try? PrivateFile.read(path)).flatMap { $0 }.map { contents in
            String(decoding: contents.bytes.suffix(Self.maximumLogBytes), as: UTF8.self)
        }
        let last = text?.split(separator: "\n").last.map(String.init) ?? silence(code, path, log)
        let kind: ControlErrorCode =
            switch code {
            case ExitCode.configuration.rawValue: .configuration
            case ExitCode.temporary.rawValue: .temporary
            default: .inputOutput
            }
        var error = ControlError(kind, last.hasPrefix("jabberctld: ") ? String(last.dropFirst(12)) : last)
        if (1...127).contains(code) { error.exit = ExitCode(rawValue: code) }
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
