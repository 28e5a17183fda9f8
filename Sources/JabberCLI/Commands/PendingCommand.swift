// SPDX-License-Identifier: Apache-2.0

package import JabberControl

/// What became of a command line before any daemon was asked.
package enum CommandStart: Sendable {
    /// It needed none.
    case ended(ExitCode)
    /// It wants one.
    case waits(PendingCommand)
}

/// What a command asks a daemon, once, and how the answer is told.
struct Question: Sendable {
    /// The method.
    let method: String
    /// Its parameters, without those of every request.
    let params: JSONObject
    /// Shows the result, and gives the exit code; told whether the daemon was there for this command alone.
    let tell: @Sendable (_ result: JSONObject, _ isPrivate: Bool) throws(ControlError) -> ExitCode

    init(
        _ method: String, _ params: JSONObject,
        _ tell: @escaping @Sendable (JSONObject, Bool) throws(ControlError) -> ExitCode
    ) {
        self.method = method
        self.params = params
        self.tell = tell
    }
}

/// A command that wants a daemon.
///
/// Most commands are one question. A daemon that runs is asked it on the thread that is there, since more of them take
/// longer to begin than it takes to answer; everything else takes the time that it takes.
package struct PendingCommand: Sendable {
    private let context: CommandContext
    private let command: CommandSpec
    /// What is asked, once that is known: standard input can be read only once.
    private var question: Question?

    init(_ context: CommandContext, _ command: CommandSpec) {
        self.context = context
        self.command = command
    }

    /// Asks a daemon that runs, where the command is one question and the answer comes without more ado.
    ///
    /// - Returns: The exit code; `nil` when nothing was done, so that ``run()`` has to do it.
    package mutating func askRunning() -> ExitCode? {
        do throws(ControlError) {
            question = try makeQuestion()
            guard let question else { return nil }
            if try context.showRequest(question.method, question.params) { return end(.done) }
            let options = context.options
            // A secret is handed over first, and who wants to read along reads the greeting.
            guard options.passwordDescriptor == nil, options.tokenDescriptor == nil, options.verbosity == 0,
                !options.daemon.isPrivate,
                let answer = try context.environment.askRunning(
                    options.daemon, question.method, context.complete(question.params, withTimeout: true),
                    context.deadline?.rest ?? context.limit, Deadline.error(context.limit))
            else { return nil }
            return end(try question.tell(try CommandContext.object(answer), false))
        } catch {
            return end(CommandRunner.failed(error.inWords(of: command), context.environment))
        }
    }

    /// Runs the command to its end.
    package func run() async -> ExitCode {
        do throws(ControlError) {
            guard let question else { return end(try await runOther()) }
            let (result, isPrivate) = try await DaemonSession.run(context, limit: context.limit) {
                session throws(ControlError) in
                (
                    try CommandContext.object(try await session.call(question.method, question.params)),
                    session.isPrivate
                )
            }
            return end(try question.tell(result, isPrivate))
        } catch {
            return end(CommandRunner.failed(error.inWords(of: command), context.environment))
        }
    }

    private func end(_ code: ExitCode) -> ExitCode {
        context.deadline?.cancel()
        return code
    }

    private func makeQuestion() throws(ControlError) -> Question? {
        switch command.method {
        case "online" where context.line.has("watch"), "send" where context.line.has("line"):
            return nil
        case "chat", "listen", "account.register", "account.passwd", "account.remove", "bugreport", "rpc",
            "daemon.stop", "daemon.restart":
            return nil
        case "online": return OnlineCommand.question(context, command)
        case "send": return try SendCommand.question(context, command)
        case "react", "retract": return SendCommand.questionAsIs(context, command)
        case "daemon.info" where context.line.has("openmetrics"):
            return Question("status", [:]) { [context] (result, _) throws(ControlError) in
                try context.output.write(OpenMetrics.text(result))
                return .done
            }
        default: return try SimpleCommands.question(context, command)
        }
    }

    private func runOther() async throws(ControlError) -> ExitCode {
        switch command.method {
        case "online": try await OnlineCommand.watch(context, command)
        case "send": try await SendCommand.runLines(context, command)
        case "chat": try await ChatCommand.run(context, command)
        case "listen": try await ListenCommand.run(context, command)
        case "account.register": try await RegisterCommand.run(context, command)
        case "account.passwd", "account.remove": try await ServerAccountCommands.run(context, command)
        case "bugreport": try await BugReport.run(context)
        case "rpc": try await RPCCommand.run(context)
        case "daemon.stop", "daemon.restart": try await DaemonCommands.end(context, command)
        default: throw ControlError(.internalError, "no way to run \(command.name)")
        }
    }
}
