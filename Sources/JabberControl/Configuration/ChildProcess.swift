// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A program started without a shell, with nothing inherited but what is named.
package struct ChildProcess: Sendable {
    /// Its process id.
    package let processID: Int32

    /// Starts a program.
    ///
    /// Signals that this program ignores or blocks are put back to their defaults; every descriptor above the given ones is
    /// closed in the child.
    ///
    /// - Parameters:
    ///   - words: The program, looked up in `PATH` when it has no slash, and its arguments.
    ///   - environment: The whole environment of the child.
    ///   - descriptors: Which descriptor of ours becomes which of the child's; others above 2 are closed.
    ///   - ownGroup: Whether the child gets a process group of its own, so that Ctrl-C at the terminal does not reach it.
    ///   - ownSession: Whether the child gets a session of its own, so that it outlives the terminal.
    /// - Throws: `ControlError` with ``ControlErrorCode/configuration`` when the program cannot be started.
    package init(
        _ words: [String], environment: [String: String], descriptors: [(ours: Int32, child: Int32)],
        ownGroup: Bool = false, ownSession: Bool = false
    ) throws(ControlError) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for pair in descriptors { posix_spawn_file_actions_adddup2(&actions, pair.ours, pair.child) }
        Self.closeInheritedAtExec()

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE] { sigaddset(&signals, signal) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        var flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
        if ownGroup { flags |= POSIX_SPAWN_SETPGROUP }
        // POSIX_SPAWN_SETSID of spawn.h, which Swift sees for programs with _GNU_SOURCE only.
        if ownSession { flags |= 0x80 }
        posix_spawnattr_setflags(&attributes, Int16(flags))

        var child: pid_t = 0
        let status: Int32 = Self.withCStrings(words) { arguments in
            Self.withCStrings(environment.map { "\($0.key)=\($0.value)" }) { variables in
                // An array with its terminating element always has an address.
                guard let arguments, let variables else { return EINVAL }
                return posix_spawnp(&child, words.first ?? "", &actions, &attributes, arguments, variables)
            }
        }
        guard status == 0 else {
            throw ControlError(
                .configuration, "cannot start \(words.first ?? ""): \(String(cString: strerror(status)))")
        }
        processID = child
    }

    /// Waits until the child has ended.
    ///
    /// - Returns: Its exit code, or 128 and the number of the signal that ended it.
    package func wait() -> Int32 {
        var status: Int32 = 0
        while waitpid(processID, &status, 0) < 0 {
            guard errno == EINTR else { return -1 }
        }
        return Self.code(of: status)
    }

    /// Waits until the child has ended, for a bounded time.
    ///
    /// - Returns: Its exit code, or `nil` when it still runs after the time.
    package func wait(milliseconds: Int) -> Int32? {
        var status: Int32 = 0
        for _ in 0..<max(1, milliseconds / 5) {
            let result = waitpid(processID, &status, WNOHANG)
            if result == processID { return Self.code(of: status) }
            if result < 0 && errno != EINTR { return -1 }
            usleep(5000)
        }
        return nil
    }

    /// Sends a signal to the child.
    package func kill(_ signal: Int32) {
        Glibc.kill(processID, signal)
    }

    /// Marks what this program itself inherited: its own descriptors are made with the mark.
    private static func closeInheritedAtExec() {
        for descriptor in PrivateFile.names(in: "/proc/self/fd").compactMap(Int32.init) where descriptor > 2 {
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        }
    }

    private static func code(of status: Int32) -> Int32 {
        let signal = status & 0x7F
        return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
    }

    private static func withCStrings<Result>(
        _ strings: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>?) -> Result
    ) -> Result {
        var pointers = strings.map { strdup($0) }
        defer { for pointer in pointers { free(pointer) } }
        pointers.append(nil)
        return pointers.withUnsafeBufferPointer { body($0.baseAddress) }
    }
}
