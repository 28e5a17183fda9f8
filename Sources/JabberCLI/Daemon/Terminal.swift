// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Glibc
internal import JabberControl
internal import SocketIO

/// Signals and the terminal: what must be put right before this program ends.
///
/// There is one for the process, made in ``CommandMain``, as signals and terminal modes are the process's.
final class Terminal: Sendable {
    private struct State: Sendable {
        var connection: DaemonConnection?
        var saved: SavedMode?
        var signal: Int32?
        var lateness: ControlError?
        /// Commands of the user's that run, each in a process group of its own.
        var children: [Int32: ChildProcess] = [:]
    }

    /// The terminal's mode before echo was switched off.
    private struct SavedMode: Sendable {
        let descriptor: Int32
        let mode: termios
    }

    /// Keeps the sources that receive signals.
    ///
    /// `@unchecked Sendable`: after they were activated the sources are only kept, never used.
    private final class Sources: @unchecked Sendable {
        let sources: [any DispatchSourceSignal]

        init(_ sources: [any DispatchSourceSignal]) {
            self.sources = sources
        }
    }

    /// What ends a command.
    private static let endingSignals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]
    /// What concerns lines that are edited: the window has another size, or the process goes on after a stop.
    private static let editingSignals = [SIGWINCH, SIGCONT]

    /// `PIPE_BUF` of Linux, in bytes.
    private static let pieceBytes = 4096

    private let state = Locked(State())
    private let signals = Locked<Sources?>(nil)
    private let editing = Locked<Sources?>(nil)

    /// Takes SIGINT, SIGTERM, SIGHUP and SIGQUIT over, once. A command that neither waits nor asks does without: it
    /// costs time.
    ///
    /// One that whoever started this program wants ignored, as `nohup` does, stays so.
    func takeSignals() {
        signals.withLock { signals in
            guard signals == nil else { return }
            let queue = DispatchQueue(label: "jabberctl.signals")
            signals = Sources(
                Self.endingSignals.filter { !Self.isIgnored($0) }.map { number in
                    signal(number, SIG_IGN)
                    let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
                    source.setEventHandler { [weak self] in self?.received(number) }
                    source.activate()
                    return source
                })
        }
    }

    /// Lets the signals of ``takeSignals()`` end the process until they are taken over: there is nothing to put right
    /// yet.
    func endAtSignals() {
        for number in Self.endingSignals where !Self.isIgnored(number) {
            // The codes of `interrupted` and `terminated`: nothing may be looked up in a handler (signal-safety(7)).
            signal(number) { _exit($0 == SIGINT ? 130 : 143) }
        }
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(number, nil, &action) == 0 else { return false }
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    /// Which connection a signal ends; a second signal ends the program.
    func watch(_ connection: DaemonConnection?) {
        state.withLock { $0.connection = connection }
    }

    /// Ends every wait, now and later, with this error; the first counts.
    func stopWaiting(_ error: ControlError) {
        state.withLock { $0.lateness = $0.lateness ?? error }
    }

    /// A command of the user's runs: signals are passed on to it and to what it has started.
    func adopt(_ child: ChildProcess) {
        let signal = state.withLock { state in
            state.children[child.processID] = child
            return state.signal
        }
        if let signal { child.killGroup(signal) }
    }

    /// It has ended, and its number is still its own.
    func release(_ child: ChildProcess) {
        state.withLock { $0.children[child.processID] = nil }
    }

    private func received(_ number: Int32) {
        restore()
        state.withLock { state in
            for child in state.children.values { child.killGroup(number) }
        }
        let (connection, isFirst) = state.withLock { state in
            let isFirst = state.signal == nil
            state.signal = state.signal ?? number
            return (state.connection, isFirst)
        }
        guard isFirst, let connection else {
            connection?.abandon()
            _exit(128 + number)
        }
        let error = Self.error(for: number)
        Task { await connection.client.fail(error) }
    }

    private static func error(for number: Int32) -> ControlError {
        number == SIGINT ? ControlError(.interrupted, "interrupted") : ControlError(.terminated, "terminated")
    }

    private func checkEnd() throws(ControlError) {
        let (signal, lateness) = state.withLock { ($0.signal, $0.lateness) }
        if let signal { throw Self.error(for: signal) }
        if let lateness { throw lateness }
    }

    /// Waits until there is something to read, a signal has come, or time is up.
    ///
    /// - Throws: `ControlError` with ``ControlErrorCode/interrupted`` or ``ControlErrorCode/terminated``, or that of
    ///   ``stopWaiting(_:)``.
    func waitForInput(_ descriptor: Int32) throws(ControlError) {
        while true {
            try checkEnd()
            var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            if poll(&wait, 1, 100) != 0 { return }
        }
    }

    /// Reads a descriptor to its end, for as long as neither a signal nor the time limit ends it.
    ///
    /// - Throws: As ``waitForInput(_:)``, `inputOutput`, or `badData` beyond the limit in bytes.
    func readAll(_ descriptor: Int32, limit: Int, name: String) throws(ControlError) -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            try waitForInput(descriptor)
            guard let piece = try FileDescriptor(descriptor).readSome(name: name) else { return bytes }
            bytes += piece
            guard bytes.count <= limit else { throw ControlError(.badData, "\(name) is longer than \(limit) bytes") }
        }
    }

    /// Calls a handler when the other end of a pipe or a socket is closed; never for anything else.
    ///
    /// The wait is a thread's, as a source of Dispatch would fire for as long as there is room to write. It ends with
    /// the process when the reader stays.
    func watchReader(of descriptor: Int32, _ gone: @escaping @Sendable () -> Void) {
        DispatchQueue(label: "jabberctl.reader").async {
            while true {
                // Errors and the end are told unasked (poll(2)).
                var wait = pollfd(fd: descriptor, events: 0, revents: 0)
                if poll(&wait, 1, -1) > 0 { break }
                guard errno == EINTR else { return }
            }
            gone()
        }
    }

    /// Writes everything. A reader that does not read is waited for until a signal comes or time is up; what can be
    /// written at once is written even then.
    ///
    /// - Throws: As ``waitForInput(_:)``, or `inputOutput`.
    func writeAll(_ bytes: [UInt8], to descriptor: Int32, name: String) throws(ControlError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            guard poll(&wait, 1, 100) != 0 else {
                try checkEnd()
                continue
            }
            // pipe(7): a pipe that polls as writable takes this much without blocking.
            let piece = rest.prefix(Self.pieceBytes)
            try FileDescriptor(descriptor).writeAll(piece, name: name)
            rest = rest.dropFirst(piece.count)
        }
    }

    /// Asks for a line on the controlling terminal; `nil` when there is none, or nothing was typed.
    ///
    /// - Parameters:
    ///   - prompt: What is asked.
    ///   - hides: Whether what is typed is not shown, as a password.
    /// - Throws: `ControlError` when a signal comes meanwhile.
    func ask(_ prompt: String, hides: Bool) throws(ControlError) -> String? {
        let descriptor = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        takeSignals()
        var mode = termios()
        guard tcgetattr(descriptor, &mode) == 0 else { return nil }
        let saved = SavedMode(descriptor: descriptor, mode: mode)
        state.withLock { $0.saved = saved }
        defer { restore() }
        if hides { mode.c_lflag &= ~tcflag_t(ECHO) }
        guard tcsetattr(descriptor, TCSAFLUSH, &mode) == 0 else { return nil }
        let terminal = FileDescriptor(descriptor)
        try terminal.writeAll(Array(prompt.utf8), name: "the terminal")
        var line: [UInt8] = []
        while !line.contains(UInt8(ascii: "\n")), line.count <= PasswordSource.maximumBytes {
            try waitForInput(descriptor)
            guard let piece = try terminal.readSome(name: "the terminal") else { break }
            line += piece
        }
        if hides { try terminal.writeAll([UInt8(ascii: "\n")], name: "the terminal") }
        guard line.first != UInt8(ascii: "\n"), !line.isEmpty else { return nil }
        return try PasswordSource.firstLine(line, of: "the terminal")
    }

    /// An editor of lines on this terminal. The terminal's mode is put back when a signal comes or ``restore()`` is
    /// called.
    ///
    /// - Throws: `ControlError` when lines cannot be edited.
    func makeLineEditor(
        type: String?, columns: @escaping @Sendable () -> Int
    ) throws(ControlError) -> LineEditor {
        let editor = try LineEditor(terminalType: type, columns: columns)
        var mode = termios()
        guard tcgetattr(0, &mode) == 0 else { throw ControlError(.inputOutput, "standard input is no terminal") }
        let saved = SavedMode(descriptor: 0, mode: mode)
        state.withLock { $0.saved = saved }
        let queue = DispatchQueue(label: "jabberctl.window")
        editing.withLock { editing in
            editing = Sources(
                Self.editingSignals.map { number in
                    let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
                    source.setEventHandler { number == SIGCONT ? editor.wasContinued() : editor.wasResized() }
                    source.activate()
                    return source
                })
        }
        return editor
    }

    /// Puts the terminal back as it was.
    func restore() {
        state.withLock { state in
            guard var saved = state.saved.map({ ($0.descriptor, $0.mode) }) else { return }
            tcsetattr(saved.0, TCSAFLUSH, &saved.1)
            state.saved = nil
        }
    }
}
