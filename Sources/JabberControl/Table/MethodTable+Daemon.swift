// SPDX-License-Identifier: Apache-2.0

extension MethodTable {
    /// `status`, `connect`, `disconnect`, `reconnect`, `daemon …`, `rpc`.
    static var daemon: [CommandSpec] {
        var commands = [status] + connections + [info, stop, reload, restart]
        for index in commands.indices {
            commands[index].needsRunningDaemon = true
            commands[index].exits.append(.notRunning)
        }
        return commands + [run, start, log, rpc]
    }

    private static var status: CommandSpec {
        var command = CommandSpec("status", .daemon, "show the running daemon and the connections of its accounts")
        command.options = [
            .flag("exit-code", nil, "exit code 1 when an account is not connected", isParameter: false)
        ]
        command.result =
            [api, FieldSpec("daemon", "object", "the daemon")] + itself("daemon.") + [
                FieldSpec("accounts", "array", "the accounts, or the one asked for"),
                FieldSpec("accounts[].name", "string", "name of the account"),
                FieldSpec("accounts[].jid", "string", "its address; absent when its settings cannot be read"),
                FieldSpec("accounts[].default", "boolean", "whether it is the default account"),
            ] + connection("accounts[].") + [warnings]
        command.recordKey = "accounts"
        command.exits = [.answerIsNo, .notFound]
        command.examples = ["jabberctl status", "jabberctl status --json"]
        return command
    }

    private static var connections: [CommandSpec] {
        let commands = [
            CommandSpec("connect", .daemon, "connect an account of the daemon, at once if it waits"),
            CommandSpec("disconnect", .daemon, "disconnect an account of the daemon until it is connected again"),
            CommandSpec("reconnect", .daemon, "disconnect an account of the daemon and connect it again"),
        ]
        return commands.map { command in
            var command = command
            command.arguments = [ArgumentSpec("ACCOUNT", optional: true, "the account; without it, the default one")]
            command.result = [api, account] + connection("")
            command.exits = [.notFound]
            return command
        }
    }

    private static var info: CommandSpec {
        var command = CommandSpec("daemon info", .daemon, "show the running daemon")
        command.options = [
            .flag("openmetrics", nil, "print the counters of status in the OpenMetrics format", isParameter: false)
        ]
        command.details = [
            "With --openmetrics it prints, for programs that watch others, what status --json tells of each account in figures."
        ]
        command.result = about
        command.examples = ["jabberctl daemon info --openmetrics > /var/lib/node-exporter/jabberctld.prom"]
        return command
    }

    private static var stop: CommandSpec {
        var command = CommandSpec("daemon stop", .daemon, "end the running daemon, and wait until it has ended")
        command.details = ["Its streams are closed in good order, in at most 5 seconds."]
        command.result = about
        return command
    }

    private static var reload: CommandSpec {
        var command = CommandSpec("daemon reload", .daemon, "make the running daemon read its settings again")
        command.details = [
            "Accounts whose settings have not changed stay connected; accounts that had given up are tried again. When "
                + "the settings are wrong, or those of one account, the daemon says what is wrong and keeps those it has.",
            "An account that could not be used, or that is new, needs no reload: its settings are read again when a command "
                + "is for it.",
        ]
        command.result = about
        return command
    }

    private static var restart: CommandSpec {
        var command = CommandSpec(
            "daemon restart", .daemon, "make the running daemon start anew, and wait until it serves")
        command.details = [
            "The process stays the same, so that a supervisor stays with it. The sessions are left to it where the server can "
                + "keep them (XEP-0198), and go on: nobody sees you go. When the settings are wrong nothing is ended: exit code 78."
        ]
        command.exits = [.configuration]
        command.result = about
        return command
    }

    private static var run: CommandSpec {
        var command = CommandSpec("daemon run", .daemon, "run the daemon in the foreground")
        command.details = [
            "Holds the sessions of all configured accounts open, so that the other commands answer at once. SIGHUP makes it "
                + "read its settings again, SIGTERM makes it end. --socket, --config and --verbose are heeded.",
            "Exit code 75 when a daemon runs already.",
        ]
        command.place = .tool
        command.exits = [.temporary, .configuration]
        return command
    }

    private static var start: CommandSpec {
        var command = CommandSpec("daemon start", .daemon, "start the daemon in the background, unless it runs")
        command.details = [
            "Returns when the daemon serves; the accounts may still be connecting then. What it has to say is written to "
                + "$XDG_STATE_HOME/jabberctl/daemon.log. To have it started by itself, enable the systemd unit: "
                + "systemctl --user enable --now jabberctld.socket"
        ]
        command.place = .tool
        command.result = [api, FieldSpec("socket", "string", "path of the control socket"), started]
        command.exits = [.temporary, .configuration]
        return command
    }

    private static var log: CommandSpec {
        var command = CommandSpec("daemon log", .daemon, "show what the daemon in the background has written")
        command.details = [
            "What daemon start began writes to $XDG_STATE_HOME/jabberctl/daemon.log. One that systemd started writes to the "
                + "journal: journalctl --user -u jabberctld"
        ]
        command.options = [
            .flag("follow", "F", "stay, and show each line as it comes", isParameter: false),
            .value(
                "lines", nil, "N", .whole(0...1_000_000), "how many of the last lines", default: "20",
                isParameter: false),
        ]
        command.place = .tool
        command.result = [FieldSpec("line", "string", "the line; each is a document of its own")]
        command.exits = [.noInput]
        command.examples = ["jabberctl daemon log --follow"]
        return command
    }

    private static var rpc: CommandSpec {
        var command = CommandSpec("rpc", .daemon, "speak the control protocol on standard input and output")
        command.details = [
            "For programs: each line is one object of JSON-RPC 2.0. The daemon speaks first: product, version and the versions "
                + "of the output that it knows. Methods carry the names of commands, as in roster.add; parameters, those of "
                + "options: help --json tells all. Without a daemon a private one serves until the input ends.",
            "Ends when the input has ended and every request is answered; a line that is no request is answered too, and ends it "
                + "with exit code 65. Options of the session, such as --account, have no "
                + "meaning here: requests bring their own.",
        ]
        command.place = .bridge
        command.exits = [.notRunning, .badData]
        command.examples = [
            #"echo '{"jsonrpc":"2.0","id":1,"method":"online","params":{}}' | jabberctl rpc"#
        ]
        return command
    }

    private static let started = FieldSpec("started", "boolean", "false when it ran already")

    private static let about =
        [api] + itself("") + [FieldSpec("accounts", "integer", "how many accounts it has"), warnings]

    private static let warnings = FieldSpec(
        "warnings", "array of strings", "settings that mean nothing, such as misspelt ones; absent when there are none")

    private static func itself(_ path: String) -> [FieldSpec] {
        [
            FieldSpec(path + "version", "string", "its version"),
            FieldSpec(path + "instance", "string", "which run of the daemon this is"),
            FieldSpec(path + "pid", "integer", "its process id"),
            FieldSpec(path + "since", "time", "when it began to serve"),
            FieldSpec(path + "socket", "string", "path of its control socket"),
        ]
    }

    private static func connection(_ path: String) -> [FieldSpec] {
        [
            FieldSpec(path + "connection", "string", "connected, connecting, waiting, failed or disconnected"),
            FieldSpec(path + "since", "time", "since when it is so"),
            FieldSpec(path + "session", "string", "full JID of the session, while connected"),
        ] + security(path) + [
            FieldSpec(
                path + "show", "string", "own presence: available, chat, away, xa, dnd or offline, while connected"),
            FieldSpec(path + "status", "string", "own status text; absent when there is none"),
            FieldSpec(path + "contacts", "integer", "how many contacts there are, while connected"),
            FieldSpec(path + "online", "integer", "how many of them are online"),
            FieldSpec(path + "reconnects", "integer", "how often the session was established again"),
            FieldSpec(path + "queued", "integer", "how many messages wait to be sent"),
            FieldSpec(path + "uncertain", "integer", "of how many messages nobody knows whether the server has them"),
            FieldSpec(path + "unwritten", "integer", "how many messages have come and are not on the disk yet"),
            FieldSpec(path + "counters", "object", "what went over its connections since the daemon has it"),
            FieldSpec(path + "counters.stanzasReceived", "integer", "stanzas that came"),
            FieldSpec(path + "counters.stanzasSent", "integer", "stanzas that went"),
            FieldSpec(path + "counters.bytesReceived", "integer", "bytes that came, inside of TLS"),
            FieldSpec(path + "counters.bytesSent", "integer", "bytes that went, inside of TLS"),
            FieldSpec(path + "counters.roundTrips", "integer", "how many pings to the server have come back"),
            FieldSpec(path + "counters.roundTripMilliseconds", "number", "how long the last of them took"),
            FieldSpec(path + "reason", "object", "why it waits or failed, or why nothing can be kept: code, message"),
            FieldSpec(path + "retryAt", "time", "when the next attempt begins, while it waits"),
        ]
    }

    /// The fields of what protects a connection and of what its login took, below a path.
    static func security(_ path: String) -> [FieldSpec] {
        [
            FieldSpec(
                path + "security", "object",
                "while connected: version and cipher of TLS, resumed: whether an earlier session of it went on; mechanism, "
                    + "channelBinding and roundTrips of the login; verified: pkix, dane or pin; tlsa: what DNS said, where it was asked: secure, absent or "
                    + "insecure (a wrong signature is the reason of a failure); name, issuer, notAfter and "
                    + "fingerprint of the certificate, key: SHA-256 of its key, previousKey: that of the last login, when "
                    + "this one met another key for the first time; chain: subject, issuer, notAfter and fingerprint of each "
                    + "certificate up to the authority's"),
            FieldSpec(
                path + "phases", "array",
                "what the login took: phase (lookup, connection, tls, authentication, session), milliseconds, roundTrips"
            ),
        ]
    }
}
