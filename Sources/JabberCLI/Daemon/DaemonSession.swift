// SPDX-License-Identifier: Apache-2.0

package import JabberControl
internal import SocketIO

/// A command's dealings with the daemon: the greeting, the password, the time limit.
package struct DaemonSession: Sendable {
    /// How long a daemon may take to greet.
    private static let greetingSeconds = 10

    let context: CommandContext
    /// Whether the daemon runs for this command alone.
    let isPrivate: Bool
    private let client: ControlCaller
    private let deadline: Deadline?

    /// Connects, runs `body`, and leaves the daemon in good order whatever happens.
    ///
    /// - Parameters:
    ///   - context: The command.
    ///   - limit: How long the whole may take in seconds; `nil` for no limit.
    ///   - body: What to do.
    static func run<Result: Sendable>(
        _ context: CommandContext, limit: Double?, _ body: (DaemonSession) async throws(ControlError) -> Result
    ) async throws(ControlError) -> Result {
        let clock = context.environment.clock
        let end = limit.map { clock.now + .seconds($0) }
        var refusal: ControlError?
        for attempt in 1... {
            do throws(ControlError) {
                return try await attemptRun(context, limit: limit, body)
            } catch {
                if let refusal, error.code == .timedOut { throw late(error, refusal) }
                // Many commands at a time are more than a daemon takes: this one's turn comes. Nothing was asked yet.
                guard isPassing(error), attempt < maximumAttempts else { throw error }
                if let limit, let end, clock.now >= end { throw late(Deadline.error(limit), error) }
                refusal = error
            }
            await clock.pause(for: .milliseconds(Int.random(in: busyPause)), on: pauses)
        }
        throw ControlError(.busy, "the daemon has too many clients")
    }

    /// Whether the daemon cannot serve this command just now.
    private static func isPassing(_ error: ControlError) -> Bool { [.busy, .daemonEnding].contains(error.code) }

    private static func late(_ error: ControlError, _ refusal: ControlError) -> ControlError {
        ControlError(.timedOut, "\(error.message): \(refusal.message)")
    }

    /// How often a daemon is asked that has too many clients.
    private static let maximumAttempts = 200
    /// How long one is left alone that has too many clients, in milliseconds; by chance, so that commands do not come
    /// at once.
    private static let busyPause = 10...100
    private static let pauses = StreamExecutor(label: "jabberctl.pause")

    private static func attemptRun<Result: Sendable>(
        _ context: CommandContext, limit: Double?, _ body: (DaemonSession) async throws(ControlError) -> Result
    ) async throws(ControlError) -> Result {
        let connection = try await context.environment.connect(context.options.daemon)
        let client = connection.client
        context.environment.watch(connection)
        // One that was asked for holds for the whole command, and runs since its start.
        let deadline = context.deadline ?? limit.map { Deadline(seconds: $0, context.environment) }
        deadline?.add(client)
        let session = DaemonSession(
            context: context, isPrivate: connection.isPrivate, client: client, deadline: deadline)
        let outcome: Swift.Result<Result, ControlError>
        var isLate = false
        do throws(ControlError) {
            try await session.greet(connection)
            outcome = .success(try await body(session))
        } catch {
            isLate = error.code == .timedOut
            outcome = .failure(explained(error, isPrivate: connection.isPrivate))
        }
        // A daemon answers a little before time is up; whatever it says then, there is none left for long farewells.
        if deadline?.isNear == true { isLate = true }
        // One that was asked for runs on until the next attempt: that may be the one that hangs.
        let isTriedAgain = if case .failure(let error) = outcome { isPassing(error) } else { false }
        if !isTriedAgain || context.deadline == nil { deadline?.cancel() }
        await connection.finish(isLate)
        context.environment.watch(nil)
        return try outcome.get()
    }

    /// An end without a word of a daemon that others use: it was killed, and can be started again.
    private static func explained(_ error: ControlError, isPrivate: Bool) -> ControlError {
        guard error.code == .daemonEnded else { return error }
        // A private one is ours alone: nobody but itself ends it so.
        guard !isPrivate else { return ControlError(.internalError, error.message) }
        return ControlError(.daemonEnded, "\(error.message); start it again with: jabberctl daemon start")
    }

    /// Asks a daemon that others use, on the thread that is there.
    ///
    /// - Returns: The answer; `nil` when it takes a password or patience: then nothing was done.
    /// - Throws: `ControlError` as a session throws it.
    package static func ask(
        _ caller: inout DirectCaller, _ method: String, _ params: JSONObject, seconds: Double,
        or lateness: ControlError
    ) throws(ControlError) -> JSONValue? {
        try caller.greeting.check(for: "this jabberctl")
        do throws(ControlError) {
            return try caller.call(method, params, within: .seconds(seconds), or: lateness)
        } catch {
            if error.code == .passwordNeeded || isPassing(error) { return nil }
            throw explained(error, isPrivate: false)
        }
    }

    private func greet(_ connection: DaemonConnection) async throws(ControlError) {
        let greeting: ControlGreeting
        do throws(ControlError) {
            greeting = try await promptGreeting()
        } catch {
            let remedy = error.code == .timedOut ? connection.remedy() : ""
            throw remedy.isEmpty ? error : ControlError(.timedOut, "\(error.message): \(remedy)")
        }
        context.output.verbose(
            "\(isPrivate ? "private" : "running") daemon \(greeting.product) \(greeting.version), \(greeting.instance)")
        try greeting.check(for: "this jabberctl")
        // One that is to be set or stored is not the one to log in with.
        let isNew = context.line.command?.takesNewPassword == true
        let password = try isNew ? nil : context.options.passwordDescriptor.map(context.firstLine(of:))
        let token = try context.options.tokenDescriptor.map(context.firstLine(of:))
        if password != nil || token != nil { try await hand(over: password, token: token) }
    }

    /// The greeting of a daemon that works comes at once; a program that hangs, or is none, must not keep `listen` for
    /// ever.
    private func promptGreeting() async throws(ControlError) -> ControlGreeting {
        let text = "the daemon did not greet within \(Self.greetingSeconds) s"
        let patience = Deadline(
            seconds: Double(Self.greetingSeconds), context.environment, ControlError(.timedOut, text))
        patience.add(client)
        defer { patience.cancel() }
        return try await client.hello()
    }

    /// Calls a method for the chosen session. Asks for the password and tries once more when the daemon has none.
    func call(
        _ method: String, _ params: JSONObject, onEvent: (@Sendable (JSONValue) -> Bool)? = nil
    ) async throws(ControlError) -> JSONValue {
        let params = context.complete(params, withTimeout: onEvent == nil)
        if onEvent != nil, !context.options.isQuiet {
            let client = client
            // Or else the next event, which may be days away, would be the first to notice.
            context.environment.watchReader {
                Task { await client.fail(ControlError(.inputOutput, StandardStreams.brokenPipe)) }
            }
        }
        do throws(ControlError) {
            return try await client.call(method, params, onEvent: onEvent)
        } catch {
            guard error.code == .passwordNeeded else { throw error }
            try await hand(over: try password(for: error))
        }
        return try await client.call(method, params, onEvent: onEvent)
    }

    /// Ends every call, with an error.
    func end(_ error: ControlError) async {
        await client.fail(error)
    }

    private func password(for error: ControlError) throws(ControlError) -> String {
        let environment = context.environment
        if let password = environment.variables["JABBERCTL_PASSWORD"], !password.isEmpty {
            context.output.note("warning: JABBERCTL_PASSWORD can be seen by other programs; prefer passwordCommand")
            return password
        }
        guard context.options.mayAsk else { throw error }
        let account = TerminalText.line(error.account ?? context.options.session.jid ?? "the account")
        let given = try unhurried { () throws(ControlError) in
            try environment.askPassword("Password for \(account): ")
        }
        guard let given, !given.isEmpty else { throw error }
        return given
    }

    /// Waits for a person. A limit that was asked for holds for the whole command; the usual one does not hurry who
    /// types.
    func unhurried<Answer>(_ body: () throws(ControlError) -> Answer) throws(ControlError) -> Answer {
        let isPatient = context.options.timeout == nil
        if isPatient { deadline?.cancel() }
        defer { if isPatient { deadline?.restart() } }
        return try body()
    }

    private func hand(over password: String?, token: String? = nil) async throws(ControlError) {
        var params = context.complete([:], withTimeout: false)
        params["password"] = password.map(JSONValue.string)
        params["token"] = token.map(JSONValue.string)
        _ = try await client.call(MethodTable.passwordMethod, params)
    }
}
