// SPDX-License-Identifier: Apache-2.0

internal import JabberControl

/// `account …`: works on the settings files, without a daemon.
struct AccountCommands {
    let context: CommandContext
    private var configuration: ConfigurationFile

    /// Reads the settings. A file that `--config` names need not exist for `account add`.
    init(_ context: CommandContext, mayBeNew: Bool) throws(ControlError) {
        self.context = context
        let path = context.options.session.config
        if mayBeNew, let path, try PrivateFile.read(path) == nil { try PrivateFile.write(Array("{}\n".utf8), to: path) }
        configuration = try ConfigurationFile(paths: context.environment.paths, path: path)
    }

    /// Runs one of the commands.
    static func run(_ context: CommandContext, _ command: CommandSpec) throws(ControlError) -> ExitCode {
        let isAdd = command.method == "account.add"
        var commands = try AccountCommands(context, mayBeNew: isAdd && !context.options.isDryRun)
        switch command.method {
        case "account.list": try commands.list()
        case "account.show": try commands.show(try commands.named())
        case "account.add": try commands.add()
        case "account.remove": try commands.remove()
        case "account.default": try commands.choose()
        case "account.passwd": try commands.passwd()
        default: throw ControlError(.usage, "there is no command \"\(command.name)\"")
        }
        return .done
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
    private func named() throws(ControlError) -> AccountConfiguration {
        if let name = context.line.arguments.first ?? context.options.session.account {
            return try configuration.account(name)
        }
        guard let account = try configuration.implicitAccount() else {
            throw ControlError(.accountNotFound, "no account is configured; run: jabberctl account add you@example.org")
        }
        return account
    }

    private func list() throws(ControlError) {
        let rows = configuration.accounts.map(row)
        let result: JSONObject = ["api": 1, "accounts": .array(rows.map(JSONValue.object))]
        if rows.isEmpty && context.output.isTable { context.output.note("there is no account yet") }
        try context.output.show(result, Records(result, "accounts", Self.columns))
    }

    private func show(_ account: AccountConfiguration) throws(ControlError) {
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
        guard AccountConfiguration.isName(name) else {
            throw ControlError(
                .usage, "\"\(TerminalText.line(name))\" cannot be an account's name; choose one with --name")
        }
        guard !configuration.accounts.contains(where: { $0.name == name }) else {
            throw ControlError(
                .badData, "there is an account \"\(name)\" already; remove it first, or choose another --name")
        }
        var account = AccountConfiguration(name: name, jid: address.bare)
        let session = context.options.session
        account.host = session.host ?? imported?.host
        account.port = session.port ?? imported?.port
        account.tls = session.tls
        account.ca = session.ca
        account.resource = line.value("resource") ?? address.resource
        account.priority = line.int("priority")
        account.allowPlain = line.has("allow-plain")
        if let command = line.value("password-command") {
            account.passwordCommand = try CommandWords.split(command)
        } else if !line.has("no-password") {
            account.password = imported?.password
            if account.password == nil { account.password = try newPassword(of: address.bare, isRequired: false) }
        }
        let isFirst = configuration.accounts.isEmpty
        if !context.options.isDryRun {
            try configuration.save(account)
            if line.has("default") || isFirst { try configuration.setDefault(name) }
        }
        try show(account)
    }

    private mutating func remove() throws(ControlError) {
        let account = try named()
        let row = row(account)
        if !context.options.isDryRun { try configuration.remove(account.name) }
        var result: JSONObject = ["api": 1]
        for entry in row.entries { result[entry.key] = entry.value }
        try context.output.show(result, Records(rows: [row], [Column("REMOVED", "name")]))
    }

    private mutating func choose() throws(ControlError) {
        let account = try named()
        if !context.line.arguments.isEmpty && !context.options.isDryRun { try configuration.setDefault(account.name) }
        try show(account)
    }

    private mutating func passwd() throws(ControlError) {
        var account = try named()
        if let command = context.line.value("password-command") {
            account.passwordCommand = try CommandWords.split(command)
            account.password = nil
        } else {
            account.password = try newPassword(of: account.jid, isRequired: true)
            account.passwordCommand = nil
        }
        if !context.options.isDryRun { try configuration.save(account) }
        try show(account)
    }

    /// A password to store: from `--password-fd`, `JABBERCTL_PASSWORD` or the terminal.
    private func newPassword(of jid: String, isRequired: Bool) throws(ControlError) -> String? {
        let environment = context.environment
        if let descriptor = context.options.passwordDescriptor {
            let bytes = try environment.readDescriptor(descriptor)
            return try PasswordSource.firstLine(bytes, of: "descriptor \(descriptor)")
        }
        if let password = environment.variables["JABBERCTL_PASSWORD"], !password.isEmpty { return password }
        if context.options.mayAsk {
            if let first = try environment.askPassword("Password for \(TerminalText.line(jid)): ") {
                guard try environment.askPassword("Again: ") == first else {
                    throw ControlError(.badData, "the two passwords differ")
                }
                return first
            }
        }
        guard !isRequired else { throw ControlError(.usage, "no password was given; try --password-fd") }
        context.output.note("no password was stored; it will be asked for at each login")
        return nil
    }
}
