// SPDX-License-Identifier: Apache-2.0

internal import JabberControl

/// `config edit`: the user's editor on a copy of a settings file, which takes the file's place when nothing is wrong
/// with it.
struct SettingsEditor {
    private let context: CommandContext
    /// The file.
    private let path: String
    /// The copy, in the same folder, which is the user's alone. Not a name that is read as an account's.
    private var copy: String { path + ".edit" }
    private let account: String?

    /// Runs the command.
    static func run(_ context: CommandContext) throws(ControlError) {
        let paths = context.environment.paths
        let settings = context.options.session.config ?? paths.configFile
        let account = context.line.arguments.first
        if let account, !AccountConfiguration.isName(account) {
            throw ControlError(.badData, "\"\(TerminalText.line(account))\" is no account name")
        }
        let path = account.map { "\(PrivateFile.folder(of: settings))/accounts/\($0).json" } ?? settings
        try SettingsEditor(context: context, path: path, account: account).edit()
    }

    private func edit() throws(ControlError) {
        let old = try PrivateFile.read(path)?.bytes
        if account != nil, old == nil {
            throw ControlError(
                .notFound, "there is no \(path): the account stands in the settings file, or nowhere; see: config edit")
        }
        if context.options.isDryRun { return try context.output.write(path + "\n") }
        if PrivateFile.exists(copy) {
            context.output.note("goes on with \(copy), which was refused; remove it to begin anew")
        } else {
            try PrivateFile.write(old ?? Array("{\n}\n".utf8), to: copy)
        }
        let words = try editor()
        let code = context.environment.runEditor(words + [copy])
        guard code == 0 else {
            throw ControlError(.temporary, "\(words[0]) ended with \(code); nothing is changed, the text is in \(copy)")
        }
        guard let new = try PrivateFile.read(copy)?.bytes else {
            throw ControlError(.fileMissing, "the editor has removed \(copy); nothing is changed")
        }
        guard new != old else {
            try PrivateFile.remove(copy)
            return context.output.note("nothing is changed")
        }
        do throws(ControlError) {
            try check(new)
        } catch {
            throw ControlError(
                error.code,
                "\(error.message); nothing is changed: the text is in \(copy), and config edit goes on with it")
        }
        try replace(old, by: new)
        context.output.note("\(path) is changed")
        SettingCommands.remind(context)
    }

    /// Refuses text that cannot be read, and text that breaks an account.
    private func check(_ new: [UInt8]) throws(ControlError) {
        guard let account else {
            let before = (try? ConfigurationFile(paths: context.environment.paths, path: path))?.failures ?? [:]
            let after = try ConfigurationFile(paths: context.environment.paths, path: copy)
            for warning in after.warnings { context.output.note("warning: \(warning)") }
            let broken = after.failures.filter { before[$0.key] == nil }.min { $0.key < $1.key }
            if let broken { throw broken.value }
            if after.defaultAccount != nil { _ = try after.implicitAccount() }
            return
        }
        let object: JSONObject
        do {
            object = try JSONReader.read(new, as: .json5).objectValue ?? [:]
        } catch {
            throw ControlError(.configuration, "\(copy): \(error)")
        }
        _ = try AccountConfiguration(name: account, json: object, file: copy)
    }

    /// Puts the new text in the file's place, unless somebody else has changed the file meanwhile.
    private func replace(_ old: [UInt8]?, by new: [UInt8]) throws(ControlError) {
        try PrivateFile.inTurn(at: PrivateFile.folder(of: path)) { () throws(ControlError) in
            guard try PrivateFile.read(path)?.bytes == old else {
                throw ControlError(
                    .temporary, "\(path) was changed by another program meanwhile; your text is in \(copy)")
            }
            try PrivateFile.write(new, to: path, followsLinks: !holdsSecret(new))
            try PrivateFile.remove(copy)
        }
    }

    private func holdsSecret(_ text: [UInt8]) -> Bool {
        let object = (try? JSONReader.read(text, as: .json5))?.objectValue ?? [:]
        return ConfigurationFile.holdsSecret(object)
    }

    /// The user's editor: `$VISUAL`, `$EDITOR`, then what Debian has for all.
    private func editor() throws(ControlError) -> [String] {
        let variables = context.environment.variables
        let line = [variables["VISUAL"], variables["EDITOR"]].compactMap { $0 }.first { !$0.isEmpty }
        let words = try CommandWords.split(line ?? "sensible-editor")
        guard !words.isEmpty else { throw ControlError(.usage, "EDITOR names no program") }
        return words
    }
}
