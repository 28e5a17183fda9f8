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

    /// Starts the daemon in the background and waits until it serves.
    ///
    /// - Returns: Whether it was started; `false` when one served already.
    /// - Throws: `ControlError` with what the daemon said before it ended.
    func start(_ words: [String], socket: SocketPlace) throws(ControlError) -> Bool {
        if socket.answers { return false }
        let program = try program()
        let path = paths.state + "/daemon.log"
        let log = try openLog(path)
        defer { close(log) }
        let null = open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard null >= 0 else { throw ControlError(.inputOutput, "cannot open /dev/null") }
        defer { close(null) }
        var environment = variables
        environment["JABBERCTL_PASSWORD"] = nil
        let child = try ChildProcess(
            [program] + words, environment: environment, descriptors: [(null, 0), (log, 1), (log, 2)],
            ownSession: true)
        for _ in 0..<Self.patience / 10 {
            // The end of this one first: another may have been faster, and serves.
            if let code = child.wait(milliseconds: 10) {
                if code == ExitCode.temporary.rawValue, socket.answers { return false }
                throw failure(code, path)
            }
            if socket.answers { return true }
        }
        throw ControlError(.timedOut, "the daemon does not serve yet; see \(path)")
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

    private func failure(_ code: Int32, _ path: String) -> ControlError {
        let text = (try? PrivateFile.read(path)).flatMap { $0 }.map { contents in
            String(decoding: contents.bytes.suffix(Self.maximumLogBytes), as: UTF8.self)
        }
        let last = text?.split(separator: "\n").last.map(String.init) ?? "the daemon ended with code \(code)"
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
}
