// SPDX-License-Identifier: Apache-2.0

internal import JabberControl

/// The documents that `help --page` prints.
enum HelpDocument {
    /// A document by its name.
    ///
    /// - Throws: `ControlError` with ``ControlErrorCode/usage`` for another name.
    static func text(_ name: String) throws(ControlError) -> String {
        switch name {
        case "jabberctl.1": ManualPage.text()
        case "jabberctld.8": daemon()
        case "jabberctl-config.5": settings()
        case "protocol.md": ProtocolPage.text()
        case "schema.json":
            String(decoding: JSONValue.object(ProtocolSchema.document).encodedPretty(), as: UTF8.self)
        default: throw ControlError(.usage, "there is no page \"\(TerminalText.line(name))\"")
        }
    }

    private static func page(_ name: String, _ section: Int, _ book: String, _ purpose: String) -> [String] {
        [
            ".\\\" SPDX-License-Identifier: Apache-2.0",
            ".TH \(name.uppercased()) \(section) \"\" \"jabberctl \(ProductVersion.current)\" \"\(book)\"",
            ".SH NAME", "\(ManualPage.roff(name)) \\- \(ManualPage.roff(purpose))",
        ]
    }

    private static func paragraphs(_ texts: [String]) -> [String] {
        texts.flatMap { [".PP", ManualPage.roff($0)] }
    }

    private static func item(_ head: String, _ text: String) -> [String] {
        [".TP", ".B \(ManualPage.roff(head))", ManualPage.roff(text)]
    }

    // MARK: jabberctld(8)

    private static func daemon() -> String {
        var lines = page("jabberctld", 8, "System Manager's Manual", "holds XMPP sessions open for jabberctl")
        lines += [
            ".SH SYNOPSIS", ".B jabberctld",
            "[\\fB\\-\\-socket\\fR \\fIPATH\\fR] [\\fB\\-\\-config\\fR \\fIPATH\\fR] "
                + "[\\fB\\-\\-verbose\\fR]...", ".br", ".B jabberctld \\-\\-private", "[\\fB\\-\\-verbose\\fR]...",
            ".SH DESCRIPTION",
        ]
        lines += paragraphs([
            "jabberctld is the daemon of jabberctl(1). It holds the sessions of all accounts of jabberctl-config(5) open, keeps "
                + "what arrives before it tells the server that it has it, sends what waits when there is a connection, and answers "
                + "jabberctl and other programs at its control socket.",
            "It runs as its user, in the foreground; nothing of it needs privileges. jabberctl daemon start puts it into the "
                + "background, systemctl --user enable --now jabberctld.socket has it started when it is needed.",
            "With --private it serves one control connection on descriptor 3 and ends with it: jabberctl starts it so by itself "
                + "when no other runs.",
        ])
        lines.append(".SH OPTIONS")
        lines += item("--socket PATH", "serve here instead of $XDG_RUNTIME_DIR/jabberctl/control.sock")
        lines += item("--config PATH", "use this settings file")
        lines += item("--verbose", "say on standard error what the streams do; twice: every stanza")
        lines += item("--version", "show the version")
        lines += item("--help", "show help")
        lines.append(".SH SIGNALS")
        lines += item("SIGHUP", "read the settings again; accounts whose settings are as they were stay connected")
        lines += item("SIGTERM, SIGINT", "end every stream in good order, in at most 5 seconds, and the daemon")
        lines.append(".SH EXIT STATUS")
        for code in [
            ExitCode.done, .usage, .inputOutput, .temporary, .configuration,
        ] { lines += item("\(code.rawValue)", ExitCode.all.first { $0.code == code }?.meaning ?? "") }
        lines.append(".SH ENVIRONMENT")
        lines += item(
            "NOTIFY_SOCKET, WATCHDOG_USEC, LISTEN_FDS",
            "of systemd: the daemon says when it serves, that it lives, and takes a socket that is open already")
        lines += item(
            "CREDENTIALS_DIRECTORY", "of systemd: credentials jabberctl.NAME, or jabberctl, are passwords of accounts")
        lines.append(".SH FILES")
        lines += item("$XDG_RUNTIME_DIR/jabberctl/control.sock", "the control socket; beside it, its lock")
        lines += item("$XDG_STATE_HOME/jabberctl/", "what is kept of accounts, and what logins leave for the next ones")
        return closed(lines, "jabberctl(1), jabberctl-config(5)")
    }

    // MARK: jabberctl-config(5)

    private static func settings() -> String {
        var lines = page("jabberctl-config", 5, "File Formats Manual", "settings of jabberctl and jabberctld")
        lines += [
            ".SH SYNOPSIS", ".nf", "$XDG_CONFIG_HOME/jabberctl/config.json",
            "$XDG_CONFIG_HOME/jabberctl/accounts/\\fINAME\\fR.json",
            "/etc/jabberctl/config.json", ".fi", ".SH DESCRIPTION",
        ]
        lines += paragraphs([
            "The settings are JSON5: JSON with comments, trailing commas, bare keys and single quotes. Accounts stand in the object "
                + "accounts of config.json, by name, or each in a file of its own. The user's settings hide the administrator's of "
                + "the same name. An option of the command and its variable JABBERCTL_... come before both.",
            "A file with a password, a token or a private key must belong to the user and be mode 0600; others must not be for "
                + "others to change. What stands there and means nothing is warned of and kept.",
            "jabberctl config check says what is wrong, config edit changes a file and takes nothing that is broken, config set "
                + "changes one key and leaves comments where they are. A daemon that runs takes changes with: jabberctl daemon reload",
        ])
        lines.append(".SH SETTINGS")
        for setting in SettingSpec.general { lines += entry(setting) }
        lines += item("accounts", "an object of accounts by name")
        lines += [".SH KEYS OF AN ACCOUNT"]
        for setting in SettingSpec.account { lines += entry(setting) }
        lines += [".SH EXAMPLE", ".EX"]
        lines += [
            "{", "  // The one at work is the usual one.", "  defaultAccount: \"work\",", "  accounts: {",
            "    work: { jid: \"juliet@example.org\", passwordCommand: \"pass show xmpp\" },", "  },", "}",
        ].map(ManualPage.roff)
        lines.append(".EE")
        return closed(lines, "jabberctl(1), jabberctld(8)")
    }

    private static func entry(_ setting: SettingSpec) -> [String] {
        [
            ".TP", "\\fB\(ManualPage.roff(setting.key))\\fR (\(ManualPage.roff(setting.kindText)))",
            ManualPage.roff(setting.summary),
        ]
    }

    private static func closed(_ lines: [String], _ others: String) -> String {
        (lines + [".SH SEE ALSO", ManualPage.roff(others)]).joined(separator: "\n") + "\n"
    }
}
