// SPDX-License-Identifier: Apache-2.0

/// The place of one setting: `defaultAccount`, or `accounts.NAME.KEY`.
package struct SettingPath: Hashable, Sendable, CustomStringConvertible {
    /// The name of the account; `nil` for a setting that is of none.
    package let account: String?
    /// The setting.
    package let setting: SettingSpec

    /// The path as it is written.
    package var description: String { account.map { "accounts.\($0).\(setting.key)" } ?? setting.key }

    /// Makes the place of a setting.
    package init(_ setting: SettingSpec, of account: String? = nil) {
        self.account = account
        self.setting = setting
    }

    /// Reads a path.
    ///
    /// - Throws: `ControlError` with ``ControlErrorCode/notFound`` when there is no such setting, with what may be
    ///   meant.
    package init(_ text: String) throws(ControlError) {
        let prefix = "accounts."
        let dot = text.utf8.lastIndex(of: UInt8(ascii: "."))
        let isOfAccount = text.hasPrefix(prefix)
        let key = isOfAccount ? dot.map { String(text[text.utf8.index(after: $0)...]) } ?? "" : text
        let known = isOfAccount ? SettingSpec.account : SettingSpec.general
        guard let setting = known.first(where: { $0.key == key }) else {
            let hint = Suggestion.closest(to: key, among: known.map(\.key)).map { "; did you mean \"\($0)\"?" } ?? ""
            let form = isOfAccount || !hint.isEmpty ? "" : "; those of an account are accounts.NAME.KEY"
            throw ControlError(.notFound, "there is no setting \"\(TerminalText.line(text))\"\(hint)\(form)")
        }
        self.setting = setting
        guard isOfAccount, let dot else {
            account = nil
            return
        }
        let start = text.index(text.startIndex, offsetBy: prefix.count)
        guard start < dot else {
            throw ControlError(.notFound, "the name of the account is missing: accounts.NAME.\(key)")
        }
        account = String(text[start..<dot])
    }
}

extension ConfigurationFile {
    /// Every setting that has a value, secrets aside.
    package var settings: [(path: SettingPath, value: JSONValue)] {
        let general = SettingSpec.general.map { SettingPath($0) }
        let ofAccounts = accounts.flatMap { account in
            SettingSpec.account.filter { !$0.isSecret }.map { SettingPath($0, of: account.name) }
        }
        return (general + ofAccounts).compactMap { path in
            ((try? value(of: path)) ?? nil).map { (path, $0) }
        }
    }

    /// The value of a setting as it may be shown; `nil` when it has none.
    ///
    /// - Throws: `ControlError` with ``ControlErrorCode/usage`` for a secret, or as ``account(_:)``.
    package func value(of path: SettingPath) throws(ControlError) -> JSONValue? {
        guard let name = path.account else { return general(path.setting.key) }
        let account = try account(name)
        guard !path.setting.isSecret else {
            throw ControlError(.usage, "\(path) is a secret, which is not shown")
        }
        // Its address may hold a password.
        if path.setting.key == "proxy" { return account.publicJSON["proxy"] }
        return account.json[path.setting.key]
    }

    /// Sets a value, or takes it away; the rest of the file's text stays, comments included. A file that would be wrong
    /// then is not written.
    ///
    /// - Throws: `ControlError` with what would be wrong, as ``account(_:)``, or when the file cannot be written.
    package mutating func set(_ path: SettingPath, to value: JSONValue?) throws(ControlError) {
        guard let name = path.account else {
            if path.setting.key == "defaultAccount", let wanted = value?.stringValue { _ = try account(wanted) }
            return try change(path.setting.key, to: value)
        }
        let account = try account(name)
        let (file, keys) = try place(of: account.name)
        guard let old = try PrivateFile.read(file)?.bytes else {
            throw ControlError(.fileMissing, "there is no \(file)")
        }
        let text = SettingsText.set(keys + [path.setting.key], to: value, in: old)
        let whole: JSONObject
        do {
            whole = try JSONReader.read(text, as: .json5).objectValue ?? [:]
        } catch {
            throw ControlError(.internalError, "\(file): \(error)")
        }
        let object = keys.reduce(whole) { $0[$1]?.objectValue ?? [:] }
        _ = try AccountConfiguration(name: account.name, json: object, file: file)
        try PrivateFile.write(text, to: file, followsLinks: !Self.holdsSecret(whole))
    }
}
