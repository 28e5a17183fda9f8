// SPDX-License-Identifier: Apache-2.0

internal import JabberControl

/// `config …`: where the settings are, and whether they are right.
enum SettingsCommands {
    /// Shows where files are.
    static func path(_ context: CommandContext) throws(ControlError) {
        let paths = context.environment.paths
        let settings = context.options.session.config ?? paths.configFile
        let places = [
            ("settings", settings), ("accounts", PrivateFile.folder(of: settings) + "/accounts"),
            ("administrator", paths.systemFile), ("state", paths.state), ("log", paths.daemonLog),
            ("runtime", paths.runtime), ("socket", context.options.daemon.socket ?? paths.controlSocket),
        ]
        let files: [JSONObject] = places.map { name, path in
            ["name": .string(name), "path": .string(path), "exists": .bool(PrivateFile.exists(path))]
        }
        let result: JSONObject = ["api": 1, "files": .array(files.map(JSONValue.object))]
        let columns = [Column("NAME", "name"), Column("PATH", "path"), Column("EXISTS", "exists")]
        try context.output.show(result, Records(result, "files", columns))
    }

    /// Reads everything, and shows what is wrong.
    static func check(_ context: CommandContext) throws(ControlError) -> ExitCode {
        let configuration = try ConfigurationFile(
            paths: context.environment.paths, path: context.options.session.config)
        var problems: [JSONObject] = configuration.failures.sorted { $0.key < $1.key }.map { name, error in
            [
                "kind": "error", "code": .string(error.code.rawValue), "account": .string(name),
                "message": .string(error.message),
            ]
        }
        do throws(ControlError) {
            if problems.isEmpty, configuration.defaultAccount != nil { _ = try configuration.implicitAccount() }
        } catch {
            let message = "defaultAccount: \(error.message)"
            problems.append([
                "kind": "error", "code": .string(error.code.rawValue), "message": .string(message),
            ])
        }
        let isUsable = problems.isEmpty
        problems += configuration.warnings.map { ["kind": "warning", "message": .string($0)] }
        let result: JSONObject = [
            "api": 1, "ok": .bool(isUsable), "accounts": .integer(Int64(configuration.accounts.count)),
            "problems": .array(problems.map(JSONValue.object)),
        ]
        let columns = [Column("KIND", "kind"), Column("ACCOUNT", "account"), Column("MESSAGE", "message")]
        var records = Records(result, "problems", columns)
        records.wrapsLast = true
        if problems.isEmpty, context.output.isTable {
            let count = configuration.accounts.count
            context.output.note(count == 1 ? "1 account, nothing is wrong" : "\(count) accounts, nothing is wrong")
        }
        try context.output.show(result, records)
        return isUsable ? .done : .configuration
    }
}
