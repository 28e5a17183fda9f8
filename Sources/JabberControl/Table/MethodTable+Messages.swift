// SPDX-License-Identifier: Apache-2.0

extension MethodTable {
    private static let jid = ArgumentSpec("JID", .jid, "the other side of the conversation")
    private static let id = ArgumentSpec("ID", "id of the message, as in listen")

    /// `react`, `retract`, `typing`.
    static var messages: [CommandSpec] {
        [react, retract, typing]
    }

    private static var react: CommandSpec {
        var command = CommandSpec("react", .everyday, "react to a message with emoji (XEP-0444)")
        command.details = [
            "The reactions take the place of those that you have sent before; without any, these are taken back."
        ]
        command.arguments = [jid, id, ArgumentSpec("EMOJI", optional: true, repeatable: true, "the reactions")]
        command.result = outcomes
        command.recordKey = "results"
        command.exits = [.refused, .badData]
        return command
    }

    private static var retract: CommandSpec {
        var command = CommandSpec("retract", .everyday, "ask for a message that you have sent to be removed (XEP-0424)")
        command.details = ["Programs that know of it remove the message; nobody can be made to."]
        command.arguments = [jid, id]
        command.result = outcomes
        command.recordKey = "results"
        command.exits = [.refused, .badData]
        return command
    }

    private static var typing: CommandSpec {
        var command = CommandSpec("typing", .everyday, "show that you are writing, or that you have stopped (XEP-0085)")
        command.details = ["Only contacts that may see your presence are shown it; for others it is exit code 2."]
        command.arguments = [jid, ArgumentSpec("STATE", .choice(["on", "off"]), "whether you are writing")]
        command.result = [
            api, account, FieldSpec("jid", "string", "the other side"),
            FieldSpec("state", "string", "composing or active (XEP-0085)"),
        ]
        command.exits = [.refused, .badData]
        return command
    }

    /// The result of what sends messages.
    static let outcomes = [
        api, account, FieldSpec("results", "array", "one for each recipient, in their order"),
        FieldSpec("results[].to", "string", "the recipient"),
        FieldSpec("results[].id", "string", "id of the message stanza"),
        FieldSpec("results[].originId", "string", "origin id (XEP-0359), when one was sent"),
        FieldSpec("results[].state", "string", "queued, sent, server, device, read, failed or expired"),
        FieldSpec("results[].stanzaId", "object", "by, id (XEP-0359), of a message to a room that gives them"),
        FieldSpec("results[].at", "time", "when that state was reached"),
        FieldSpec("results[].error", "object", "why it came no further: code, exit, message, retry, stanza"),
    ]

    /// `block …`.
    static var blocking: [CommandSpec] {
        var list = CommandSpec("block list", .contacts, "list the addresses that you have blocked (XEP-0191)")
        list.result = [api, account, FieldSpec("blocked", "array of strings", "addresses, sorted")]
        list.ownRecord = [FieldSpec("jid", "string", "a blocked address")]
        list.exits = [.refused]
        func command(_ verb: String, _ summary: String) -> CommandSpec {
            var command = CommandSpec("block \(verb)", .contacts, summary)
            command.arguments = [
                ArgumentSpec("JID", .jid, "a person, one client of theirs (with a resource), or a whole domain")
            ]
            command.result = [
                api, account, FieldSpec("jid", "string", "the address"),
                FieldSpec("blocked", "boolean", "whether it is blocked now"),
            ]
            command.exits = [.refused]
            return command
        }
        var add = command("add", "let nothing more of an address come or go")
        add.details = ["A contact that you block sees you offline."]
        add.result.append(
            FieldSpec("reported", "boolean", "with report: whether the server takes reports, and has got this one"))
        add.options = [
            .value("report", nil, "WHY", .choice(["spam", "abuse"]), "tell the operator of your server (XEP-0377)"),
            .value("text", nil, "TEXT", "what to tell the operator beyond that"),
        ]
        return [list, add, command("remove", "let an address come and go again")]
    }
}
