// SPDX-License-Identifier: Apache-2.0

internal import JabberControl

/// The forms of output.
enum OutputForm: String, Sendable {
    /// For people: a table on a terminal, tab-separated in a pipe.
    case human
    /// One document.
    case json
    /// One object a line.
    case jsonl
    /// Tab-separated, without header.
    case tsv
    /// Exact values, each ended by a NUL byte.
    case null
}

/// The options that every command takes, with their types.
struct GlobalOptions: Sendable {
    var session: SessionSelection
    let passwordDescriptor: Int32?
    let tokenDescriptor: Int32?
    let form: OutputForm
    let fields: [String]?
    let field: String?
    let isQuiet: Bool
    let verbosity: Int
    let isColoured: Bool
    let timeout: Double?
    let daemon: DaemonChoice
    let isDryRun: Bool
    let mayAsk: Bool

    /// Reads the options of a command line; their values were checked.
    ///
    /// - Throws: `ControlError` with ``ControlErrorCode/apiTooOld`` or ``ControlErrorCode/apiTooNew``, or when a host
    ///   or a file of trust anchors cannot be one.
    init(_ line: CommandLine, _ environment: CLIEnvironment) throws(ControlError) {
        if let api = line.int("api") {
            let spoken = ProductVersion.api
            guard api >= spoken.lowerBound else { throw ControlError(.apiTooOld, "output version \(api) is too old") }
            guard api <= spoken.upperBound else {
                throw ControlError(.apiTooNew, "output version \(api) is too new: this is \(spoken.upperBound)")
            }
        }
        var session = SessionSelection()
        session.account = line.value("account")
        session.jid = line.value("jid")
        session.host = line.value("host")
        session.port = line.int("port")
        session.tls = line.value("tls").flatMap(AccountConfiguration.TLSMode.init(rawValue:))
        session.proxy = line.value("proxy")
        session.hostMeta = line.value("host-meta").flatMap(AccountConfiguration.HostMeta.init(rawValue:))
        session.ca = line.value("ca").map(environment.absolute)
        session.trust = line.value("trust").flatMap(AccountConfiguration.Trust.init(rawValue:))
        if let pins = line.value("pin") {
            guard session.trust ?? .pin == .pin || !line.isTyped("pin") else {
                throw ControlError(.usage, "--pin and --trust \(line.value("trust") ?? "") contradict each other")
            }
            session.pins = try KeyPin.list(pins.split(separator: ",").map(String.init))
            session.trust = session.trust ?? .pin
        }
        let needsRunning = line.command?.needsRunningDaemon == true
        // The settings of a daemon that runs are its own affair: what is typed contradicts them, what stands in the
        // environment is for other commands.
        if needsRunning {
            let overrides = ["config", "host", "port", "tls", "ca", "proxy", "host-meta", "trust", "pin"]
            if let option = overrides.first(where: line.isTyped) {
                throw ControlError(
                    .usage, "this asks the running daemon, which has settings of its own: leave --\(option) out")
            }
            var named = SessionSelection()
            (named.account, named.jid) = (session.account, session.jid)
            session = named
        } else {
            session.config = line.value("config").map(environment.absolute)
        }
        if let proxy = session.proxy { try SettingsCheck.proxy(proxy) }
        if let host = session.host, line.isTyped("host") { try SettingsCheck.host(host) }
        try Self.leaveWebSocketAlone(&session, line)
        if let ca = session.ca, line.isTyped("ca") { try SettingsCheck.anchors(ca) }
        self.session = session
        passwordDescriptor = line.int("password-fd").flatMap { Int32(exactly: $0) }
        tokenDescriptor = line.int("token-fd").flatMap { Int32(exactly: $0) }
        if let tokenDescriptor, tokenDescriptor == passwordDescriptor {
            throw ControlError(.usage, "--password-fd and --token-fd cannot read from one descriptor")
        }
        form = line.value("output").flatMap(OutputForm.init(rawValue:)) ?? .human
        fields = line.value("fields").map { $0.split(separator: ",").map(String.init) }
        field = line.value("get")
        isQuiet = line.has("quiet")
        verbosity = line.options["verbose"]?.count ?? 0
        isColoured = Self.isColoured(line, environment)
        timeout = line.value("timeout").flatMap { Double($0) }
        // Settings of its own are not those of a daemon that runs already.
        let isOwn = session.jid != nil || session.bringsSettings
        daemon = DaemonChoice(
            socket: line.value("socket").map(environment.absolute),
            isPrivate: !needsRunning && (line.has("no-daemon") || (isOwn && line.value("socket") == nil)),
            verbosity: verbosity, needsRunning: needsRunning)
        isDryRun = line.has("dry-run")
        mayAsk = !line.has("no-ask")
    }

    /// The address of a WebSocket says it all. One that is typed outweighs a port and a kind of TLS of the environment;
    /// any other that stands beside one contradicts it.
    private static func leaveWebSocketAlone(
        _ session: inout SessionSelection, _ line: CommandLine
    ) throws(ControlError) {
        guard session.host?.contains("://") == true else { return }
        for option in ["port", "tls"] where line.value(option) != nil {
            guard line.isTyped("host"), !line.isTyped(option) else {
                let name = line.isTyped(option) ? "--\(option)" : "JABBERCTL_\(option.uppercased())"
                throw ControlError(.usage, "the address of a WebSocket says it all: leave \(name) out")
            }
        }
        session.port = nil
        session.tls = nil
    }

    private static func isColoured(_ line: CommandLine, _ environment: CLIEnvironment) -> Bool {
        switch line.value("color") {
        case "always": true
        case "never": false
        default:
            environment.isOutputTerminal && (environment.variables["NO_COLOR"] ?? "").isEmpty
                && environment.variables["TERM"] != "dumb"
        }
    }
}
