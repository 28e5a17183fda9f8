// SPDX-License-Identifier: Apache-2.0

internal import CLibEdit
internal import Glibc
internal import JabberControl
internal import SocketIO

/// Edits lines on the terminal of this process with libedit.
///
/// libedit asks for each character by a function of ours, which waits for the keyboard and for lines to be shown at
/// once: only the thread of ``run(_:)`` ever writes to the terminal.
final class LineEditor: LineEditing {
    private struct State: Sendable {
        var lines: [String] = []
        var isStale = false
        var isResized = false
        var isContinued = false
        var isOver = false
    }

    private let library: EditLibrary
    private let isDumb: Bool
    private let columns: @Sendable () -> Int
    private let state = Locked(State())
    /// Two ends of a socket: a byte in it wakes ``run(_:)``.
    private let bell: (reading: Int32, writing: Int32)

    /// - Parameters:
    ///   - terminalType: `TERM`.
    ///   - columns: How wide the terminal is now.
    /// - Throws: `ControlError` when libedit is not there, or no descriptor is free.
    init(terminalType: String?, columns: @escaping @Sendable () -> Int) throws(ControlError) {
        guard let library = EditLibrary.loaded else { throw EditLibrary.missing }
        self.library = library
        isDumb = ["", "dumb"].contains(terminalType ?? "")
        self.columns = columns
        var ends: [Int32] = [-1, -1]
        let kind = [SOCK_STREAM, SOCK_CLOEXEC, SOCK_NONBLOCK].reduce(0) { $0 | Int32($1.rawValue) }
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
            throw ControlError(.inputOutput, "no descriptor is free")
        }
        bell = (ends[0], ends[1])
    }

    deinit {
        close(bell.reading)
        close(bell.writing)
    }

    func show(_ lines: [String]) {
        state.withLock { state in
            state.lines += lines
            state.isStale = true
        }
        ring()
    }

    func end() {
        state.withLock { $0.isOver = true }
        ring()
    }

    /// The terminal has another size now.
    func wasResized() {
        state.withLock { ($0.isResized, $0.isStale) = (true, true) }
        ring()
    }

    /// The process was stopped, and goes on: the shell has set the terminal's mode meanwhile.
    func wasContinued() {
        state.withLock { ($0.isContinued, $0.isStale) = (true, true) }
        ring()
    }

    private func ring() {
        // One that is full wakes it as well.
        var byte: UInt8 = 0
        _ = write(bell.writing, &byte, 1)
    }

    func run(_ work: LineWork) throws(ControlError) {
        Self.useUnicode()
        let files = try Self.files()
        defer { for file in files { fclose(file) } }
        guard let editor = library.make("jabberctl", files[0], files[1], files[2]) else {
            throw ControlError(.inputOutput, "the terminal cannot be used for editing lines")
        }
        let history = library.makeHistory()
        let session = Session(self, work, editor)
        defer {
            library.end(editor)
            if let history { library.endHistory(history) }
            session.freePrompt()
        }
        _ = shim_el_set_emacs(library.set, editor)
        _ = shim_el_set_owner(library.set, editor, Unmanaged.passUnretained(session).toOpaque())
        _ = shim_el_set_reader(library.set, editor) { editor, character in
            guard let editor, let character else { return -1 }
            return Session.of(editor)?.read(into: character) ?? -1
        }
        _ = shim_el_set_prompt(library.set, editor) { editor in
            editor.flatMap { Session.of($0) }?.promptBytes()
        }
        _ = shim_el_bind(library.set, editor, "\t", "jabberctl-complete") { editor, _ in
            editor.flatMap { Session.of($0) }?.complete() ?? UInt8(CC_ERROR)
        }
        if let history {
            _ = shim_history_resize(library.history, history, Self.maximumHistory)
            _ = shim_el_set_history(library.set, editor, library.history, history)
        }
        // The user's own keys (editrc(5)).
        _ = library.readSettings(editor, nil)
        withExtendedLifetime(session) {
            readLines(session, history, work)
        }
    }

    /// How many lines can be called back; 500.
    private static let maximumHistory: Int32 = 500

    private func readLines(_ session: Session, _ history: OpaquePointer?, _ work: LineWork) {
        while !state.withLock({ $0.isOver }) {
            var count: Int32 = 0
            guard let bytes = library.gets(session.editor, &count), count > 0 else { break }
            let line = String(cString: bytes).trimmingNewline
            session.removeEntered(line)
            let isBlank = line.allSatisfy(\.isWhitespace)
            if !isBlank, let history { _ = shim_history_enter(library.history, history, line) }
            guard work.entered(line) else { break }
        }
        session.leave()
    }

    /// libedit reads and writes characters of the locale's.
    private static func useUnicode() {
        setlocale(LC_CTYPE, "")
        if String(cString: nl_langinfo(Int32(CODESET))) != "UTF-8" { setlocale(LC_CTYPE, "C.UTF-8") }
    }

    private static func files() throws(ControlError) -> [EditLibrary.File] {
        var files: [EditLibrary.File] = []
        for (descriptor, mode) in [(Int32(0), "r"), (1, "w"), (2, "w")] {
            let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
            guard copy >= 0, let file = fdopen(copy, mode) else {
                if copy >= 0 { close(copy) }
                for file in files { fclose(file) }
                throw ControlError(.inputOutput, "the terminal cannot be opened once more")
            }
            files.append(file)
        }
        return files
    }
}

extension LineEditor {
    /// One run of the editor. Used from its thread alone.
    private final class Session {
        let editor: EditLibrary.Editor
        private let owner: LineEditor
        private let work: LineWork
        private var library: EditLibrary { owner.library }
        /// The prompt as the terminal shows it, and its bytes for libedit.
        private var prompt = ""
        private var bytes: UnsafeMutablePointer<CChar>?
        /// What was typed and not asked for yet.
        private var typed: [UInt8] = []
        private var isAtEnd = false
        private var lastLine = ""

        init(_ owner: LineEditor, _ work: LineWork, _ editor: EditLibrary.Editor) {
            self.owner = owner
            self.work = work
            self.editor = editor
        }

        static func of(_ editor: EditLibrary.Editor) -> Session? {
            guard let library = EditLibrary.loaded, let owner = shim_el_get_owner(library.get, editor) else {
                return nil
            }
            return Unmanaged<Session>.fromOpaque(owner).takeUnretainedValue()
        }

        // MARK: The prompt

        func promptBytes() -> UnsafeMutablePointer<CChar>? {
            prompt = work.prompt()
            freePrompt()
            bytes = strdup(Self.marked(prompt))
            return bytes
        }

        func freePrompt() {
            free(bytes)
            bytes = nil
        }

        /// A prompt whose colours libedit knows to take no columns: each stands between two marks.
        private static func marked(_ prompt: String) -> String {
            var marked = ""
            var isEscape = false
            for scalar in prompt.unicodeScalars {
                if scalar == "\u{1B}" {
                    marked += "\u{1}"
                    isEscape = true
                }
                marked.unicodeScalars.append(scalar)
                if isEscape, scalar == "m" {
                    marked += "\u{1}"
                    isEscape = false
                }
            }
            return marked
        }

        /// How many columns a prompt takes.
        private static func width(of prompt: String) -> Int {
            var text = ""
            var isEscape = false
            for scalar in prompt.unicodeScalars {
                if scalar == "\u{1B}" { isEscape = true }
                if !isEscape { text.unicodeScalars.append(scalar) }
                if isEscape, scalar == "m" { isEscape = false }
            }
            return TerminalText.width(of: text)
        }

        // MARK: Characters

        /// The next character that was typed; shows what comes meanwhile.
        ///
        /// - Returns: 1, or 0 when there are no more.
        func read(into character: UnsafeMutablePointer<wchar_t>) -> Int32 {
            let line = text().whole
            if line != lastLine {
                lastLine = line
                work.changed(line)
            }
            while true {
                if let scalar = takeScalar() {
                    character.pointee = wchar_t(bitPattern: scalar.value)
                    return 1
                }
                if isAtEnd || owner.state.withLock({ $0.isOver }) { return 0 }
                showWaiting(refreshes: true)
                let wanted = Int16(POLLIN)
                var waits = [
                    pollfd(fd: 0, events: wanted, revents: 0),
                    pollfd(fd: owner.bell.reading, events: wanted, revents: 0),
                ]
                guard poll(&waits, 2, -1) > 0 else { continue }
                if waits[1].revents != 0 {
                    var bytes = [UInt8](repeating: 0, count: 256)
                    _ = Glibc.read(owner.bell.reading, &bytes, bytes.count)
                }
                if waits[0].revents != 0 { takeInput() }
            }
        }

        private func takeInput() {
            var buffer = [UInt8](repeating: 0, count: 4_096)
            let count = Glibc.read(0, &buffer, buffer.count)
            if count > 0 {
                typed += buffer.prefix(count)
            } else if count == 0 || errno != EINTR && errno != EAGAIN {
                isAtEnd = true
            }
        }

        /// The first whole scalar of what was typed; bytes that are none become U+FFFD.
        private func takeScalar() -> Unicode.Scalar? {
            guard let first = typed.first else { return nil }
            let length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
            let following = typed.dropFirst().prefix(length - 1).prefix { $0 & 0xC0 == 0x80 }
            if following.count < length - 1, following.count == typed.count - 1, !isAtEnd { return nil }
            let bytes = typed.prefix(1 + following.count)
            typed.removeFirst(bytes.count)
            return String(decoding: bytes, as: UTF8.self).unicodeScalars.first
        }

        /// The line as it is, up to the cursor and whole.
        private func text() -> (head: String, whole: String) {
            guard let info = library.line(editor)?.pointee, let start = info.buffer, let cursor = info.cursor,
                let end = info.lastchar
            else { return ("", "") }
            func decoded(_ count: Int) -> String {
                let bytes = UnsafeRawBufferPointer(start: start, count: max(0, count))
                return String(decoding: bytes, as: UTF8.self)
            }
            return (decoded(cursor - start), decoded(end - start))
        }

        // MARK: The screen

        /// Shows the lines that wait, above the line that is written.
        func showWaiting(refreshes: Bool) {
            let state = owner.state.withLock { state in
                defer { (state.lines, state.isStale, state.isResized, state.isContinued) = ([], false, false, false) }
                return state
            }
            guard state.isStale else { return }
            if state.isContinued { _ = shim_el_prepare_terminal(library.set, editor) }
            var output = ""
            if !owner.isDumb, refreshes {
                output = erased(upTo: text().head)
            } else if refreshes, !state.lines.isEmpty {
                output = "\r\n"
            }
            output += state.lines.map { $0 + "\r\n" }.joined()
            write(output)
            if state.isResized { library.resize(editor) }
            if refreshes, !owner.isDumb || !state.lines.isEmpty { _ = shim_el_refresh(library.set, editor) }
        }

        /// Takes the line away that was entered: it is shown as others see it.
        func removeEntered(_ line: String) {
            lastLine = ""
            guard !owner.isDumb else { return }
            let rows = (Self.width(of: prompt) + TerminalText.width(of: line)) / max(1, owner.columns()) + 1
            write("\r\u{1B}[\(rows)A\u{1B}[J")
        }

        /// Leaves the terminal at the beginning of a line: an empty prompt is taken away, what was being written stays.
        func leave() {
            let isEmpty = text().whole.isEmpty
            write(isEmpty && !owner.isDumb ? erased(upTo: "") : "\r\n")
            showWaiting(refreshes: false)
        }

        /// What goes back to the beginning of the prompt from behind a text, and clears everything from there.
        private func erased(upTo text: String) -> String {
            let rows = (Self.width(of: prompt) + TerminalText.width(of: text)) / max(1, owner.columns())
            return "\r" + (rows > 0 ? "\u{1B}[\(rows)A" : "") + "\u{1B}[J"
        }

        private func write(_ text: String) {
            guard !text.isEmpty else { return }
            try? FileDescriptor(1).writeAll(Array(text.utf8), name: "the terminal")
        }

        // MARK: Completion

        func complete() -> UInt8 {
            let head = text().head
            let completion = work.complete(head)
            guard !completion.candidates.isEmpty else { return UInt8(CC_ERROR) }
            let word = String(String.UnicodeScalarView(head.unicodeScalars.suffix(completion.length)))
            let common = completion.common
            if completion.candidates.count == 1 || common.unicodeScalars.count > word.unicodeScalars.count {
                library.delete(editor, Int32(clamping: completion.length))
                _ = library.insert(editor, common)
                return UInt8(CC_REFRESH)
            }
            owner.show([completion.candidates.joined(separator: "  ")])
            return UInt8(CC_NORM)
        }
    }
}

extension String {
    /// The text without line ends behind it.
    fileprivate var trimmingNewline: String {
        var text = self
        while text.last?.isNewline == true { text.removeLast() }
        return text
    }
}
