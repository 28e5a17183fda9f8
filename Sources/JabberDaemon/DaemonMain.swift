// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Glibc
internal import JabberControl
internal import SocketIO
internal import XMPP

/// The program `jabberctld`.
package enum DaemonMain {
    /// The descriptor of the control connection of a private daemon.
    package static let controlDescriptor: Int32 = 3
    /// How long streams may take to end in good order after a signal.
    private static let closingTime: Duration = .seconds(5)

    private static let help = """
        usage: jabberctld [--socket PATH] [--config PATH] [--verbose]...
               jabberctld --private [--verbose]...

        The daemon of jabberctl. It holds the sessions of all configured accounts open
        and answers jabberctl at its control socket, at once. SIGHUP makes it read its
        settings again, SIGTERM makes it end in good order. It stays in the foreground;
        jabberctl daemon start puts it into the background.

        With --private it serves one control connection on descriptor 3 and ends with
        it; jabberctl starts it so by itself when no other runs.

          --socket PATH   serve here instead of $XDG_RUNTIME_DIR/jabberctl/control.sock
          --config PATH   use this settings file
          --verbose       say on standard error what the streams do; twice: every stanza
          --version       show the version
          --help          show this help

        """

    /// Runs the program.
    ///
    /// - Parameter arguments: The words behind the program's name.
    package static func run(_ arguments: [String]) -> Never {
        FileDescriptor.occupyStandard()
        Hardening.apply()
        do throws(ControlError) {
            try OpenFiles.makeRoom()
        } catch {
            end(error.exit, "jabberctld: \(error.message)\n")
        }
        var order = ServiceOrder(arguments: arguments)
        var isPrivate = false
        var verbosity = 0
        var words = arguments[...]
        while let argument = words.popFirst() {
            switch argument {
            case "--private": isPrivate = true
            case "--verbose", "-v": verbosity += 1
            case "--socket": order.socket = path(after: argument, &words)
            case "--config": order.settings = path(after: argument, &words)
            case "--help", "-h": end(.done, help, to: STDOUT_FILENO)
            case "--version": end(.done, "jabberctld \(ProductVersion.current)\n", to: STDOUT_FILENO)
            default: end(.usage, "jabberctld: unknown argument \(TerminalText.line(argument))\n" + help)
            }
        }
        var environment = DaemonEnvironment(variables: variables())
        if verbosity > 0 {
            environment.log = { Log.write($0) }
            environment.logLevel = verbosity > 1 ? .wire : .step
        }
        environment.notice = { Log.write(StreamLogEntry(.step, $0)) }
        if isPrivate {
            guard order.socket == nil, order.settings == nil else {
                end(.usage, "jabberctld: --private takes neither --socket nor --config\n" + help)
            }
            serve(PrivateDaemon(environment: environment))
        }
        do throws(ControlError) {
            try Service.run(order, environment: environment, variables: variables())
        } catch {
            end(error.exit, "jabberctld: \(TerminalText.line(error.message))\n")
        }
    }

    private static func path(after option: String, _ words: inout ArraySlice<String>) -> String {
        guard let path = words.popFirst(), path.hasPrefix("/") else {
            end(.usage, "jabberctld: \(option) needs an absolute path\n")
        }
        return path
    }

    private static func serve(_ daemon: PrivateDaemon) -> Never {
        let transport: SocketTransport
        do throws(SystemError) {
            guard isSocket(controlDescriptor) else { throw SystemError(ENOTSOCK, "descriptor 3") }
            let executor = StreamExecutor(label: "jabberctld.control")
            transport = try SocketTransport(Descriptor(owning: controlDescriptor), on: executor)
        } catch {
            end(.usage, "jabberctld: no control connection: \(error)\n")
        }
        let signals = [SIGINT, SIGTERM, SIGHUP].map { endUpon($0, daemon) }
        Task {
            await daemon.run(over: transport)
            exit(ExitCode.done.rawValue)
        }
        withExtendedLifetime(signals) { dispatchMain() }
    }

    /// Ends the streams in good order upon a signal, and then the process; a second signal ends it at once.
    private static func endUpon(_ number: Int32, _ daemon: PrivateDaemon) -> any DispatchSourceSignal {
        upon(number) {
            signal(number, SIG_DFL)
            Task {
                await Race.attempt(within: closingTime) { await daemon.stop() }
                exit(128 + number)
            }
        }
    }

    /// Does something upon a signal, for as long as the source lives.
    static func upon(_ number: Int32, _ action: @escaping @Sendable () -> Void) -> any DispatchSourceSignal {
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
        source.setEventHandler(handler: action)
        source.activate()
        return source
    }

    private static func isSocket(_ descriptor: Int32) -> Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
    }

    private static func variables() -> [String: String] {
        var variables: [String: String] = [:]
        var next = environ
        while let entry = next.pointee {
            let text = String(cString: entry)
            if let sign = text.unicodeScalars.firstIndex(of: "=") {
                variables[String(text[..<sign])] = String(text[text.unicodeScalars.index(after: sign)...])
            }
            next += 1
        }
        return variables
    }

    private static func end(_ code: ExitCode, _ text: String, to descriptor: Int32 = STDERR_FILENO) -> Never {
        try? FileDescriptor(descriptor).writeAll(Array(text.utf8), name: "the output")
        exit(code.rawValue)
    }
}
