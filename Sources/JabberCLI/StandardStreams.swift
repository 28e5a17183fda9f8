// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import JabberControl
internal import SocketIO

/// The process's own streams, variables and time zone as a ``CLIEnvironment``.
enum StandardStreams {
    /// The message of the error when the reader of standard output has gone.
    static let brokenPipe = "standard output is closed"

    /// The environment of this process.
    static func environment(_ terminal: Terminal) -> CLIEnvironment {
        let variables = variables()
        let paths = RuntimePaths(environment: variables)
        let launcher = Launcher(paths: paths, variables: variables)
        var environment = CLIEnvironment(
            arguments: Array(Swift.CommandLine.arguments.dropFirst()), variables: variables, paths: paths,
            write: { (bytes) throws(ControlError) in try write(bytes, terminal) },
            writeError: { bytes in try? terminal.writeAll(bytes, to: 2, name: "standard error") },
            connect: { (choice) async throws(ControlError) in try await launcher.connect(choice) })
        environment.askRunning = { (choice, method, params, seconds, lateness) throws(ControlError) in
            try launcher.askRunning(choice, method, params, seconds: seconds, or: lateness)
        }
        environment.isInputTerminal = isatty(0) == 1
        environment.isOutputTerminal = isatty(1) == 1
        environment.isErrorTerminal = isatty(2) == 1
        if environment.isOutputTerminal {
            environment.width = size().columns
            environment.screen = { size() }
        }
        environment.currentFolder = currentFolder()
        environment.readInput = { () throws(ControlError) in
            try terminal.waitForInput(0)
            return try FileDescriptor(0).readSome(name: "standard input")
        }
        environment.readDescriptor = { (number) throws(ControlError) in
            try requireReadable(number)
            return try terminal.readAll(number, limit: PasswordSource.maximumBytes, name: "descriptor \(number)")
        }
        environment.askPassword = { (prompt) throws(ControlError) in try terminal.ask(prompt, hides: true) }
        environment.ask = { (prompt) throws(ControlError) in try terminal.ask(prompt, hides: false) }
        environment.runDaemon = { (words) throws(ControlError) in try launcher.run(words) }
        environment.startDaemon = { (words, socket, seconds) throws(ControlError) in
            try launcher.start(words, socket: SocketPlace(socket), seconds: seconds)
        }
        environment.runCommand = { runCommand($0, input: $1, variables.merging($2) { _, new in new }, terminal) }
        environment.runEditor = { words in
            (try? ChildProcess(words, environment: variables, descriptors: [(0, 0), (1, 1), (2, 2)]))?.wait() ?? 127
        }
        environment.isDaemonAlive = { SocketPlace($0).isTaken(by: $1) }
        environment.makeRoom = { () throws(ControlError) in try OpenFiles.makeRoom() }
        environment.localTime = { LocalTime.text($0) }
        environment.makeLineEditor = { () throws(ControlError) in
            try terminal.makeLineEditor(type: variables["TERM"]) { size().columns }
        }
        environment.watch = { terminal.watch($0) }
        environment.stopWaiting = { terminal.stopWaiting($0) }
        environment.watchReader = { terminal.watchReader(of: 1, $0) }
        environment.strangeArgument = strangeArgument()
        return environment
    }

    /// Runs a command of the shell to its end. One that cannot be started is one that the shell does not find.
    private static func runCommand(
        _ command: String, input: [UInt8], _ variables: [String: String], _ terminal: Terminal
    ) -> Int32 {
        guard let (child, writing) = spawn(command, variables) else { return 127 }
        terminal.adopt(child)
        // One that does not read it all ends the writing, and nothing else.
        try? FileDescriptor(writing).writeAll(input, name: "an event")
        close(writing)
        child.waitForEnd()
        terminal.release(child)
        return child.wait()
    }

    /// One command at a time is started: another would inherit the pipe, and keep the end of the input from its
    /// command.
    private static let spawning = Locked(())

    private static func spawn(_ command: String, _ variables: [String: String]) -> (ChildProcess, writing: Int32)? {
        spawning.withLock { _ in
            var ends: (Int32, Int32) = (-1, -1)
            let isOpen = withUnsafeMutableBytes(of: &ends) { bytes in
                bytes.bindMemory(to: Int32.self).baseAddress.map { pipe($0) == 0 } ?? false
            }
            guard isOpen else { return nil }
            defer { close(ends.0) }
            var environment = variables
            environment["JABBERCTL_PASSWORD"] = nil
            let child = try? ChildProcess(
                ["/bin/sh", "-c", command], environment: environment, descriptors: [(ends.0, 0), (1, 1), (2, 2)],
                ownGroup: true)
            guard let child else {
                close(ends.1)
                return nil
            }
            return (child, ends.1)
        }
    }

    /// A descriptor that can only be written to never has anything to read: poll(2) would wait for it without end.
    private static func requireReadable(_ number: Int32) throws(ControlError) {
        let flags = fcntl(number, F_GETFL)
        guard flags >= 0, flags & O_ACCMODE == O_WRONLY else { return }
        throw ControlError(
            .usage, "descriptor \(number) is open for writing only: --password-fd needs one to read, as in 5<FILE")
    }

    /// Swift gives arguments that are no UTF-8 as repaired text, which is not what was typed.
    private static func strangeArgument() -> Int? {
        let words = Swift.CommandLine.unsafeArgv
        return (1..<max(1, Int(Swift.CommandLine.argc))).first { index in
            words[index].map { String(validatingCString: $0) == nil } ?? false
        }.map { $0 - 1 }
    }

    private static func write(_ bytes: [UInt8], _ terminal: Terminal) throws(ControlError) {
        do throws(ControlError) {
            try terminal.writeAll(bytes, to: 1, name: "standard output")
        } catch {
            // SIGPIPE is ignored: the next write to a pipe that nobody reads fails with EPIPE.
            throw errno == EPIPE ? ControlError(.inputOutput, brokenPipe) : error
        }
    }

    private static func variables() -> [String: String] {
        var variables: [String: String] = [:]
        var entry = environ
        while let text = entry.pointee {
            if let sign = strchr(text, Int32(UInt8(ascii: "="))) {
                let name = UnsafeRawBufferPointer(start: text, count: sign - text)
                variables[String(decoding: name, as: UTF8.self)] = String(cString: sign + 1)
            }
            entry += 1
        }
        return variables
    }

    private static func size() -> (columns: Int, rows: Int) {
        var size = winsize()
        guard ioctl(1, UInt(TIOCGWINSZ), &size) == 0, size.ws_col >= 20 else { return (80, 24) }
        return (Int(size.ws_col), size.ws_row > 1 ? Int(size.ws_row) : 24)
    }

    private static func currentFolder() -> String {
        guard let path = getcwd(nil, 0) else { return "/" }
        defer { free(path) }
        return String(cString: path)
    }
}

/// Times as a person at this place reads them.
enum LocalTime {
    /// An RFC 3339 time in UTC as local time: the time of day for today, with the date for other days.
    static func text(_ time: String, now: Int = Glibc.time(nil)) -> String {
        guard let seconds = seconds(time) else { return time }
        guard let then = local(seconds), let today = local(now) else { return time }
        let clock = "\(two(then.tm_hour)):\(two(then.tm_min))"
        if then.tm_year == today.tm_year && then.tm_yday == today.tm_yday { return clock }
        return "\(1900 + Int(then.tm_year))-\(two(then.tm_mon + 1))-\(two(then.tm_mday)) \(clock)"
    }

    /// Seconds since 1970 of `2026-01-02T03:04:05.678Z`; `nil` for anything else.
    static func seconds(_ time: String) -> Int? {
        let bytes = Array(time.utf8)
        guard bytes.count >= 20, bytes.last == UInt8(ascii: "Z"), bytes[10] == UInt8(ascii: "T") else { return nil }
        func number(_ range: Range<Int>) -> Int32? {
            Int32(String(decoding: bytes[range], as: UTF8.self))
        }
        guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
            let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19),
            (1...12).contains(month), (1...31).contains(day), (0...23).contains(hour), (0...59).contains(minute)
        else { return nil }
        var parts = tm()
        parts.tm_year = year - 1900
        parts.tm_mon = month - 1
        parts.tm_mday = day
        parts.tm_hour = hour
        parts.tm_min = minute
        parts.tm_sec = second
        return timegm(&parts)
    }

    private static func local(_ seconds: Int) -> tm? {
        var seconds = seconds
        var parts = tm()
        return localtime_r(&seconds, &parts) == nil ? nil : parts
    }

    private static func two(_ number: Int32) -> String {
        number < 10 ? "0\(number)" : String(number)
    }
}
