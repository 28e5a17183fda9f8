// SPDX-License-Identifier: Apache-2.0

extension MethodTable {
    /// `account …`: the tool does these alone, on the settings files.
    static var accounts: [CommandSpec] {
        var list = CommandSpec("account list", .accounts, "list the accounts")
        list.result = [api, FieldSpec("accounts", "array", "as in account show")]
        list.recordKey = "accounts"

        var show = CommandSpec("account show", .accounts, "show an account's settings")
        show.arguments = [name]
        show.result = [api] + fields
        show.exits = [.notFound, .configuration]

        var remove = CommandSpec("account remove", .accounts, "remove an account from the settings")
        remove.details = [
            "Its password goes, and what its logins have left, tokens too. What was said stays below "
                + "$XDG_STATE_HOME/jabberctl/accounts, unless --purge is given; that can be given afterwards too.",
            "With --from-server the account ends at its server too (XEP-0077), which cannot be undone: on a terminal its "
                + "address has to be typed first. Where the server refuses, nothing is removed here either.",
        ]
        remove.arguments = [ArgumentSpec("NAME", "the account")]
        remove.options = [
            .flag("purge", nil, "remove what was said too: history, events, and messages that wait"),
            .flag("from-server", nil, "remove the account from its server first, with all that is kept there"),
            answer,
        ]
        remove.result =
            [api] + fields + [FieldSpec("kept", "string", "the file with what was said; absent when none is left")]
        remove.exits = [.refused, .notFound, .temporary]

        var choose = CommandSpec("account default", .accounts, "show or choose the account that is meant by default")
        choose.arguments = [
            ArgumentSpec("NAME", optional: true, "the account to choose; without it, the default one is shown")
        ]
        choose.result = [api] + fields
        choose.exits = [.notFound, .configuration]

        var passwd = CommandSpec("account passwd", .accounts, "store another password for an account")
        passwd.details = [
            "Only the stored password changes, unless --at-server is given: then the one at the server does first (XEP-0077). "
                + "The new one is read from --password-fd, from JABBERCTL_PASSWORD or from the terminal, or made up with "
                + "--generate.",
            "With --password-command the password is not stored but asked from a program at each login.",
        ]
        passwd.arguments = [name]
        passwd.options = [
            passwordCommand, .flag("at-server", nil, "change it at the server too"), generate, answer,
        ]
        passwd.result = [api] + fields
        passwd.exits = [.refused, .notFound, .badData]
        passwd.takesNewPassword = true
        passwd.examples = ["jabberctl account passwd --at-server --generate"]

        var commands = [list, add, show, set, remove, choose, passwd]
        for index in commands.indices {
            commands[index].place = .tool
            commands[index].ownRecord = fields
        }
        return commands + [forgetToken] + enrolment
    }

    private static var forgetToken: CommandSpec {
        var command = CommandSpec("account forget-token", .accounts, "forget the tokens that log an account in")
        command.details = [
            "A server may give a token in exchange for the password (XEP-0484). It is kept like a password, in a file below "
                + "$XDG_STATE_HOME/jabberctl/logins that only you can read, and the password is used again without it.",
            "The server is told to take it no more, unless the daemon holds the account and is not connected. What is kept "
                + "here goes even where the server cannot be told; a warning says how long it would still take the token.",
            "A session that is open stays open.",
        ]
        command.arguments = [name]
        command.options = [
            .flag(
                "all", nil,
                "forget too how strong earlier logins were and which keys the server had, after a server has changed for the worse for good"
            )
        ]
        command.result = [
            api, FieldSpec("account", "string", "bare JID of the account"),
            FieldSpec("tokens", "integer", "how many there were"),
            FieldSpec("ended", "integer", "how many of them the server takes no more; absent when there were none"),
            FieldSpec(
                "warnings", "array of strings", "why the server could not be told; absent when it was, or need not be"),
        ]
        command.exits = [.notFound]
        return command
    }

    private static var add: CommandSpec {
        var command = CommandSpec("account add", .accounts, "add an account")
        command.details = [
            "The password is read from --password-fd, from JABBERCTL_PASSWORD or from the terminal, and is stored in a "
                + "file that only you can read. With --password-command it is not stored but asked from a program at each "
                + "login.",
            "The first account becomes the default one. --host, --port, --tls, --proxy, --host-meta, --ca, --trust and --pin "
                + "are stored with the account.",
            proofNote, proxyNote,
            "--import reads address, password, host and port from the settings file of sendxmpp.",
        ]
        command.arguments = [
            ArgumentSpec("JID", .jid, optional: true, "address of the account; optional with --import")
        ]
        command.options = [
            .value("name", nil, "NAME", "name of the account", default: "the address"),
            resource, priority, allowPlain, passwordCommand, proxyPasswordCommand, certificate, key,
            certificatePasswordCommand, tokenCommand,
            .flag("no-password", nil, "store no password"),
            .value("import", nil, "FILE", .file, "take address and password from sendxmpp's file"),
            .flag("default", nil, "make it the default account"),
        ]
        command.result = [api] + fields
        command.exits = [.badData, .noInput]
        command.examples = ["jabberctl account add you@example.org", "jabberctl account add --import ~/.sendxmpprc"]
        return command
    }

    private static var set: CommandSpec {
        var command = CommandSpec("account set", .accounts, "change an account's settings")
        command.details = [
            "--host, --port, --tls, --proxy, --host-meta, --ca, --trust, --pin and the options below are stored with the account; "
                + "what is not named stays as it is. --unset takes settings away. For another password there is account passwd.",
            proofNote, proxyNote,
            "With --pin the server is known by its key alone, whoever vouches for its certificate. Name the key that a "
                + "renewal will bring beside the one of today.",
            "A daemon that runs takes the change with: jabberctl daemon reload",
        ]
        command.arguments = [name]
        command.options = [
            resource, priority, allowPlain, proxyPasswordCommand, certificate, key, certificatePasswordCommand,
            tokenCommand,
            .value(
                "unset", nil, "KEY,KEY",
                .choices([
                    "host", "port", "tls", "proxy", "host-meta", "ca", "trust", "pin", "resource", "priority",
                    "allow-plain", "certificate", "token",
                ]),
                "take these settings away"),
        ]
        command.result = [api] + fields
        command.exits = [.notFound]
        command.examples = [
            "jabberctl account set --host xmpp.example.org --port 5223 --tls direct",
            "jabberctl account set work --unset host,port,tls",
            "jabberctl account set tor --proxy socks5://127.0.0.1:9050",
        ]
        return command
    }

    private static let resource = OptionSpec.value("resource", nil, "R", "resource to ask for")
    private static let priority = OptionSpec.value(
        "priority", nil, "N", .whole(-128...127), "presence priority", default: "0")
    private static let allowPlain = OptionSpec.flag(
        "allow-plain", nil,
        "allow logins weaker than earlier ones: PLAIN after SCRAM, SCRAM without channel binding after it")

    static let name = ArgumentSpec("NAME", optional: true, "the account; without it, the default one")

    private static let passwordCommand = OptionSpec.value(
        "password-command", nil, "COMMAND", "program that prints the password; no shell is involved")

    private static let proxyPasswordCommand = OptionSpec.value(
        "proxy-password-command", nil, "COMMAND", "program that prints the password for --proxy; no shell is involved")
    private static let proxyNote =
        "With --proxy no name is looked up on this side but the proxy's own: without --host the domain itself is tried, at "
        + "port 5222 and 5223, then the WebSocket that it publishes. A name goes into the address, socks5://NAME@HOST:PORT; "
        + "its password into the settings file or to --proxy-password-command, never onto the command line."

    private static let certificate = OptionSpec.value(
        "certificate", nil, "FILE", .file, "certificate to log in with (EXTERNAL), in PEM or PKCS #12")
    private static let key = OptionSpec.value(
        "key", nil, "FILE", .file, "its private key in PEM, when the certificate's file lacks it")
    private static let certificatePasswordCommand = OptionSpec.value(
        "certificate-password-command", nil, "COMMAND", "program that prints the password of the PKCS #12 file")
    private static let tokenCommand = OptionSpec.value(
        "token-command", nil, "COMMAND", "program that prints an access token (OAUTHBEARER), asked at each login")
    private static let proofNote =
        "With --certificate or --token-command no password is needed; one that is there is used where the server offers "
        + "neither. A file with a private key must be yours alone (mode 0600)."

    static let fields = [
        FieldSpec("name", "string", "name of the account"), FieldSpec("jid", "string", "its address"),
        FieldSpec("host", "string", "host to connect to, when set"),
        FieldSpec("port", "integer", "port of the host, when set"),
        FieldSpec("tls", "string", "direct or starttls, when set"),
        FieldSpec("proxy", "string", "proxy to connect through, without its password, when set"),
        FieldSpec("hostMeta", "string", "ask or never, when set"),
        FieldSpec("ca", "string", "file of trust anchors, when set"),
        FieldSpec("trust", "string", "pkix, dane or pin, when set"),
        FieldSpec("pin", "array of strings", "SHA-256 of the keys that the server may have, when set"),
        FieldSpec("resource", "string", "resource to ask for, when set"),
        FieldSpec("priority", "integer", "presence priority, when set"),
        FieldSpec("allowPlain", "boolean", "true when logins weaker than earlier ones are allowed"),
        FieldSpec("passwordSource", "string", "command, configuration or none; never the password"),
        FieldSpec("certificate", "string", "file of the certificate to log in with, when set"),
        FieldSpec("key", "string", "file of its private key, when set"),
        FieldSpec("tokenSource", "string", "command or configuration, when there is an access token; never the token"),
        FieldSpec("default", "boolean", "whether it is the default account"),
    ]
}
