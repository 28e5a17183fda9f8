// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import SocketIO

/// A program started without a shell, with nothing inherited but what is named.
package struct ChildProcess: Sendable {
    /// Its process id.
    package let processID: Int32

    /// Starts a program.
    ///
    /// Signals that this program ignores or blocks are put back to their defaults; every descriptor above the given
    /// ones is closed in the child.
    ///
    /// - Parameters:
    ///   - words: The program, looked up in `PATH` when it has no slash, and its arguments.
    ///   - environment: The whole environment of the child.
    ///   - descriptors: Which descriptor of ours becomes which of the child's; others above 2 are closed.
    ///   - ownGroup: Whether the child gets a process group of its own, so that Ctrl-C at the terminal does not reach
    ///     it.
    ///   - ownSession: Whether the child gets a session of its own, so that it outlives the terminal.
    /// - Throws: `ControlError` with ``ControlErrorCode/configuration`` when the program cannot be started.
    package init(
        _ words: [String], environment: [String: String], descriptors: [(ours: Int32, child: Int32)],
        ownGroup: Bool = false, ownSession: Bool = false
    ) throws(ControlError) {
        Self.closeInheritedAtExec()

        var own: ProgramStart.Belongings = []
        if ownGroup { own.insert(.group) }
        if ownSession { own.insert(.session) }
        do throws(SystemError) {
            processID = try ProgramStart.start(
                words, environment: environment.map { "\($0.key)=\($0.value)" }, own: own
            ) { actions in
                for pair in descriptors { posix_spawn_file_actions_adddup2(&actions, pair.ours, pair.child) }
            }
        } catch {
            throw ControlError(.configuration, "cannot start \(words.first ?? ""): \(error.reason)")
        }
    }

    /// Waits until the child has ended.
    ///
    /// - Returns: Its exit code, or 128 and the number of the signal that ended it.
    package func wait() -> Int32 {
        var status: Int32 = 0
        while waitpid(processID, &status, 0) < 0 {
            guard errno == EINTR else { return -1 }
        }
        return ProgramStart.code(ofEnd: status)
    }

    /// Waits until the child has ended, and leaves its number to it: nobody else has it before ``wait()``.
    package func waitForEnd() {
        var information = siginfo_t()
        while waitid(P_PID, id_t(processID), &information, WEXITED | WNOWAIT) != 0 {
            guard errno == EINTR else { return }
        }
    }

    /// Waits until the child has ended, for a bounded time.
    ///
    /// - Returns: Its exit code, or `nil` when it still runs after the time.
    package func wait(milliseconds: Int) -> Int32? {
        var status: Int32 = 0
        for _ in 0..<max(1, milliseconds / 5) {
            let result = waitpid(processID, &status, WNOHANG)
            if result == processID { return ProgramStart.code(ofEnd: status) }
            if result < 0 && errno != EINTR { return -1 }
            usleep(5000)
        }
        return nil
    }

    /// Sends a signal to the child.
    package func kill(_ signal: Int32) {
        Glibc.kill(processID, signal)
    }

    /// Sends a signal to the process group of the child, which is its own.
    package func killGroup(_ signal: Int32) {
        Glibc.kill(-processID, signal)
    }

    /// Marks what this program itself inherited: its own descriptors are made with the mark.
    private static func closeInheritedAtExec() {
        for descriptor in PrivateFile.names(in: "/proc/self/fd").compactMap(Int32.init) where descriptor > 2 {
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        }
    }
}
