// SPDX-License-Identifier: Apache-2.0

internal import JabberControl

/// `config get` and `config set`: single settings.
enum SettingCommands {
    private static let columns = [
        Column("SETTING", "key"), Column("VALUE") { $0["value"].map(text) ?? "" },
    ]

    /// Shows a setting, or all that have a value.
    static func get(_ context: CommandContext) throws(ControlError) {
        let configuration = try ConfigurationFile(
            paths: context.environment.paths, path: context.options.session.config)
        guard let word = context.line.arguments.first else {
            let all: [JSONObject] = configuration.settings.map { record($0.path, $0.value) }
            let result: JSONObject = ["api": 1, "settings": .array(all.map(JSONValue.object))]
            return try context.output.show(result, Records(result, "settings", columns))
        }
        let path = try SettingPath(word)
        guard let value = try configuration.value(of: path) else {
            throw ControlError(.notFound, "\(path) is not set")
        }
        let options = context.options
        guard options.form == .human || options.form == .tsv, options.field == nil, options.fields == nil else {
            let result: JSONObject = ["api": 1, "settings": [.object(record(path, value))]]
            return try context.output.show(result, Records(result, "settings", columns))
        }
        try context.output.write(lines: [TerminalText.line(text(value))])
    }

    /// Sets a setting, or takes it away.
    static func set(_ context: CommandContext) throws(ControlError) {
        let path = try SettingPath(context.line.arguments[0])
        let word = context.line.arguments.count > 1 ? context.line.arguments[1] : nil
        guard (word == nil) == context.line.has("unset") else {
            throw ControlError(.usage, "config set needs a value, or --unset without one")
        }
        let value = try word.map { (word) throws(ControlError) in try path.setting.value(of: word) }
        if let word { try check(word, path) }
        let result = record(path, value)
        if context.options.isDryRun { return try context.output.write(json: .object(result)) }
        try ConfigurationFile.change(paths: context.environment.paths, path: context.options.session.config) {
            (configuration) throws(ControlError) in try configuration.set(path, to: value)
        }
        remind(context)
    }

    /// Says what a running daemon does with a change.
    static func remind(_ context: CommandContext) {
        let environment = context.environment
        guard context.output.isTable,
            environment.isDaemonAlive(context.options.daemon.socket ?? environment.paths.controlSocket, nil)
        else { return }
        context.output.note("the running daemon takes this with: jabberctl daemon reload")
    }

    /// Refuses what cannot work.
    private static func check(_ word: String, _ path: SettingPath) throws(ControlError) {
        switch path.setting.key {
        case "host": try SettingsCheck.host(word)
        case "proxy": try SettingsCheck.proxy(word)
        case "ca": try SettingsCheck.anchors(word)
        case "jid": _ = try ShallowAddress(word)
        default: break
        }
    }

    private static func record(_ path: SettingPath, _ value: JSONValue?) -> JSONObject {
        JSONObject(present: ["key": .string(path.description), "value": value])
    }

    /// A value for people: a text bare, anything else as JSON.
    private static func text(_ value: JSONValue) -> String { value.stringValue ?? value.text }
}
