// SPDX-License-Identifier: Apache-2.0

import JabberCLI
import JabberControl
import SocketIO
import XMPPTestSupport

/// A daemon of a test: answers each method as it is told and keeps what it was asked.
final class FakeDaemon: ControlService {
    typealias Method = @Sendable (ControlRequest, ControlSession) async throws(ControlError) -> JSONValue

    private let methods: [String: Method]
    private let seen = Locked<[ControlRequest]>([])
    private let greeting: ControlGreeting
    /// Whether the commands that have ended had run out of time.
    let farewells = Locked<[Bool]>([])

    init(_ methods: [String: Method] = [:], greeting: ControlGreeting = ControlGreeting(instance: "test")) {
        self.methods = methods
        self.greeting = greeting
    }

    /// A daemon with one method that always gives the same.
    convenience init(_ method: String, _ result: JSONValue) {
        self.init([method: { (_, _) throws(ControlError) in result }])
    }

    /// A daemon with one method that fails.
    convenience init(_ method: String, failing error: ControlError) {
        self.init([method: { (_, _) throws(ControlError) in throw error }])
    }

    /// A daemon with one method that sends events and then waits to be cancelled.
    convenience init(_ method: String, events: [JSONValue]) {
        self.init([
            method: { (request, session) async throws(ControlError) in
                for event in events { session.notify(event, of: request.id) }
                for await _ in AsyncStream<Void>(unfolding: { await Self.forever() }) {}
                throw ControlError(.cancelled, "cancelled")
            }
        ])
    }

    private static func forever() async -> Void? {
        for await _ in AsyncStream<Void>.makeStream().stream {}
        return nil
    }

    /// What was asked, in order.
    var requests: [ControlRequest] {
        seen.withLock { $0 }
    }

    func respond(to request: ControlRequest, in session: ControlSession) async throws(ControlError) -> JSONValue {
        seen.withLock { $0.append(request) }
        if let method = methods[request.method] { return try await method(request, session) }
        throw ControlError(.unknownMethod, "no method \(request.method)")
    }

    /// Lets a command ask this daemon on its own thread.
    func ask(
        _ method: String, _ params: JSONObject, _ seconds: Double, _ lateness: ControlError
    ) throws(ControlError) -> JSONValue? {
        var attempt: DirectCaller?
        // On a busy machine a greeting may take longer than a command waits for it.
        for _ in 0..<100 where attempt == nil { attempt = try greetedCaller() }
        guard var caller = attempt else { return nil }
        return try DaemonSession.ask(&caller, method, params, seconds: seconds, or: lateness)
    }

    private func greetedCaller() throws(ControlError) -> DirectCaller? {
        do {
            let pair = try SocketPair()
            let far = try SocketTransport(pair.second, on: StreamExecutor(label: "far"))
            let session = ControlSession(over: far, greeting: greeting, service: self)
            Task { await session.run() }
            return DirectCaller.greeted(over: pair.first)
        } catch {
            throw ControlError(.internalError, "\(error)")
        }
    }

    /// Connects a command to this daemon.
    func connect(isPrivate: Bool) throws(ControlError) -> DaemonConnection {
        do {
            let (near, far) = try SocketPair.transports(
                on: StreamExecutor(label: "near"), and: StreamExecutor(label: "far"))
            let session = ControlSession(over: far, greeting: greeting, service: self)
            let server = Task { await session.run() }
            let client = ControlCaller(over: near)
            return DaemonConnection(
                client: client, transport: near, isPrivate: isPrivate,
                finish: { [farewells] isLate in
                    farewells.withLock { $0.append(isLate) }
                    await client.close()
                    await server.value
                })
        } catch {
            throw ControlError(.internalError, "\(error)")
        }
    }
}

/// A command line run in this process, with what it wrote.
struct CommandRun {
    var code: Int32
    var output: String
    var errors: String
    var asked: [ControlRequest]
    var choice: DaemonChoice?

    /// The lines of standard output.
    var lines: [String] {
        output.split(separator: "\n").map(String.init)
    }
}

/// What a test may set besides the words.
struct Surroundings {
    var input: [String] = []
    var isTerminal = false
    var width = 80
    var rows: Int?
    var variables: [String: String] = [:]
    var home = "/nonexistent"
    var passwords: [String] = []
    /// What is typed where it can be seen; an empty line is nothing.
    var typed: [String] = []
    var descriptors: [Int32: String] = [:]
    var breaksPipe = false
    /// Whether a daemon that runs can be asked on the command's own thread.
    var asksDirectly = false
    /// Whether the reader of the output goes when it is first looked for.
    var readerLeaves = false
    /// What a command of the shell does.
    var shell: @Sendable (_ command: String, _ input: [UInt8], _ variables: [String: String]) -> Int32 = { _, _, _ in 0
    }
    /// What the user's editor does.
    var editor: @Sendable (_ words: [String]) -> Int32 = { _ in 127 }
    /// Stands still unless a test says otherwise: a busy machine is no reason for a time-out.
    var clock: any StreamClock = TestClock()
}

/// Runs `jabberctl` with these words against a daemon.
func jabberctl(
    _ words: String..., daemon: FakeDaemon = FakeDaemon(), in surroundings: Surroundings = Surroundings()
) async -> CommandRun {
    await jabberctl(words, daemon: daemon, in: surroundings)
}

/// Runs `jabberctl` with these words against a daemon.
func jabberctl(
    _ words: [String], daemon: FakeDaemon = FakeDaemon(), in surroundings: Surroundings = Surroundings()
) async -> CommandRun {
    let output = Locked<[UInt8]>([])
    let errors = Locked<[UInt8]>([])
    let choice = Locked<DaemonChoice?>(nil)
    let input = Locked(surroundings.input)
    let passwords = Locked(surroundings.passwords)
    let typed = Locked(surroundings.typed)
    var paths = RuntimePaths(environment: ["HOME": surroundings.home])
    paths.system = surroundings.home + "/etc"
    var environment = CLIEnvironment(
        arguments: words, variables: surroundings.variables, paths: paths,
        write: { (bytes) throws(ControlError) in
            if surroundings.breaksPipe { throw ControlError(.inputOutput, "standard output is closed") }
            output.withLock { $0 += bytes }
        },
        writeError: { bytes in errors.withLock { $0 += bytes } },
        connect: { (wanted) throws(ControlError) in
            choice.withLock { $0 = wanted }
            return try daemon.connect(isPrivate: wanted.isPrivate)
        })
    environment.isOutputTerminal = surroundings.isTerminal
    environment.clock = surroundings.clock
    environment.width = surroundings.width
    environment.screen = { surroundings.rows.map { (surroundings.width, $0) } }
    environment.currentFolder = surroundings.home
    environment.readInput = { () throws(ControlError) in
        input.withLock { $0.isEmpty ? nil : Array($0.removeFirst().utf8) }
    }
    environment.askPassword = { (prompt) throws(ControlError) in
        errors.withLock { $0 += Array(prompt.utf8) }
        return passwords.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    }
    environment.ask = { (prompt) throws(ControlError) in
        errors.withLock { $0 += Array(prompt.utf8) }
        return typed.withLock { $0.isEmpty ? nil : $0.removeFirst() }.flatMap { $0.isEmpty ? nil : $0 }
    }
    environment.readDescriptor = { (number) throws(ControlError) in
        guard let text = surroundings.descriptors[number] else { throw ControlError(.inputOutput, "not open") }
        return Array(text.utf8)
    }
    environment.runCommand = surroundings.shell
    environment.runEditor = surroundings.editor
    if surroundings.readerLeaves { environment.watchReader = { gone in gone() } }
    if surroundings.asksDirectly {
        environment.askRunning = { (_, method, params, seconds, lateness) throws(ControlError) in
            try daemon.ask(method, params, seconds, lateness)
        }
    }
    let code = await code(of: environment)
    return CommandRun(
        code: code.rawValue, output: String(decoding: output.withLock { $0 }, as: UTF8.self),
        errors: String(decoding: errors.withLock { $0 }, as: UTF8.self), asked: daemon.requests,
        choice: choice.withLock { $0 })
}

/// Runs a command as the program does; what blocks a thread has one of its own.
private func code(of environment: CLIEnvironment) async -> ExitCode {
    switch CommandRunner.begin(environment) {
    case .ended(let code): return code
    case .waits(let command):
        let (pending, code) = await BlockingWork.run { () -> (PendingCommand, ExitCode?) in
            var command = command
            let code = command.askRunning()
            return (command, code)
        }
        if let code { return code }
        return await pending.run()
    }
}
