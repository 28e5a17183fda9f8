// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import SocketIO

/// A program that runs as long as a test needs it, and not longer: it ends when the test's process does, however that
/// ends.
///
/// A shell stands between: it holds the other end of a socket, and ends the program when this end closes.
public final class ServerProcess: Sendable {
    /// Starts the program of its arguments, waits for its end, and sends it SIGTERM when the standard input ends.
    ///
    /// First it closes what it was not meant to inherit: a pipe of another test would stay open for as long as the
    /// program runs, and its reader would wait for the end. It takes Bash to name a descriptor past 9.
    private static let guardian = """
        for descriptor in /proc/$$/fd/*; do
            [ "${descriptor##*/}" -le 2 ] || eval "exec ${descriptor##*/}>&-"
        done
        exec 3<&0
        "$@" </dev/null 3<&- &
        program=$!
        { read -r _; kill -TERM "$program"; } <&3 2>/dev/null &
        watch=$!
        exec 3<&-
        wait "$program"
        status=$?
        kill "$watch" 2>/dev/null
        exit "$status"
        """

    private static let shell = "/bin/bash"

    /// How long the program may take to end before it is killed.
    private static let gracePeriod: Duration = .seconds(5)

    /// Process id of the guarding shell, which leads the program's process group.
    public let processID: Int32
    /// The file with what the program wrote to its standard output and error.
    public let logFile: String

    private let lifeline: Locked<Descriptor?>
    private let hasEnded = Locked(false)

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - program: The path of the program.
    ///   - arguments: Its arguments, without its name.
    ///   - environment: Variables in addition to this process's.
    ///   - logFile: Where its output goes.
    /// - Throws: ``TestSupportError`` when it cannot be started.
    public init(
        _ program: String, _ arguments: [String], environment: [String: String] = [:], logFile: String
    ) throws(TestSupportError) {
        let line: SocketPair
        do throws(SystemError) {
            line = try SocketPair()
        } catch {
            throw TestSupportError("no lifeline for \(program): \(error)")
        }
        do throws(SystemError) {
            let words = [Self.shell, "-c", Self.guardian, "guardian", program] + arguments
            // A group of its own, so that the program is ended with all it started.
            processID = try ProgramStart.start(words, environment: Self.variables(environment), own: .group) {
                actions in
                posix_spawn_file_actions_adddup2(&actions, line.first.number, STDIN_FILENO)
                posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, logFile, O_WRONLY | O_CREAT | O_APPEND, 0o600)
                posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO)
            }
            // The program has an end of its own now.
            withExtendedLifetime(line) {}
        } catch {
            throw TestSupportError("cannot start \(program): \(error)")
        }
        self.logFile = logFile
        lifeline = Locked(line.second)
    }

    deinit {
        letGo()
        if !isRunning { return }
        _ = kill(-processID, SIGKILL)
        _ = waitpid(processID, nil, 0)
    }

    /// Whether the program is still there.
    public var isRunning: Bool {
        hasEnded.withLock { ended in
            if !ended { ended = waitpid(processID, nil, WNOHANG) != 0 }
            return !ended
        }
    }

    /// Ends the program: SIGTERM first, SIGKILL to its whole group when it does not end within 5 seconds. Idempotent.
    public func stop() async {
        letGo()
        let clock = SystemClock()
        let deadline = clock.now + Self.gracePeriod
        while isRunning, clock.now < deadline { await Pause.briefly() }
        _ = kill(-processID, SIGKILL)
        while isRunning { await Pause.briefly() }
        // What the program had started is not our child: its group is gone once the system has cleared it away.
        let last = clock.now + Self.gracePeriod
        while kill(-processID, 0) == 0, clock.now < last { await Pause.briefly() }
    }

    /// The end of what the program wrote: at most 2,000 bytes.
    public var logTail: String {
        let descriptor = open(logFile, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "(no output)" }
        defer { close(descriptor) }
        let length = 2_000
        let end = lseek(descriptor, 0, SEEK_END)
        lseek(descriptor, max(0, end - length), SEEK_SET)
        var bytes = [UInt8](repeating: 0, count: length)
        let count = read(descriptor, &bytes, length)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    /// Closes the socket that keeps the program alive.
    private func letGo() {
        lifeline.withLock { $0 = nil }
    }

    /// This process's environment with changes.
    private static func variables(_ changes: [String: String]) -> [String] {
        let kept = OwnEnvironment.entries.filter { changes[String($0.prefix { $0 != "=" })] == nil }
        return changes.map { "\($0)=\($1)" } + kept
    }
}

/// A moment of waiting, for what can only be asked about again and again.
package enum Pause {
    private static let executor = StreamExecutor(label: "swift-xmpp.pause")

    /// Waits 20 ms.
    package static func briefly() async {
        await SystemClock().pause(for: .milliseconds(20), on: executor)
    }
}
