// SPDX-License-Identifier: Apache-2.0

internal import JabberControl

/// `account …`: works on the settings files, without a daemon.
struct AccountCommands {
    let context: CommandContext
    private var configuration: ConfigurationFile

    /// Reads the settings. A file that `--config` names need not exist for `account add`.
    init(_ context: CommandContext, mayBeNew: Bool) throws(ControlError) {
        self.context = context
        let (paths, path) = (context.environment.paths, context.options.session.config)
        configuration =
            mayBeNew
            ? try ConfigurationFile.change(paths: paths, path: path, isNew: true) { $0 }
            : try ConfigurationFile(paths: paths, path: path)
    }

    /// Runs one of the commands.
    static func run(_ context: CommandContext, _ command: CommandSpec) throws(ControlError) -> ExitCode {
        let isAdd = command.method == "account.add"
        var commands = try AccountCommands(context, mayBeNew: isAdd && !context.options.isDryRun)
        switch command.method {
        case "account.list": return try commands.list()
        case "account.show":
            try commands.show(try commands.named())
            commands.warn()
        case "account.add": try commands.add()
        case "account.remove": try commands.remove()
        case "account.default": try commands.choose()
        case "account.passwd": try commands.passwd()
        case "account.set": try commands.set()
        default: throw ControlError(.usage, "there is no command \"\(command.name)\"")
        }
        commands.tellDaemon(command)
        return .done
    }

    /// Says what a running daemon does with the change.
    func tellDaemon(_ command: CommandSpec) {
        let environment = context.environment
        let changes = ["account.add", "account.set", "account.remove", "account.default", "account.passwd"]
        let isQuestion = command.method == "account.default" && context.line.arguments.isEmpty
        guard changes.contains(command.method), !isQuestion, !context.options.isDryRun, context.output.isTable,
            environment.isDaemonAlive(context.options.daemon.socket ?? environment.paths.controlSocket, nil)
        else { return }
        context.output.note("the running daemon takes this with: jabberctl daemon reload")
    }

    /// Says what in the settings means nothing.
    private func warn() {
        for warning in configuration.warnings { context.output.note("warning: \(warning)") }
    }

    private static let columns = [
        Column("NAME", "name"), Column("JID", "jid"), Column("DEFAULT") { $0.bool("default") == true ? "yes" : "" },
        Column("HOST", "host"), Column("PORT", "port"), Column("TLS", "tls"), Column("PASSWORD", "passwordSource"),
    ]

    private func row(_ account: AccountConfiguration) -> JSONObject {
        var row = account.publicJSON
        let implicit = configuration.defaultAccount ?? (configuration.accounts.count == 1 ? account.name : nil)
        row["default"] = .bool(implicit == account.name)
        return row
    }

    /// The account that the argument names, or the default one.
    func named() throws(ControlError) -> AccountConfiguration {
        if let name = context.line.arguments.first ?? context.options.session.account {
            return try configuration.account(name)
        }
        guard let account = try configuration.implicitAccount() else {
            throw ControlError(.configuration, "no account is configured; run: jabberctl account add you@example.org")
        }
        return account
    }

    /// Changes the settings as they are at this moment, while no other command does; with `--dry-run`, only what is
    /// shown.
    private mutating func change(
        _ body: (inout ConfigurationFile) throws(ControlError) -> Void
    ) throws(ControlError) {
        guard !context.options.isDryRun else { return }
        configuration = try ConfigurationFile.change(
            paths: context.environment.paths, path: context.options.session.config
        ) { (configuration) throws(ControlError) in
            try body(&configuration)
            return configuration
        }
    }

    private func list() throws(ControlError) -> ExitCode {
        let rows = configuration.accounts.map(row)
        let result: JSONObject = ["api": 1, "accounts": .array(rows.map(JSONValue.object))]
        if rows.isEmpty && context.output.isTable { context.output.note("there is no account yet") }
        try context.output.show(result, Records(result, "accounts", Self.columns))
        let failures = configuration.failures.sorted { $0.key < $1.key }.map(\.value)
        for failure in failures { context.output.report(failure) }
        warn()
        return failures.first?.exit ?? .done
    }

    func show(_ account: AccountConfiguration) throws(ControlError) {
        let row = row(account)
        var result: JSONObject = ["api": 1]
        for entry in row.entries { result[entry.key] = entry.value }
        try context.output.show(result, Records(rows: [row], Self.columns))
    }

    private mutating func add() throws(ControlError) {
        let line = context.line
        let imported = try line.value("import").map { path throws(ControlError) in
            try SendxmppFile(path: context.environment.absolute(path))
        }
        guard let text = line.arguments.first ?? imported?.jid ?? context.options.session.jid else {
            throw ControlError(.usage, "JID is missing; usage: jabberctl account add JID")
        }
        let address = try ShallowAddress(text)
        let name = line.value("name") ?? address.bare
        try requireNew(name)
        var account = AccountConfiguration(name: name, jid: address.bare)
        account.host = imported?.host
        account.port = imported?.port
        takeWay(&account)
        account.proxyPasswordCommand = try line.value("proxy-password-command").map(CommandWords.split)
        try Self.requirePins(account)
        account.resource = line.value("resource") ?? address.resource
        if let resource = account.resource { try ShallowAddress.check(resource: resource) }
        account.priority = line.int("priority")
        account.allowPlain = line.has("allow-plain")
        try takeProofs(line)(&account)
        try requireWholeProof(of: account)
        if let command = line.value("password-command") {
            account.passwordCommand = try CommandWords.split(command)
        } else if !line.has("no-password") {
            account.password = imported?.password
            if account.password == nil, !account.hasOtherProof || context.options.passwordDescriptor != nil {
                account.password = try NewPassword.find(context, of: address.bare)
                if account.password == nil {
                    context.output.note("no password was stored; it will be asked for at each login")
                }
            }
        }
        try save(new: account)
        try show(account)
    }

    /// Takes what the options say about the way to the server.
    func takeWay(_ account: inout AccountConfiguration) {
        let session = context.options.session
        if let host = session.host { account.move(to: host) }
        if let port = session.port { account.port = port }
        account.tls = session.tls
        account.move(through: session.proxy)
        account.hostMeta = session.hostMeta
        account.ca = session.ca
        account.trust = session.trust
        account.pins = session.pins ?? []
    }

    /// Stores an account; the first one is the default one.
    mutating func save(new account: AccountConfiguration) throws(ControlError) {
        let (commands, makesDefault) = (self, context.line.has("default"))
        try change { (configuration) throws(ControlError) in
            // Another command may have been faster while a password was asked for.
            try commands.requireNew(account.name, in: configuration)
            let isFirst = configuration.accounts.isEmpty && configuration.failures.isEmpty
            try configuration.save(account)
            if makesDefault || isFirst { try configuration.setDefault(account.name) }
        }
    }

    /// The settings have no account of this name.
    func requireNew(_ name: String) throws(ControlError) {
        guard AccountConfiguration.isName(name) else {
            throw ControlError(
                .usage, "\"\(TerminalText.line(name))\" cannot be an account's name; choose one with --name")
        }
        try requireNew(name, in: configuration)
    }

    private func requireNew(_ name: String, in configuration: ConfigurationFile) throws(ControlError) {
        guard configuration.has(name) else { return }
        throw ControlError(
            .badData,
            "there is an account \"\(name)\" already; change it with: jabberctl account set \(name), give it another "
                + "password with: jabberctl account passwd \(name), or choose another --name")
    }

    /// Changes the settings that are given, and takes away those that `--unset` names.
    private mutating func set() throws(ControlError) {
        var account = try named()
        let (line, session) = (context.line, context.options.session)
        let keys = [
            "host", "port", "tls", "proxy", "proxy-password-command", "host-meta", "ca", "trust", "pin", "resource",
            "priority", "allow-plain",
        ]
        let proofs = ["certificate", "key", "certificate-password-command", "token-command", "token-fd"]
            .filter(line.isTyped)
        let takeProofs = try takeProofs(line)
        let given = keys.filter(line.isTyped)
        let proxyCommand = try line.value("proxy-password-command").map(CommandWords.split)
        let unset = line.value("unset")?.split(separator: ",").map(String.init) ?? []
        guard !given.isEmpty || !unset.isEmpty || !proofs.isEmpty else {
            throw ControlError(.usage, "nothing to set; see: jabberctl help account set")
        }
        if let both = (given + proofs).first(where: unset.contains) {
            throw ControlError(.usage, "--\(both) and --unset \(both) contradict each other")
        }
        if given.contains("resource"), let resource = line.value("resource") {
            try ShallowAddress.check(resource: resource)
        }
        let change = { (account: inout AccountConfiguration) in
            for key in given + unset {
                let isGiven = given.contains(key)
                switch key {
                case "host": account.move(to: isGiven ? session.host : nil)
                case "port": account.port = isGiven ? session.port : nil
                case "tls": account.tls = isGiven ? session.tls : nil
                case "proxy": account.move(through: isGiven ? session.proxy : nil)
                case "proxy-password-command": account.proxyPasswordCommand = proxyCommand
                case "host-meta": account.hostMeta = isGiven ? session.hostMeta : nil
                case "ca": account.ca = isGiven ? session.ca : nil
                case "trust": account.trust = isGiven ? session.trust : nil
                case "pin":
                    account.pins = isGiven ? session.pins ?? [] : []
                    // Who names keys means them; who takes them away goes back to authorities.
                    if isGiven { account.trust = .pin } else if account.trust == .pin { account.trust = nil }
                case "resource": account.resource = isGiven ? line.value("resource") : nil
                case "priority": account.priority = isGiven ? line.int("priority") : nil
                case "certificate": account.show(certificate: nil)
                case "token": (account.accessTokenCommand, account.accessToken) = (nil, nil)
                default: account.allowPlain = isGiven
                }
            }
            takeProofs(&account)
        }
        let name = account.name
        let changed = { (account: AccountConfiguration) throws(ControlError) -> AccountConfiguration in
            var account = account
            change(&account)
            try Self.requirePins(account)
            guard let key = ["port", "tls"].first(where: given.contains), account.isOverWebSocket else {
                return account
            }
            throw ControlError(
                .usage, "the host of \(name) is a WebSocket, whose address says it all: leave --\(key) out")
        }
        account = try changed(account)
        try requireWholeProof(of: account)
        try self.change { (configuration) throws(ControlError) in
            // Another command may have been faster: its host may be a WebSocket.
            try configuration.save(try changed(try configuration.account(name)))
        }
        try show(account)
    }

    private func requireWholeProof(of account: AccountConfiguration) throws(ControlError) {
        guard account.key == nil || account.certificate != nil else {
            throw ControlError(.usage, "--key is of no use without --certificate")
        }
    }

    /// Takes what is logged in with beside a password from the options; what is not named stays as it is.
    private func takeProofs(_ line: CommandLine) throws(ControlError) -> (inout AccountConfiguration) -> Void {
        let files = ["certificate", "key"].map { line.value($0).map(context.environment.absolute) }
        for (option, file) in zip(["certificate", "key"], files) {
            if let file { try SettingsCheck.proof(file, option) }
        }
        let password = try line.value("certificate-password-command").map(CommandWords.split)
        let token = try line.value("token-command").map(CommandWords.split)
        if token != nil, context.options.tokenDescriptor != nil {
            throw ControlError(.usage, "--token-command and --token-fd contradict each other")
        }
        let given = try context.options.tokenDescriptor.map(context.firstLine(of:))
        return { account in
            if let certificate = files[0] { account.show(certificate: certificate) }
            if let key = files[1] { account.key = key }
            if let password { (account.certificatePasswordCommand, account.certificatePassword) = (password, nil) }
            if let token { (account.accessTokenCommand, account.accessToken) = (token, nil) }
            if let given { (account.accessTokenCommand, account.accessToken) = (nil, given) }
        }
    }

    /// An account that is known by its key has one.
    private static func requirePins(_ account: AccountConfiguration) throws(ControlError) {
        guard account.isKnownByKey, account.pins.isEmpty else { return }
        throw ControlError(.usage, "--trust pin needs the key: name its fingerprint with --pin, as diag shows it")
    }

    /// Removes the settings, and what lets anybody log in as the account; with `--purge` what was said too.
    mutating func remove() throws(ControlError) {
        let (name, row) = try removable()
        let files = AccountFiles(of: name, paths: context.environment.paths)
        let isReal = !context.options.isDryRun
        let purges = context.line.has("purge")
        // Before anything is removed: who cannot have all of it has none.
        let claim = try isReal && purges ? files?.claimHistory() : nil
        if configuration.has(name) {
            try change { (configuration) throws(ControlError) in try configuration.remove(name) }
        }
        if isReal {
            try files?.removeLogins()
            if purges { try files?.removeHistory() }
        }
        withExtendedLifetime(claim) {}
        var result: JSONObject = ["api": 1]
        for entry in row.entries { result[entry.key] = entry.value }
        if !purges, let files, files.history.contains(files.database) {
            result["kept"] = .string(files.database)
            if context.output.isTable {
                let command = "jabberctl account remove \(name) --purge"
                context.output.note("what was said is kept in \(files.database); remove it with: \(command)")
            }
        }
        try context.output.show(result, Records(rows: [row], [Column("REMOVED", "name")]))
    }

    /// The account that is to be removed: be it one whose settings cannot be read, or, with `--purge`, one that has
    /// none any more.
    private func removable() throws(ControlError) -> (name: String, row: JSONObject) {
        if let given = context.line.arguments.first {
            let leftovers = AccountFiles(of: given, paths: context.environment.paths)?.history ?? []
            let isGone = context.line.has("purge") && !configuration.has(given) && !leftovers.isEmpty
            if isGone || configuration.failures[given] != nil { return (given, ["name": .string(given)]) }
        }
        let account = try named()
        return (account.name, row(account))
    }

    private mutating func choose() throws(ControlError) {
        let account = try named()
        if !context.line.arguments.isEmpty {
            try change { (configuration) throws(ControlError) in try configuration.setDefault(account.name) }
        }
        try show(account)
    }

    private mutating func passwd() throws(ControlError) {
        if let option = ["generate", "field"].first(where: context.line.isTyped) {
            throw ControlError(.usage, "--\(option) is of use together with --at-server")
        }
        var account = try named()
        if let command = context.line.value("password-command") {
            account.passwordCommand = try CommandWords.split(command)
            account.password = nil
        } else {
            account.password = try NewPassword.require(context, of: account.jid)
            account.passwordCommand = nil
        }
        try save(passwordOf: account)
        try show(account)
    }

    /// Stores the password of an account, or the command that prints it; the rest stays as it is.
    mutating func save(passwordOf account: AccountConfiguration) throws(ControlError) {
        let (name, password, command) = (account.name, account.password, account.passwordCommand)
        try change { (configuration) throws(ControlError) in
            var account = try configuration.account(name)
            (account.password, account.passwordCommand) = (password, command)
            try configuration.save(account)
        }
    }
}
