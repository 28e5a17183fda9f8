// SPDX-License-Identifier: Apache-2.0

extension MethodTable {
    static var time: CommandSpec {
        var command = CommandSpec("time", .tools, "show what the clock of an address shows (XEP-0202)")
        command.arguments = [ArgumentSpec("JID", .jid, optional: true, "whom; without it, the own server")]
        command.details = [whoAnswers]
        command.result = [
            api, account, FieldSpec("jid", "string", "whom"), FieldSpec("time", "time", "the time, in UTC"),
            FieldSpec("zone", "string", "its time zone: +hh:mm or -hh:mm"),
        ]
        command.exits = [.refused]
        return command
    }

    static var last: CommandSpec {
        var command = CommandSpec("last", .tools, "show for how long a contact is gone or a server is up (XEP-0012)")
        command.arguments = [ArgumentSpec("JID", .jid, optional: true, "whom; without it, the own server")]
        command.details = [
            "For a contact's bare address: since it went offline, 0 while it is online. With a resource: since its user did "
                + "something. For a server: since it was started."
        ]
        command.result = [
            api, account, FieldSpec("jid", "string", "whom"), FieldSpec("seconds", "integer", "how long"),
            FieldSpec("status", "string", "the text that the contact went offline with; absent when there is none"),
        ]
        command.exits = [.refused]
        return command
    }

    /// `adhoc …`.
    static var adHoc: [CommandSpec] {
        var list = CommandSpec("adhoc list", .tools, "list the commands that a service offers (XEP-0050)")
        list.arguments = [ArgumentSpec("JID", .jid, optional: true, "the service; without it, the own server")]
        list.result = [
            api, account, FieldSpec("jid", "string", "the service"),
            FieldSpec("commands", "array", "what it offers you"),
            FieldSpec("commands[].node", "string", "name for adhoc run"),
            FieldSpec("commands[].name", "string", "what it does, for people"),
        ]
        list.recordKey = "commands"
        list.exits = [.refused]

        var run = CommandSpec("adhoc run", .tools, "run a command that a service offers")
        run.details = [
            "A command may ask for something in a form. Without --field its questions are shown, and it is given up; with --field "
                + "they are answered, the others as the form suggests, step by step until it is done."
        ]
        run.arguments = [
            ArgumentSpec("JID", .jid, "the service"), ArgumentSpec("NODE", "the command, as in adhoc list"),
        ]
        run.options = [
            .value(
                "field", nil, "NAME=VALUE", "answer to a question; again for a further value of the same",
                isRepeatable: true)
        ]
        run.result = [
            api, account, FieldSpec("jid", "string", "the service"), FieldSpec("node", "string", "the command"),
            FieldSpec("status", "string", "completed; executing when its questions were shown; canceled"),
            FieldSpec("notes", "array", "what it says: type (info, warn, error), text"),
        ]
        run.result += form("form")
        run.ownRecord = formRecord
        run.exits = [.refused, .badData]
        run.examples = ["jabberctl adhoc list", "jabberctl adhoc run example.org uptime"]
        return [list, run]
    }

    /// The fields of a form, below a path.
    static func form(_ path: String) -> [FieldSpec] {
        [
            FieldSpec(path, "object", "the form, when there is one"),
            FieldSpec(path + ".kind", "string", "form = questions, result = answers"),
            FieldSpec(path + ".type", "string", "what it is about (XEP-0068), when it says so"),
            FieldSpec(path + ".title", "string", "its heading, when it has one"),
            FieldSpec(path + ".instructions", "array of strings", "what to do, when it says so"),
            FieldSpec(path + ".fields", "array", "the questions or answers, hidden ones left out"),
            FieldSpec(path + ".fields[].name", "string", "name of the field; absent for text to read"),
            FieldSpec(path + ".fields[].type", "string", "such as text-single, boolean, list-single (XEP-0004)"),
            FieldSpec(path + ".fields[].label", "string", "the question, for people"),
            FieldSpec(path + ".fields[].text", "string", "more of it"),
            FieldSpec(path + ".fields[].required", "boolean", "true when it has to be answered; else absent"),
            FieldSpec(path + ".fields[].values", "array of strings", "the answer, or the suggested one"),
            FieldSpec(path + ".fields[].options", "array", "what can be chosen: value, label"),
            FieldSpec(path + ".columns", "array of strings", "headings of the table, when there is one"),
            FieldSpec(path + ".rows", "array", "its rows: arrays of strings"),
        ]
    }
}
