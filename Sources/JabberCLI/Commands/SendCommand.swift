// SPDX-License-Identifier: Apache-2.0

internal import JabberControl

/// `send`: finds out who gets what, sends it, and tells how far it came.
enum SendCommand {
    /// What is asked to send one text.
    static func question(_ context: CommandContext, _ command: CommandSpec) throws(ControlError) -> Question {
        var (recipients, text) = try words(context)
        var params = parameters(context, command, recipients)
        if text == nil { text = try InputText.all(context) }
        guard let text, !text.isEmpty else { throw ControlError(.usage, "the text is empty") }
        guard text.utf8.count <= InputText.maximumBytes else {
            throw ControlError(.badData, "the text is longer than \(InputText.maximumBytes) bytes")
        }
        params["text"] = .string(text)
        return question(context, "send", params)
    }

    /// What is asked to send something that needs no text.
    static func questionAsIs(_ context: CommandContext, _ command: CommandSpec) -> Question {
        question(context, command.method, context.parameters(of: command))
    }

    private static func question(_ context: CommandContext, _ method: String, _ params: JSONObject) -> Question {
        Question(method, params) { (result, _) throws(ControlError) in
            tell(context, result)
            return code(of: result)
        }
    }

    private static func parameters(
        _ context: CommandContext, _ command: CommandSpec, _ recipients: [String]
    ) -> JSONObject {
        var params = context.parameters(of: command)
        params["to"] = .strings(recipients)
        params["text"] = nil
        return params
    }

    /// The recipients, and the text when the command line gives it.
    private static func words(_ context: CommandContext) throws(ControlError) -> ([String], String?) {
        let line = context.line
        let sources = ["message", "file", "line"].filter(line.has)
        guard sources.count <= 1 else {
            throw ControlError(.usage, "--\(sources[0]) and --\(sources[1]) both give the text: choose one")
        }
        let isTextLast = sources.isEmpty && line.arguments.count > 1
        let recipients = isTextLast ? Array(line.arguments.dropLast()) : line.arguments
        guard recipients.count <= MethodTable.maximumRecipients else {
            throw ControlError(
                .usage,
                "\(recipients.count) recipients are too many for one command: give at most "
                    + "\(MethodTable.maximumRecipients); nothing was sent")
        }
        guard !recipients.contains("") else { throw ControlError(.badJID, "a recipient is empty") }
        for recipient in recipients { try ShallowAddress.refuseBareWord(recipient) }
        if let path = line.value("file") { return (recipients, try InputText.file(context.environment.absolute(path))) }
        if let message = line.value("message"), message != "-" { return (recipients, message) }
        return (recipients, isTextLast ? line.arguments.last : nil)
    }

    /// One message for each line, sent as it comes, within one session.
    static func runLines(_ context: CommandContext, _ command: CommandSpec) async throws(ControlError) -> ExitCode {
        let params = parameters(context, command, try words(context).0)
        guard !context.line.has("id") else { throw ControlError(.usage, "--id names one message: not with --line") }
        if context.options.isDryRun {
            var lines = InputLines(context)
            while let line = try lines.next() {
                var params = params
                params["text"] = .string(line)
                _ = try context.showRequest("send", params)
            }
            return .done
        }
        // The lines may come slowly, so a limit holds only when it was asked for.
        return try await DaemonSession.run(context, limit: context.options.timeout) { session throws(ControlError) in
            var lines = InputLines(context)
            var all: JSONObject = [:]
            var results: [JSONValue] = []
            var code: ExitCode?
            while let line = try lines.next() {
                var params = params
                params["text"] = .string(line)
                let result = try CommandContext.object(try await session.call("send", params))
                code = (code ?? .done).worse(Self.code(of: result))
                if context.options.form == .json {
                    all = result
                    results += result["results"]?.arrayValue ?? []
                } else {
                    tell(context, result)
                }
            }
            guard let code else { throw ControlError(.usage, "there is nothing on standard input") }
            if context.options.form == .json {
                all["results"] = .array(results)
                tell(context, all)
            }
            return code
        }
    }

    /// The columns; why one failed is told on standard error where a person reads along.
    private static func columns(_ form: OutputForm) -> [Column] {
        let columns = [
            Column("STATE", "state", .state), Column("TO", "to"), Column("ID", "id"), Column("AT", "at", .time),
        ]
        return form == .human ? columns : columns + [Column("ERROR", "error.message")]
    }

    /// Shows what has become of it. What was sent is sent, whether that can be told or not: the exit code says how far
    /// it came.
    private static func tell(_ context: CommandContext, _ result: JSONObject) {
        let records = Records(result, "results", columns(context.options.form))
        do throws(ControlError) {
            // On a terminal success is silent, as with other commands; what failed is told on standard error.
            if !context.output.isTable || context.options.field != nil || context.options.fields != nil {
                try context.output.show(result, records)
            }
        } catch {
            if error.message != StandardStreams.brokenPipe {
                context.output.note("the result cannot be shown: \(error.message)")
            }
        }
        let asked = (context.options.fields ?? []) + [context.options.field ?? ""]
        guard context.options.form == .human, !asked.contains(where: { $0.hasPrefix("error") }) else { return }
        for row in records.rows {
            guard let error = row["error"]?.objectValue, let recipient = row.string("to") else { continue }
            let message = ControlError(json: error).message
            context.output.note(message.contains(recipient) ? message : "\(recipient): \(message)")
        }
    }

    /// The worst result decides.
    private static func code(of result: JSONObject) -> ExitCode {
        let rows = (result["results"]?.arrayValue ?? []).compactMap(\.objectValue)
        return rows.reduce(.done) { code, row in
            if let error = row["error"]?.objectValue { return code.worse(ControlError(json: error).exit) }
            return row.string("state") == "failed" ? code.worse(.refused) : code
        }
    }
}
