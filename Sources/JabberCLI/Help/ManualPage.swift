// SPDX-License-Identifier: Apache-2.0

internal import JabberControl

/// The manual page `jabberctl(1)` in the man macros of roff, made of the table of commands.
enum ManualPage {
    /// The page.
    static func text() -> String {
        var lines = [
            ".\\\" SPDX-License-Identifier: Apache-2.0",
            ".TH JABBERCTL 1 \"\" \"jabberctl \(ProductVersion.current)\" \"User Commands\"",
            ".SH NAME", "jabberctl \\- see who is online and send messages over XMPP",
            ".SH SYNOPSIS", ".B jabberctl", "[\\fIOPTIONS\\fR] \\fICOMMAND\\fR [\\fIARGUMENTS\\fR]",
            ".SH DESCRIPTION",
        ]
        lines += description.flatMap { [".PP", roff($0)] }
        lines.append(".SH COMMANDS")
        for command in MethodTable.commands { lines += entry(command) }
        lines.append(".SH OPTIONS")
        lines.append("These belong to every command and may stand before or after its name.")
        lines += MethodTable.globalOptions.flatMap(entry)
        lines.append(".SH EXIT STATUS")
        for exit in ExitCode.all { lines += [".TP", ".B \(exit.code.rawValue)", roff(exit.meaning)] }
        lines.append(".SH ENVIRONMENT")
        for option in MethodTable.globalOptions {
            guard let name = option.environment else { continue }
            lines += [".TP", ".B \(roff(name))", "stands in for \\fB\\-\\-\(roff(option.long))\\fR"]
        }
        for (name, meaning) in variables { lines += [".TP", ".B \(roff(name))", roff(meaning)] }
        lines.append(".SH FILES")
        for (name, meaning) in files { lines += [".TP", ".I \(roff(name))", roff(meaning)] }
        return lines.joined(separator: "\n") + "\n"
    }

    private static let description = [
        "jabberctl talks to a daemon, jabberctld. When one runs, its control socket is used; otherwise a private one is "
            + "started for the command, which logs in, does the work and leaves.",
        "jabberctl daemon start starts a daemon that stays. It holds the sessions of all configured accounts open, comes back "
            + "when a connection is lost, and commands through it answer at once.",
        "Output is a table on a terminal and tab-separated without a header in a pipe; --json and --output choose other "
            + "forms. Errors go to standard error. Text from the network never reaches a terminal raw: control and "
            + "invisible characters are shown as \\u{hex}.",
        "The password of an account is looked for in this order: --password-fd, a systemd credential "
            + "(jabberctl.NAME or jabberctl in $CREDENTIALS_DIRECTORY), passwordCommand in the settings, password in the "
            + "settings, JABBERCTL_PASSWORD, the terminal. An access token comes from --token-fd, a systemd credential "
            + "(jabberctl-token.NAME or jabberctl-token), accessTokenCommand or accessToken.",
    ]

    private static let variables = [
        ("JABBERCTL_PASSWORD", "the password, when no better source has one; other programs may see it"),
        ("JABBERCTLD", "the daemon's program, instead of the one beside jabberctl or in ../libexec"),
        ("NO_COLOR", "when set, output has no colours"),
        ("XDG_CONFIG_HOME, XDG_STATE_HOME, XDG_RUNTIME_DIR", "where files are kept, by the XDG specification"),
    ]

    private static let files = [
        (
            "$XDG_CONFIG_HOME/jabberctl/config.json",
            "settings (JSON5): accounts, an object of accounts by name; defaultAccount, a name"
        ),
        (
            "$XDG_CONFIG_HOME/jabberctl/accounts/NAME.json",
            "one account: jid, host, port, tls (direct or starttls), proxy (socks5:// or http://[NAME[:PASSWORD]@]HOST:PORT), "
                + "proxyPasswordCommand, hostMeta (ask or never), ca, trust (pkix, dane or pin), pin (an array of SHA-256 "
                + "fingerprints), resource, priority, allowPlain, passwordCommand, password, certificate and key (files), "
                + "certificatePasswordCommand, certificatePassword, accessTokenCommand, accessToken. A file with a password, "
                + "a token or a private key must be yours alone (mode 0600)"
        ),
        ("/etc/jabberctl/config.json", "the administrator's settings, below the user's"),
        ("$XDG_RUNTIME_DIR/jabberctl/control.sock", "control socket of a running daemon"),
        (
            "$XDG_STATE_HOME/jabberctl/accounts/NAME.db",
            "what a daemon that stays keeps of an account: session, messages that wait, messages, events"
        ),
        (
            "$XDG_STATE_HOME/jabberctl/logins/",
            "what logins leave for the next ones: keys or a token in place of the password, and how strong they were"
        ),
        ("$XDG_STATE_HOME/jabberctl/daemon.log", "what a daemon in the background has to say; .old: the one before"),
    ]

    private static func entry(_ command: CommandSpec) -> [String] {
        let arguments = command.arguments.map { "\\fI\(roff($0.usage))\\fR" }.joined(separator: " ")
        var lines = [
            ".SS \(roff(command.name)) \(arguments)",
            roff(command.summary.prefix(1).uppercased() + command.summary.dropFirst() + "."),
        ]
        if !command.aliases.isEmpty { lines.append(roff("Also: " + command.aliases.joined(separator: ", ") + ".")) }
        for paragraph in command.details { lines += [".PP", roff(paragraph)] }
        for argument in command.arguments {
            lines += [".TP", "\\fI\(roff(argument.name))\\fR", roff(words(argument.summary, argument.kind))]
        }
        lines += command.options.flatMap(entry)
        for example in command.examples { lines += [".PP", ".EX", roff(example), ".EE"] }
        return lines
    }

    private static func entry(_ option: OptionSpec) -> [String] {
        let short = option.short.map { "\\fB\\-\($0)\\fR, " } ?? ""
        let value = option.valueName.map { " \\fI\(roff($0))\\fR" } ?? ""
        let usual = option.defaultText.map { " (default: \($0))" } ?? ""
        return [
            ".TP", "\(short)\\fB\\-\\-\(roff(option.long))\\fR\(value)",
            roff(words(option.summary, option.kind) + usual),
        ]
    }

    private static func words(_ summary: String, _ kind: ValueKind) -> String {
        kind.words.isEmpty ? summary : summary + ": " + kind.words.joined(separator: ", ")
    }

    /// Text in which nothing is a command of roff.
    static func roff(_ text: some StringProtocol) -> String {
        var escaped = ""
        for character in text {
            switch character {
            case "\\": escaped += "\\e"
            case "-": escaped += "\\-"
            default: escaped.append(character)
            }
        }
        return escaped.hasPrefix(".") || escaped.hasPrefix("'") ? "\\&" + escaped : escaped
    }
}
