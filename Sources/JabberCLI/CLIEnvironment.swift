// SPDX-License-Identifier: Apache-2.0

package import JabberControl
package import SocketIO

/// Everything the command touches outside itself, so that it runs in a test with captured output.
package struct CLIEnvironment: Sendable {
    /// The words after the program's name.
    package var arguments: [String]
    /// The environment variables.
    package var variables: [String: String]
    /// Where files are.
    package var paths: RuntimePaths
    /// Whether standard input is a terminal.
    package var isInputTerminal = false
    /// Whether standard output is a terminal.
    package var isOutputTerminal = false
    /// Whether standard error is a terminal.
    package var isErrorTerminal = false
    /// What `--timeout` and other deadlines are measured by.
    package var clock: any StreamClock = SystemClock()
    /// Columns of the terminal.
    package var width = 80
    /// Columns and rows of the terminal as it is now; `nil` where there is none.
    package var screen: @Sendable () -> (columns: Int, rows: Int)? = { nil }
    /// The folder that relative paths start from.
    package var currentFolder = "/"
    /// The next piece of standard input, waiting for it; `nil` at the end.
    package var readInput: @Sendable () throws(ControlError) -> [UInt8]? = { () throws(ControlError) in nil }
    /// Writes to standard output.
    package var write: @Sendable ([UInt8]) throws(ControlError) -> Void
    /// Writes to standard error; failures are of no interest.
    package var writeError: @Sendable ([UInt8]) -> Void
    /// Reads a descriptor to its end, for `--password-fd`.
    package var readDescriptor: @Sendable (Int32) throws(ControlError) -> [UInt8] = { (number) throws(ControlError) in
        throw ControlError(.inputOutput, "descriptor \(number) is not open")
    }
    /// Asks for a password on the terminal without echo; `nil` when there is no terminal.
    package var askPassword: @Sendable (_ prompt: String) throws(ControlError) -> String? = {
        (_) throws(ControlError) in nil
    }
    /// Asks for a line on the terminal; `nil` when there is no terminal, or nothing was typed.
    package var ask: @Sendable (_ prompt: String) throws(ControlError) -> String? = { (_) throws(ControlError) in nil }
    /// Connects to a daemon, or starts a private one.
    package var connect: @Sendable (DaemonChoice) async throws(ControlError) -> DaemonConnection
    /// Calls a method of a daemon that runs, and waits for its answer so many seconds before it throws the error given;
    /// `nil` when that takes more than one question and one answer, so that ``connect`` has to do it.
    package var askRunning:
        @Sendable (DaemonChoice, _ method: String, _ params: JSONObject, _ seconds: Double, _ lateness: ControlError)
            throws(ControlError) -> JSONValue? = { (_, _, _, _, _) throws(ControlError) in nil }
    /// Runs the daemon with these words in this program's place; comes back only when that is not possible.
    package var runDaemon: @Sendable (_ words: [String]) throws(ControlError) -> Void = { (_) throws(ControlError) in }
    /// Starts the daemon with these words in the background, and waits until it serves at a socket; `false` when it did
    /// so already.
    package var startDaemon:
        @Sendable (_ words: [String], _ socket: String, _ seconds: Double) throws(ControlError) -> Bool = {
            (_, _, _) throws(ControlError) in true
        }
    /// Runs a command of the shell with these bytes as its standard input and these variables besides its own; waits
    /// for its end, and gives its exit code.
    package var runCommand: @Sendable (_ command: String, _ input: [UInt8], _ variables: [String: String]) -> Int32 = {
        (_, _, _) in 127
    }
    /// Runs an editor on the terminal; waits for its end, and gives its exit code.
    package var runEditor: @Sendable (_ words: [String]) -> Int32 = { _ in 127 }
    /// Whether a process, or any when none is named, holds the place of a socket as its daemon.
    package var isDaemonAlive: @Sendable (_ socket: String, _ process: Int32?) -> Bool = { _, _ in false }
    /// Makes sure that enough files may be open for a command that talks to a daemon.
    package var makeRoom: @Sendable () throws(ControlError) -> Void = { () throws(ControlError) in }
    /// An RFC 3339 time as a person at this place reads it.
    package var localTime: @Sendable (String) -> String = { $0 }
    /// Makes what edits lines on the terminal; the terminal is put back as it was at the end.
    package var makeLineEditor: @Sendable () throws(ControlError) -> any LineEditing = { () throws(ControlError) in
        throw ControlError(.usage, "there is no terminal")
    }
    /// Told which connection a signal must end; `nil` when there is none any more.
    package var watch: @Sendable (DaemonConnection?) -> Void = { _ in }
    /// Ends every wait for input or for a reader of the output, now and later, with this error: time is up.
    package var stopWaiting: @Sendable (ControlError) -> Void = { _ in }
    /// Calls a handler, on any thread, when nobody reads standard output any more; at most once.
    package var watchReader: @Sendable (_ gone: @escaping @Sendable () -> Void) -> Void = { _ in }
    /// The place of the first argument that is no UTF-8, counted from 0; `nil` when all are.
    package var strangeArgument: Int?

    /// Makes an environment that touches nothing but these.
    package init(
        arguments: [String], variables: [String: String], paths: RuntimePaths,
        write: @escaping @Sendable ([UInt8]) throws(ControlError) -> Void,
        writeError: @escaping @Sendable ([UInt8]) -> Void,
        connect: @escaping @Sendable (DaemonChoice) async throws(ControlError) -> DaemonConnection
    ) {
        self.arguments = arguments
        self.variables = variables
        self.paths = paths
        self.write = write
        self.writeError = writeError
        self.connect = connect
    }

    /// A path as another process understands it.
    func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : "\(currentFolder)/\(path)"
    }
}

/// Which daemon a command wants.
package struct DaemonChoice: Hashable, Sendable {
    /// The control socket that was asked for.
    package var socket: String?
    /// Whether a private daemon is wanted even when another runs.
    package var isPrivate: Bool
    /// How talkative a private daemon shall be on standard error, 0 and up.
    package var verbosity: Int
    /// Whether only a daemon that runs will do.
    package var needsRunning = false
}

/// A connection to a daemon, and what to do at its end.
package struct DaemonConnection: Sendable {
    /// The connection.
    package let client: ControlCaller
    /// What the client works on, for who would rather have its bytes; the client must not have been used then.
    package let transport: any ByteTransport
    /// Whether the daemon serves this command only.
    package let isPrivate: Bool
    /// Closes the connection in good order; of a private daemon, waits for its end. Bounded, whatever the daemon does,
    /// and short when time is up.
    package let finish: @Sendable (_ isLate: Bool) async -> Void
    /// What to do about a daemon that runs and does not answer; empty when there is nothing to do.
    package let remedy: @Sendable () -> String
    /// Ends a private daemon at once: this program is about to end.
    package let abandon: @Sendable () -> Void

    /// Makes a connection.
    package init(
        client: ControlCaller, transport: any ByteTransport, isPrivate: Bool,
        finish: @escaping @Sendable (_ isLate: Bool) async -> Void,
        remedy: @escaping @Sendable () -> String = { "" }, abandon: @escaping @Sendable () -> Void = {}
    ) {
        self.client = client
        self.transport = transport
        self.isPrivate = isPrivate
        self.finish = finish
        self.remedy = remedy
        self.abandon = abandon
    }
}
