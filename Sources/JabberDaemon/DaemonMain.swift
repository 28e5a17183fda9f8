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
        usage: jabberctld --private [--verbose]...

        The daemon of jabberctl. With --private it serves one control connection on
        descriptor 3 and ends with it; jabberctl starts it so by itself.

          --verbose   say on standard error what the streams do; twice: every stanza
          --version   show the version
          --help      show this help

        """

    /// Runs the program.
    ///
    /// - Parameter arguments: The words behind the program's name.
    package static func run(_ arguments: [String]) -> Never {
        FileDescriptor.occupyStandard()
        Hardening.apply()
        var isPrivate = false
        var verbosity = 0
        for argument in arguments {
            switch argument {
            case "--private": isPrivate = true
            case "--verbose", "-v": verbosity += 1
            case "--help", "-h": end(.done, help, to: STDOUT_FILENO)
            case "--version": end(.done, "jabberctld \(ProductVersion.current)\n", to: STDOUT_FILENO)
            default: end(.usage, "jabberctld: unknown argument \(TerminalText.line(argument))\n" + help)
            }
        }
        guard isPrivate else { end(.usage, "jabberctld: nothing to do without --private\n" + help) }
        serve(verbosity)
    }

    private static func serve(_ verbosity: Int) -> Never {
        var environment = DaemonEnvironment(variables: variables())
        if verbosity > 0 {
            environment.log = { Log.write($0) }
            environment.logLevel = verbosity > 1 ? .wire : .step
        }
        let daemon = PrivateDaemon(environment: environment)
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
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
        source.setEventHandler {
            signal(number, SIG_DFL)
            Task {
                await Race.attempt(within: closingTime) { await daemon.stop() }
                exit(128 + number)
            }
        }
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
            if let sign = text.firstIndex(of: "=") {
                variables[String(text[..<sign])] = String(text[text.index(after: sign)...])
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
