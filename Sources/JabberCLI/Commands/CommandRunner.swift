// SPDX-License-Identifier: Apache-2.0

package import JabberControl

/// Runs one command line.
package enum CommandRunner {
    /// Runs a command line that needs no daemon: help, version, completion, accounts, and every wrong usage.
    ///
    /// - Returns: The exit code, or the command when it wants a daemon.
    package static func begin(_ environment: CLIEnvironment) -> CommandStart {
        do throws(ControlError) {
            if let place = environment.strangeArgument {
                let word = TerminalText.line(environment.arguments[place])
                throw ControlError(.badData, "the argument \"\(word)\" is not UTF-8 text")
            }
            let line = try CommandLine(environment.arguments, variables: environment.variables)
            if let page = helpPage(line) {
                try environment.write(Array(page.utf8))
                return .ended(.done)
            }
            guard let command = line.command else {
                throw ControlError(.usage, "a command is missing; see: jabberctl help")
            }
            guard command.place == .tool, !ServerAccountCommands.concern(command, line) else {
                try environment.makeRoom()
                return .waits(
                    PendingCommand(try CommandContext(line, environment, isWaiting: true), command))
            }
            return .ended(try alone(command, CommandContext(line, environment)))
        } catch {
            return .ended(failed(error, environment))
        }
    }

    /// Runs any command line.
    package static func run(_ environment: CLIEnvironment) async -> ExitCode {
        switch begin(environment) {
        case .ended(let code): return code
        case .waits(var command):
            if let code = command.askRunning() { return code }
            return await command.run()
        }
    }

    /// Tells why a command has failed.
    static func failed(_ error: ControlError, _ environment: CLIEnvironment) -> ExitCode {
        // The reader of a pipe went away: there is nobody to tell.
        if error.code == .inputOutput && error.message == StandardStreams.brokenPipe { return error.exit }
        // What interrupted the command knows that it did.
        if error.code == .interrupted || error.code == .terminated { return error.exit }
        let words = environment.arguments
        let asksForJSON =
            words.contains { ["--json", "--output=json", "--output=jsonl", "-ojson", "-ojsonl"].contains($0) }
            || zip(words, words.dropFirst()).contains { ["-o", "--output"].contains($0) && $1.hasPrefix("json") }
            || environment.variables["JABBERCTL_OUTPUT"]?.hasPrefix("json") == true
        Output.report(error, asJSON: asksForJSON, environment)
        return error.exit
    }

    private static func helpPage(_ line: CommandLine) -> String? {
        guard line.isHelp else { return nil }
        if let command = line.command { return HelpText.command(command) }
        return line.path.isEmpty ? HelpText.overview() : HelpText.group(line.path)
    }

    private static func alone(_ command: CommandSpec, _ context: CommandContext) throws(ControlError) -> ExitCode {
        switch command.method {
        case "version":
            let result: JSONObject = ["api": 1, "product": "jabberctl", "version": .string(ProductVersion.current)]
            if context.options.form == .human && context.options.field == nil && context.options.fields == nil {
                try context.output.write("jabberctl \(ProductVersion.current)\n")
            } else {
                try context.output.show(
                    result, Records(rows: [result], [Column("PRODUCT", "product"), Column("VERSION", "version")]))
            }
        case "completion":
            try context.output.write(try Completion.script(for: context.line.arguments[0]))
        case "help":
            try help(context)
        case "daemon.run":
            try DaemonCommands.run(context)
        case "daemon.start":
            try DaemonCommands.start(context)
        case "daemon.log":
            try LogCommand.run(context)
        case "config.path":
            try SettingsCommands.path(context)
        case "config.get":
            try SettingCommands.get(context)
        case "config.set":
            try SettingCommands.set(context)
        case "config.edit":
            try SettingsEditor.run(context)
        case "config.check":
            return try SettingsCommands.check(context)
        default:
            return try AccountCommands.run(context, command)
        }
        return .done
    }

    private static func help(_ context: CommandContext) throws(ControlError) {
        let path = context.line.arguments
        if context.line.has("man") { return try context.output.write(ManualPage.text()) }
        if let page = context.line.value("page") { return try context.output.write(HelpDocument.text(page)) }
        let commands =
            MethodTable.command(path).map { [$0] } ?? MethodTable.commands.filter { $0.path.starts(with: path) }
        guard !commands.isEmpty else {
            // The parser knows best what was meant.
            _ = try CommandLine(path, variables: [:])
            throw ControlError(.usage, "there is no command \"\(TerminalText.line(path.joined(separator: " ")))\"")
        }
        if context.options.form == .json {
            return try context.output.write(HelpText.json(commands).text + "\n")
        }
        let page =
            path.isEmpty
            ? HelpText.overview() : commands.count == 1 ? HelpText.command(commands[0]) : HelpText.group(path)
        try context.output.write(page)
    }
}
