// SPDX-License-Identifier: Apache-2.0

extension MethodTable {
    /// `config …`: the tool does these alone.
    static var settings: [CommandSpec] {
        var commands = [configPath, configCheck, configGet, configSet, configEdit]
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

    private static let setting = [
        FieldSpec("key", "string", "defaultAccount, or accounts.NAME.KEY"),
        FieldSpec("value", "any", "its value: text, number, true or false, or a list of texts"),
    ]

    private static var configGet: CommandSpec {
        var command = CommandSpec("config get", .accounts, "show a setting, or all that have a value")
        command.details = [
            "KEY is defaultAccount, or accounts.NAME.KEY for a key of an account; jabberctl-config(5) tells them all. Secrets are "
                + "not shown. Exit code 4 when it has no value."
        ]
        command.arguments = [ArgumentSpec("KEY", optional: true, "the setting; without it, all")]
        command.result = [
            api, FieldSpec("settings", "array", "the settings"),
            FieldSpec("settings[].key", "string", setting[0].summary),
            FieldSpec("settings[].value", "any", setting[1].summary),
        ]
        command.recordKey = "settings"
        command.ownRecord = setting
        command.exits = [.notFound, .configuration]
        command.examples = ["jabberctl config get accounts.work.host"]
        return command
    }

    private static var configSet: CommandSpec {
        var command = CommandSpec("config set", .accounts, "change a setting")
        command.details = [
            "The rest of the file stays as it is, comments included. What would be wrong then is refused, and nothing is "
                + "changed. Passwords are for account passwd. A daemon that runs takes the change with: jabberctl daemon reload",
            "A list has commas between its texts; a program and its arguments are one word, as in \"pass show xmpp\".",
        ]
        command.arguments = [
            ArgumentSpec("KEY", "the setting, as in config get"), ArgumentSpec("VALUE", optional: true, "its value"),
        ]
        command.options = [.flag("unset", nil, "take the setting away", isParameter: false)]
        command.exits = [.notFound, .badData, .configuration]
        command.examples = [
            "jabberctl config set defaultAccount work", "jabberctl config set accounts.work.priority 5",
            "jabberctl config set accounts.work.host --unset",
        ]
        return command
    }

    private static var configEdit: CommandSpec {
        var command = CommandSpec("config edit", .accounts, "edit the settings, or an account's file")
        command.details = [
            "Opens $VISUAL, $EDITOR or sensible-editor on a copy. When nothing is wrong with it, it takes the place of the file in "
                + "one step; otherwise the fault is shown with its line, the file stays, and the next config edit goes on with "
                + "the copy."
        ]
        command.arguments = [
            ArgumentSpec("ACCOUNT", optional: true, "edit the file of this account instead of config.json")
        ]
        command.exits = [.notFound, .configuration, .temporary]
        return command
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
