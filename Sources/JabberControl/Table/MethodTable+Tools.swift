// SPDX-License-Identifier: Apache-2.0

extension MethodTable {
    /// `ping`, `version-of`, `time`, `last`, `disco`, `adhoc …`, `diag`, `bugreport`, `raw`, `completion`, `help`,
    /// `version`.
    static var tools: [CommandSpec] {
        [ping, versionOf, time, last, disco] + adHoc + [diag, bugReport, raw, completion, help, version]
    }

    static let whoAnswers =
        "For a contact's bare address its server answers. To ask the contact's program, name its resource as in "
        + "juliet@example.org/phone; online --resources shows those of who is online."

    private static var ping: CommandSpec {
        var command = CommandSpec("ping", .tools, "measure the round trip to an address (XEP-0199)")
        command.arguments = [ArgumentSpec("JID", .jid, optional: true, "whom; without it, the own server")]
        command.details = [
            "Shows milliseconds, a line for each ping. " + whoAnswers
        ]
        command.options = [.value("count", nil, "N", .whole(1...1000), "how many times, a second apart", default: "1")]
        command.result = [
            api, account, FieldSpec("jid", "string", "whom"),
            FieldSpec("roundTrips", "array of numbers", "milliseconds, one for each ping"),
        ]
        command.ownRecord = [
            FieldSpec("jid", "string", "whom"), FieldSpec("milliseconds", "number", "the round trip"),
        ]
        command.exits = [.refused]
        return command
    }

    private static var versionOf: CommandSpec {
        var command = CommandSpec("version-of", .tools, "show which program an address runs (XEP-0092)")
        command.arguments = [ArgumentSpec("JID", .jid, optional: true, "whom; without it, the own server")]
        command.details = [whoAnswers]
        command.result = [
            api, account, FieldSpec("jid", "string", "whom"), FieldSpec("name", "string", "the program"),
            FieldSpec("version", "string", "its version"), FieldSpec("os", "string", "its system, when it says"),
        ]
        command.exits = [.refused]
        return command
    }

    private static var disco: CommandSpec {
        var command = CommandSpec("disco", .tools, "show what an address is and can do (XEP-0030)")
        command.arguments = [ArgumentSpec("JID", .jid, optional: true, "whom; without it, the own server")]
        command.details = [whoAnswers]
        command.options = [
            .value("node", nil, "NODE", "the node to ask about"),
            .flag("items", nil, "list its items too"),
        ]
        command.result = [
            api, account, FieldSpec("jid", "string", "whom"),
            FieldSpec("node", "string", "the node, when one was asked"),
            FieldSpec("identities", "array", "what it is"),
            FieldSpec("identities[].category", "string", "such as server"),
            FieldSpec("identities[].type", "string", "such as im"),
            FieldSpec("identities[].name", "string", "name, when it has one"),
            FieldSpec("identities[].lang", "string", "language of the name, when given"),
            FieldSpec("features", "array of strings", "what it can do, sorted"),
            FieldSpec("items", "array", "with --items: jid, node, name of each"),
        ]
        command.ownRecord = [
            FieldSpec("what", "string", "identity, feature or item"),
            FieldSpec("value", "string", "category and type, the feature, or the item's address"),
            FieldSpec("node", "string", "node of the item, when it has one"),
            FieldSpec("name", "string", "name of the identity or the item, when it has one"),
        ]
        command.exits = [.refused]
        return command
    }

    private static var bugReport: CommandSpec {
        var command = CommandSpec("bugreport", .tools, "print what helps to understand a fault")
        command.details = [
            "One JSON document: versions, the system, the settings, the last lines of the daemon's log, and the status of the "
                + "daemon that runs. No password, token or message is in it. Addresses are: look at it before you send it to "
                + "somebody. Nobody but the daemon is asked for anything."
        ]
        command.options = [
            .value("file", nil, "F", .file, "write it to this file, which must not be there yet", isParameter: false)
        ]
        command.result = [
            api, FieldSpec("jabberctl", "string", "the version"), FieldSpec("system", "object", "the machine"),
            FieldSpec("environment", "object", "variables that matter, mostly only whether they are set"),
            FieldSpec("settings", "object", "default, accounts, failures, warnings; or error"),
            FieldSpec("daemon", "object", "as in status; or error, when none runs"),
            FieldSpec("log", "array of strings", "the last lines of the log; absent when there is none"),
        ]
        command.place = .bridge
        command.needsRunningDaemon = true
        command.exits = [.inputOutput]
        command.examples = ["jabberctl bugreport --file report.json"]
        return command
    }

    private static var raw: CommandSpec {
        var command = CommandSpec("raw", .tools, "send a stanza of your own making")
        command.details = [
            "XML must be one element in the namespace jabber:client; - reads it from standard input. An iq of type get or "
                + "set waits for its answer, which is printed; its id is replaced by one that is not in use."
        ]
        command.arguments = [ArgumentSpec("XML", "the stanza")]
        command.options = [.flag("force", nil, "send it although the session is shared with others")]
        command.result = [
            api, account, FieldSpec("sent", "string", "the stanza as it was sent"),
            FieldSpec("reply", "string", "the answer to an iq; absent for other stanzas"),
        ]
        command.exits = [.badData, .refused]
        return command
    }

    private static var completion: CommandSpec {
        var command = CommandSpec("completion", .tools, "print the completion script of a shell")
        command.arguments = [ArgumentSpec("SHELL", .choice(["bash", "zsh", "fish"]), "the shell")]
        command.place = .tool
        command.examples = ["source <(jabberctl completion bash)"]
        return command
    }

    /// The documents that `help --page` prints.
    package static let documentPages = [
        "jabberctl.1", "jabberctld.8", "jabberctl-config.5", "protocol.md", "schema.json",
    ]

    private static var help: CommandSpec {
        var command = CommandSpec("help", .tools, "show help, or help for a command")
        command.details = ["With --json the whole table of commands, their parameters and results is printed."]
        command.arguments = [ArgumentSpec("COMMAND", optional: true, repeatable: true, "the command")]
        command.options = [
            .flag("man", nil, "print the manual page jabberctl(1)", isParameter: false),
            .value(
                "page", nil, "PAGE", .choice(documentPages),
                "print one of the documents that are made of the same table",
                isParameter: false),
        ]
        command.place = .tool
        return command
    }

    private static var version: CommandSpec {
        var command = CommandSpec("version", .tools, "show the version")
        command.place = .tool
        command.result = [
            api, FieldSpec("product", "string", "jabberctl"), FieldSpec("version", "string", "the version"),
        ]
        return command
    }
}
