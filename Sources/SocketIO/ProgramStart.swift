// SPDX-License-Identifier: Apache-2.0

package import Glibc

/// Starts other programs, and reads how they ended.
package enum ProgramStart {
    /// What a program has of its own.
    package struct Belongings: OptionSet, Sendable {
        /// The flags of posix_spawn(3).
        package let rawValue: Int32

        /// Makes a set of the flags.
        package init(rawValue: Int32) {
            self.rawValue = rawValue
        }

        /// A process group, so that Ctrl-C at the terminal does not reach it.
        package static let group = Belongings(rawValue: POSIX_SPAWN_SETPGROUP)
        /// A session, so that it outlives the terminal. `POSIX_SPAWN_SETSID` of spawn.h, which Swift sees for programs
        /// with `_GNU_SOURCE` only.
        package static let session = Belongings(rawValue: 0x80)
    }

    /// Starts a program (posix_spawnp(3)). Signals that this process ignores or blocks are put back to their defaults.
    ///
    /// - Parameters:
    ///   - words: The program, looked up in this process's `PATH` when it has no slash, and its arguments.
    ///   - environment: Its whole environment, `NAME=value` each.
    ///   - own: What it has of its own.
    ///   - arrange: Says which descriptors it gets.
    /// - Returns: Its process id.
    /// - Throws: `SystemError` when it cannot be started.
    package static func start(
        _ words: [String], environment: [String], own: Belongings = [],
        _ arrange: (inout posix_spawn_file_actions_t) -> Void
    ) throws(SystemError) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        arrange(&actions)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE] { sigaddset(&signals, signal) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(
            &attributes, Int16(truncatingIfNeeded: POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | own.rawValue))
        var processID: pid_t = 0
        let status = lend(words) { arguments in
            lend(environment) { variables in
                posix_spawnp(&processID, words.first ?? "", &actions, &attributes, arguments, variables)
            }
        }
        guard status == 0 else { throw SystemError(status, "posix_spawn", words.first ?? "") }
        return processID
    }

    /// The exit code in what waitpid(2) tells of a program that has ended; 128 and the signal's number where a signal
    /// ended it.
    package static func code(ofEnd status: Int32) -> Int32 {
        let signal = status & 0x7F
        return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
    }

    /// Lends strings as an array of pointers with a null at its end; each string ends at its first NUL.
    private static func lend<Result>(
        _ strings: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
    ) -> Result {
        var pointers: [UnsafeMutablePointer<CChar>?] = strings.map { strdup($0) }
        pointers.append(nil)
        defer { for pointer in pointers { free(pointer) } }
        return pointers.withUnsafeBufferPointer { buffer in
            guard let base = buffer.baseAddress else { preconditionFailure("an array with a null in it is not empty") }
            return body(base)
        }
    }
}
