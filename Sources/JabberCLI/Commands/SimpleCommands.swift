// SPDX-License-Identifier: Apache-2.0

internal import JabberControl

/// The commands that are one request, and a way to show its result.
enum SimpleCommands {
    /// How the result of a method is shown; `nil` for a method that is not of this kind.
    static func records(of method: String, _ result: JSONObject) -> Records? {
        switch method {
        case "status": Records(result, "accounts", [Column("NAME", "name"), Column("JID", "jid")] + connection)
        case "connect", "disconnect", "reconnect": Records(rows: [result], [Column("ACCOUNT", "account")] + connection)
        case "account.invite":
            Records(
                rows: [result], [Column("URI", "uri"), Column("PAGE", "page"), Column("EXPIRES", "expires", .time)])
        case "account.devices": Records(result, "devices", device)
        case "account.revoke": Records(rows: strings(result, "revoked", as: "id"), [Column("REVOKED", "id")])
        case "account.forget-token":
            Records(
                rows: [result], [Column("ACCOUNT", "account"), Column("TOKENS", "tokens"), Column("ENDED", "ended")])
        case "daemon.info", "daemon.reload", "daemon.stop", "daemon.restart":
            Records(rows: [result], DaemonCommands.columns)
        case "presence.show": Records(rows: [result], presence)
        case "presence.set": Records(rows: [result], [Column("SHOW", "show", .show), Column("STATUS", "status")])
        case "roster.list": Records(result, "contacts", contact)
        case "roster.show":
            Records(rows: [result["contact"]?.objectValue ?? [:]], key: "contact", contact + presence.dropFirst())
        case "roster.add", "roster.rename", "roster.group":
            Records(rows: [result["contact"]?.objectValue ?? [:]], key: "contact", contact)
        case "roster.remove": Records(rows: [result], [Column("REMOVED", "jid")])
        case "sub.request", "sub.accept", "sub.deny", "sub.cancel":
            Records(
                rows: [result], [Column("JID", "jid"), Column("SUBSCRIPTION", "subscription"), Column("ASK", "ask")])
        case "sub.pending":
            Records(result, "requests", [Column("JID", "jid"), Column("TEXT", "text"), Column("AT", "at", .time)])
        case "ping": Records(rows: pings(result), [Column("JID", "jid"), Column("MS", "milliseconds")])
        case "version-of":
            Records(rows: [result], [Column("NAME", "name"), Column("VERSION", "version"), Column("SYSTEM", "os")])
        case let method where method.hasPrefix("room."): RoomRecords.records(of: method, result)
        case "history":
            Records(
                result, "messages", [Column("AT", "at", .time), Column("FROM", "from"), Column("TEXT", "body")])
        case "unread": Records(result, "conversations", [Column("JID", "jid"), Column("UNREAD", "count")])
        case "read": Records(rows: [result], [Column("JID", "jid"), Column("MARKED", "marked")])
        case "ack": Records(rows: [result], [Column("CONSUMER", "consumer"), Column("CURSOR", "cursor")])
        case "typing": Records(rows: [result], [Column("JID", "jid"), Column("STATE", "state")])
        case "block.list": Records(rows: strings(result, "blocked", as: "jid"), [Column("JID", "jid")])
        case "block.add", "block.remove": Records(rows: [result], [Column("JID", "jid"), Column("BLOCKED", "blocked")])
        case "time": Records(rows: [result], [Column("TIME", "time", .time), Column("ZONE", "zone")])
        case "last": Records(rows: [result], [Column("SECONDS", "seconds"), Column("STATUS", "status")])
        case "adhoc.list": Records(result, "commands", [Column("NODE", "node"), Column("NAME", "name")])
        case "adhoc.run": FormRecords.records(notes: result["notes"], form: result["form"])
        case "disco":
            Records(
                rows: discovered(result), [Column("WHAT", "what"), Column("VALUE", "value"), Column("NAME", "name")])
        case "diag": diagnosis(result)
        case "raw": Records(rows: result["reply"] == nil ? [] : [result], [Column("", "reply")])
        default: nil
        }
    }

    /// What was found is what the command is for: it is shown whole.
    private static func diagnosis(_ result: JSONObject) -> Records {
        var records = Records(
            result, "steps",
            [
                Column("STEP", "step"), Column("STATE", "state", .state), Column("MS", "milliseconds"),
                Column("DETAIL", "detail"),
            ])
        records.wrapsLast = true
        return records
    }

    private static let contact = [
        Column("JID", "jid"), Column("NAME", "name"), Column("SUBSCRIPTION", "subscription"), Column("ASK", "ask"),
        Column("GROUPS", "groups"),
    ]

    private static let device = [
        Column("ID", "id"), Column("PROGRAM", "software"), Column("DEVICE", "device"),
        Column("CONNECTED") { $0.bool("connected") == true ? "yes" : "" }, Column("LAST SEEN", "lastSeen", .time),
        Column("MAY", "permission"), Column("BY", "authentication"),
    ]

    private static let connection = [
        Column("STATE", "connection", .connection), Column("SINCE", "since", .time), Column("SHOW", "show", .show),
        Column("ONLINE", "online"), Column("CONTACTS", "contacts"), Column("SECURITY", "security.version"),
        Column("REASON", "reason.message"),
    ]

    private static let presence = [
        Column("JID", "jid"), Column("STATE", "show", .show), Column("STATUS", "status"),
        Column("PRIORITY", "priority"), Column("SINCE", "since", .time),
        Column("RESOURCES") { row in BuddyList.resourceNames(row) },
    ]

    /// A row for each string of a list.
    private static func strings(_ result: JSONObject, _ list: String, as key: String) -> [JSONObject] {
        (result[list]?.stringsValue ?? []).map { [key: .string($0)] }
    }

    private static func pings(_ result: JSONObject) -> [JSONObject] {
        (result["roundTrips"]?.arrayValue ?? []).map { time in
            JSONObject(present: ["jid": result["jid"], "milliseconds": time])
        }
    }

    private static func discovered(_ result: JSONObject) -> [JSONObject] {
        let identities = (result["identities"]?.arrayValue ?? []).map { identity -> JSONObject in
            let kind = "\(identity["category"]?.stringValue ?? "?")/\(identity["type"]?.stringValue ?? "?")"
            return JSONObject(present: ["what": "identity", "value": .string(kind), "name": identity["name"]])
        }
        let features = (result["features"]?.arrayValue ?? []).map { feature -> JSONObject in
            ["what": "feature", "value": feature]
        }
        let items = (result["items"]?.arrayValue ?? []).map { item -> JSONObject in
            JSONObject(present: ["what": "item", "value": item["jid"], "node": item["node"], "name": item["name"]])
        }
        return identities + features + items
    }

    /// What a command asks.
    static func question(_ context: CommandContext, _ command: CommandSpec) throws(ControlError) -> Question {
        var params = context.parameters(of: command)
        if command.method == "raw", params["xml"] == "-" { params["xml"] = .string(try InputText.all(context)) }
        return Question(command.method, params) { (result, isPrivate) throws(ControlError) in
            try tell(context, command, result, isPrivate)
        }
    }

    private static func tell(
        _ context: CommandContext, _ command: CommandSpec, _ result: JSONObject, _ isPrivate: Bool
    ) throws(ControlError) -> ExitCode {
        guard let records = records(of: command.method, result) else {
            throw ControlError(.internalError, "no way to show the result of \(command.name)")
        }
        if command.method == "unread", context.line.has("count") {
            try context.output.write("\(result.int("total") ?? 0)\n")
        } else if context.output.isTable, let field = single[command.method] {
            try context.output.write(lines: [TerminalText.block(field(result))])
        } else if command.method == "diag", context.output.showsSections {
            try context.output.show(sections: [("step", records)] + DiagnosisSections.all(result))
        } else {
            try context.output.show(result, records)
        }
        for warning in result["warnings"]?.stringsValue ?? [] where context.options.form == .human {
            context.output.note("warning: \(warning)")
        }
        if command.method == "account.invite", result.string("by") == "client", context.options.form == .human {
            context.output.note(
                "who takes it is approved by a daemon that stays; where none runs: jabberctl daemon start")
        }
        if command.method == "account.invite", context.output.isTable, let expiry = result.string("expires") {
            context.output.note("it is good until \(context.environment.localTime(expiry))")
        }
        if result.bool("preapproved") == true, context.options.form == .human {
            context.output.note(
                "no request of \(result.string("jid") ?? "?") was waiting: a later one is accepted at once")
        }
        if result.bool("reported") == false, context.options.form == .human {
            context.output.note("nothing was reported: the server takes no reports (XEP-0377)")
        }
        if context.output.isTable, context.options.field == nil {
            if records.rows.isEmpty, let note = emptiness[command.method] { context.output.note(note) }
            if isPrivate, command.method == "presence.set", !context.line.has("to") {
                context.output.note("this presence has ended with the command, as no daemon keeps the session")
            }
        }
        return exit(context, command, result)
    }

    /// Commands whose result reads better as a sentence on a terminal.
    private static let single: [String: @Sendable (JSONObject) -> String] = [
        "raw": { $0.string("reply") ?? "sent" },
        // To be copied as a whole.
        "account.invite": { [$0.string("uri"), $0.string("page")].compactMap { $0 }.joined(separator: "\n") },
    ]

    /// What a person at a terminal is told instead of an empty table.
    private static let emptiness = [
        "roster.list": "there is no contact", "status": "the daemon has no account",
        "sub.pending": "no request waits for your answer", "adhoc.list": "no command is offered to you",
        "block.list": "nobody is blocked", "account.devices": "no program is known to the server",
        "room.list": "there is no room",
        "room.affiliation": "there is nobody", "history": "nothing is there", "unread": "nothing is unread",
    ]

    private static func isConnected(_ result: JSONObject) -> Bool {
        let accounts = result["accounts"]?.arrayValue ?? []
        return !accounts.isEmpty && accounts.allSatisfy { $0["connection"] == "connected" }
    }

    private static func exit(_ context: CommandContext, _ command: CommandSpec, _ result: JSONObject) -> ExitCode {
        let asksForNo = context.options.isQuiet || context.line.has("exit-code")
        switch command.method {
        case "presence.show" where asksForNo && result.bool("online") != true:
            return .answerIsNo
        case "unread" where asksForNo && result.int("total") == 0:
            return .answerIsNo
        case "sub.pending" where asksForNo && result["requests"]?.arrayValue?.isEmpty != false:
            return .answerIsNo
        case "status" where asksForNo && !isConnected(result):
            return .answerIsNo
        case "diag" where result.bool("ok") == false:
            let error = ControlError(json: result["error"]?.objectValue ?? [:])
            if result["error"] != nil { context.output.report(error) }
            return error.exit
        default:
            return .done
        }
    }
}
