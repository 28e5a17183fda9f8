// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Glibc
internal import JabberControl
internal import SocketIO

/// The program `jabberctl`.
public enum CommandMain {
    /// Runs the process's command line.
    ///
    /// - Returns: The exit code.
    public static func run() -> Int32 {
        FileDescriptor.occupyStandard()
        let terminal = Terminal()
        // A reader that goes away is an error of the next write, not the end of this program.
        signal(SIGPIPE, SIG_IGN)
        let environment = StandardStreams.environment(terminal)
        var command: PendingCommand
        switch CommandRunner.begin(environment) {
        case .ended(let code): return code.rawValue
        case .waits(let pending): command = pending
        }
        // A password may pass through.
        MemoryProtection.apply()
        terminal.endAtSignals()
        if let code = command.askRunning() { return code.rawValue }
        terminal.takeSignals()
        let done = DispatchSemaphore(value: 0)
        let code = Locked(ExitCode.internalError)
        Task { [command] in
            let result = await command.run()
            code.withLock { $0 = result }
            done.signal()
        }
        done.wait()
        return code.withLock { $0.rawValue }
    }
}
