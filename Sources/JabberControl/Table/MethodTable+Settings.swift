// SPDX-License-Identifier: Apache-2.0

extension MethodTable {
    /// `config …`: the tool does these alone.
    static var settings: [CommandSpec] {
        var commands = [configPath, configCheck]
        for index in commands.indices { commands[index].place = .tool }
        return commands
    }

    private static var configPath: CommandSpec {
        var command = CommandSpec("config path", .accounts, "show where settings and other files are")
        command.details = ["Each by its name, whether it is there or not."]
        command.result = [api, FieldSpec("files", "array", "the files and folders")] + place("files[].")
        command.recordKey = "files"
        command.ownRecord = place("")
        command.examples = ["jabberctl config path", "jabberctl config path --json"]
        return command
    }

    private static func place(_ path: String) -> [FieldSpec] {
        [
            FieldSpec(
                path + "name", "string",
                "settings, accounts, administrator, state, log, runtime or socket; see the FILES of the manual"),
            FieldSpec(path + "path", "string", "where it is, or would be"),
            FieldSpec(path + "exists", "boolean", "whether it is there"),
        ]
    }

    private static var configCheck: CommandSpec {
        var command = CommandSpec("config check", .accounts, "check the settings and the accounts")
        command.details = [
            "Shows what cannot be used, and what stands in the settings and means nothing, such as misspelt keys. The running "
                + "daemon takes changes with: jabberctl daemon reload",
            "Exit code 78 when something cannot be used; what only means nothing is no error.",
        ]
        command.result = [
            api, FieldSpec("ok", "boolean", "whether all can be used"),
            FieldSpec("accounts", "integer", "how many accounts can be used"),
            FieldSpec("problems", "array", "what is wrong"),
            FieldSpec("problems[].kind", "string", "error or warning"),
            FieldSpec("problems[].code", "string", "of an error: its word, such as configuration or permissions"),
            FieldSpec(
                "problems[].account", "string", "the account that cannot be used; absent where all are concerned"),
            FieldSpec("problems[].message", "string", "what is wrong, for people"),
        ]
        command.recordKey = "problems"
        command.ownRecord = [
            FieldSpec("kind", "string", "error or warning"), FieldSpec("code", "string", "the word of an error"),
            FieldSpec("account", "string", "the account"), FieldSpec("message", "string", "what is wrong"),
        ]
        command.exits = [.configuration]
        return command
    }
}
