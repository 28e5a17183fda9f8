// SPDX-License-Identifier: Apache-2.0

/// The one table of commands: it feeds the parser, help, the manual, the completions and the protocol's documentation.
///
/// What is not in it does not exist; what is in it works.
package enum MethodTable {
    /// Every command, in the order in which help lists them.
    package static var commands: [CommandSpec] {
        everyday + contacts + rooms + accounts + settings + daemon + tools
    }

    /// The options that every command takes, before or after its name.
    package static let globalOptions: [OptionSpec] = [
        .value("account", "a", "NAME|JID", "which account", environment: "JABBERCTL_ACCOUNT"),
        .value(
            "jid", nil, "JID", .jid, "log in as this address, with or without an account",
            environment: "JABBERCTL_JID"),
        .value(
            "host", nil, "HOST", "connect to this host, or this WebSocket (wss://…), instead of what DNS says",
            environment: "JABBERCTL_HOST"),
        .value("port", nil, "N", .whole(1...65535), "port of --host", environment: "JABBERCTL_PORT"),
        .value(
            "tls", nil, "MODE", .choice(["direct", "starttls"]), "how --host is secured", default: "starttls",
            environment: "JABBERCTL_TLS"),
        .value(
            "proxy", nil, "ADDRESS", "connect through this proxy, socks5://HOST:PORT or http://HOST:PORT",
            environment: "JABBERCTL_PROXY"),
        .value(
            "host-meta", nil, "WHETHER", .choice(["ask", "never"]),
            "ask the domain over HTTPS for other places when none that DNS names can be reached", default: "ask",
            environment: "JABBERCTL_HOST_META"),
        .value(
            "ca", nil, "FILE", .file, "trust the anchors in this PEM file in place of the system's",
            environment: "JABBERCTL_CA"),
        .value(
            "trust", nil, "HOW", .choice(["pkix", "dane", "pin"]),
            "what the server has to show: a certificate of an authority's, what signed TLSA records say, or a key that "
                + "--pin names", default: "pkix",
            environment: "JABBERCTL_TRUST"),
        .value(
            "pin", nil, "SHA256,SHA256", .list,
            "take servers with one of these keys, and no others: fingerprints as diag and status show them",
            environment: "JABBERCTL_PIN"),
        .value("password-fd", nil, "N", .whole(0...65535), "read the password from this descriptor"),
        .value("token-fd", nil, "N", .whole(0...65535), "read an access token (OAUTHBEARER) from this descriptor"),
        .value(
            "output", "o", "FORM", .choice(["human", "json", "jsonl", "tsv", "null"]),
            "form of the output; null ends each value with a NUL byte", default: "human",
            environment: "JABBERCTL_OUTPUT"),
        .flag("json", nil, "same as --output json"),
        .value("fields", "f", "A,B", .list, "only these fields, in this order; their names: help COMMAND --json"),
        .value("get", "g", "FIELD", "only the bare values of this field"),
        .value(
            "api", nil, "N", .whole(0...1_000_000), "version of the output", default: "1",
            environment: "JABBERCTL_API"),
        .flag("quiet", "q", "print nothing on standard output; a \"no\" is exit code 1"),
        .flag("verbose", "v", "say more on standard error", isRepeatable: true),
        .value(
            "color", nil, "WHEN", .choice(["auto", "always", "never"]), "colour the output", default: "auto",
            environment: "JABBERCTL_COLOR"),
        .value(
            "timeout", nil, "SECONDS", .seconds, "how long the whole command may take", default: "30",
            environment: "JABBERCTL_TIMEOUT"),
        .value("socket", nil, "PATH", .file, "use the daemon at this control socket", environment: "JABBERCTL_SOCKET"),
        .flag("no-daemon", nil, "start a private daemon even when one runs"),
        .value("config", nil, "PATH", .file, "use this settings file", environment: "JABBERCTL_CONFIG"),
        .flag("dry-run", "n", "show what would be asked, do nothing"),
        .flag("ask", nil, "ask for a missing password on the terminal (the usual)"),
        .flag("no-ask", nil, "never ask on the terminal"),
        .flag("help", "h", "show help"),
    ]

    /// The command with these words, or with this alias.
    package static func command(_ path: [String]) -> CommandSpec? {
        // Group by group, as making the whole table is a good part of the time that the shortest commands take.
        find(path, in: tools) ?? find(path, in: everyday) ?? find(path, in: contacts) ?? find(path, in: rooms) ?? find(
            path, in: accounts)
            ?? find(path, in: settings) ?? find(path, in: daemon)
    }

    private static func find(_ path: [String], in commands: [CommandSpec]) -> CommandSpec? {
        commands.first { $0.path == path || (path.count == 1 && $0.aliases.contains(path[0])) }
    }

    /// What passwords are handed over by, before they are asked for.
    package static let passwordMethod = "session.password"
    /// What `account passwd --at-server` asks of the daemon.
    package static let changePasswordMethod = "account.change-password"
    /// What `account remove --from-server` asks of the daemon.
    package static let unregisterMethod = "account.unregister"

    static let api = FieldSpec("api", "integer", "version of the output: 1")
    static let account = FieldSpec("account", "string", "the bare JID of the account")

    /// The fields of a contact, below a path.
    static func contact(_ path: String) -> [FieldSpec] {
        [
            FieldSpec(path, "object", "the contact"),
            FieldSpec(path + ".jid", "string", "bare JID"),
            FieldSpec(path + ".name", "string", "name in the contact list; absent when it has none"),
            FieldSpec(path + ".groups", "array of strings", "groups, sorted"),
            FieldSpec(path + ".subscription", "string", "none, to, from or both"),
            FieldSpec(path + ".ask", "string", "subscribe, while a request waits; else absent"),
        ]
    }

    /// The fields of presence, below a path.
    static func presence(_ path: String) -> [FieldSpec] {
        [
            FieldSpec(path + "online", "boolean", "whether any resource is available"),
            FieldSpec(path + "show", "string", "available, chat, away, xa, dnd or offline: the best resource's"),
            FieldSpec(path + "status", "string", "the best resource's status text; absent when it has none"),
            FieldSpec(path + "priority", "integer", "the best resource's priority"),
            FieldSpec(path + "since", "time", "when this presence began, as far as known"),
            FieldSpec(path + "resources", "array", "every available resource, best first"),
            FieldSpec(path + "resources[].resource", "string", "the resourcepart"),
            FieldSpec(path + "resources[].show", "string", "available, chat, away, xa or dnd"),
            FieldSpec(path + "resources[].priority", "integer", "-128 to 127"),
            FieldSpec(path + "resources[].status", "string", "status text; absent when it has none"),
            FieldSpec(path + "resources[].client", "string", "name of the program, when known"),
            FieldSpec(path + "resources[].idleSince", "time", "when its user was last active, when known (XEP-0319)"),
        ]
    }
}
