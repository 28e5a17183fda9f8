// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Glibc
internal import JabberControl
internal import Synchronization

/// Signals and the terminal: what must be put right before this program ends.
///
/// There is one for the process, made in ``CommandMain``, as signals and terminal modes are the process's.
final class Terminal: Sendable {
    private struct State: Sendable {
        var client: ControlClient?
        var saved: SavedMode?
        var signal: Int32?
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

    private let state = Mutex(State())
    private let signals = Mutex<Sources?>(nil)

    /// Takes SIGINT, SIGTERM and SIGHUP over, once. A command that neither waits nor asks does without: it costs time.
    func takeSignals() {
        signals.withLock { signals in
            guard signals == nil else { return }
            let queue = DispatchQueue(label: "jabberctl.signals")
            signals = Sources(
                [SIGINT, SIGTERM, SIGHUP].map { number in
                    signal(number, SIG_IGN)
                    let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
                    source.setEventHandler { [weak self] in self?.received(number) }
                    source.activate()
                    return source
                })
        }
    }

    /// Which connection a signal ends; a second signal ends the program.
    func watch(_ client: ControlClient?) {
        state.withLock { $0.client = client }
    }

    private func received(_ number: Int32) {
        restore()
        let client = state.withLock { state in
            let first = state.signal == nil
            state.signal = number
            return first ? state.client : nil
        }
        guard let client else { _exit(128 + number) }
        let error = Self.error(for: number)
        Task { await client.fail(error) }
    }

    private static func error(for number: Int32) -> ControlError {
        number == SIGINT ? ControlError(.interrupted, "interrupted") : ControlError(.terminated, "terminated")
    }

    private func checkSignal() throws(ControlError) {
        if let number = state.withLock({ $0.signal }) { throw Self.error(for: number) }
    }

    /// Waits until there is something to read, or a signal has come.
    ///
    /// - Throws: `ControlError` with ``ControlErrorCode/interrupted`` or ``ControlErrorCode/terminated``.
    func waitForInput(_ descriptor: Int32) throws(ControlError) {
        while true {
            try checkSignal()
            var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            if poll(&wait, 1, 100) != 0 { return }
        }
    }

    /// Asks for a password on the controlling terminal without echo; `nil` when there is none.
    ///
    /// - Throws: `ControlError` when a signal comes meanwhile.
    func askPassword(prompt: String) throws(ControlError) -> String? {
        let descriptor = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        takeSignals()
        var mode = termios()
        guard tcgetattr(descriptor, &mode) == 0 else { return nil }
        let saved = SavedMode(descriptor: descriptor, mode: mode)
        state.withLock { $0.saved = saved }
        defer { restore() }
        mode.c_lflag &= ~tcflag_t(ECHO)
        guard tcsetattr(descriptor, TCSAFLUSH, &mode) == 0 else { return nil }
        let terminal = FileDescriptor(descriptor)
        try terminal.writeAll(Array(prompt.utf8), name: "the terminal")
        var line: [UInt8] = []
        while !line.contains(UInt8(ascii: "\n")), line.count <= PasswordSource.maximumBytes {
            try waitForInput(descriptor)
            guard let piece = try terminal.readSome(name: "the terminal") else { break }
            line += piece
        }
        try terminal.writeAll([UInt8(ascii: "\n")], name: "the terminal")
        guard line.first != UInt8(ascii: "\n"), !line.isEmpty else { return nil }
        return try PasswordSource.firstLine(line, of: "the terminal")
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
