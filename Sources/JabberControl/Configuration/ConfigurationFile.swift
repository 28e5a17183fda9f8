// SPDX-License-Identifier: Apache-2.0

/// The settings: the user's `config.json` over the administrator's, and the accounts in `accounts/NAME.json` beside
/// each.
///
/// The files are JSON5: comments and trailing commas are welcome. Keys: `accounts` (an object of accounts by name),
/// `defaultAccount` (a name), `notify` (whether messages are shown on the desktop). A file that holds a password must
/// belong to the user and be 0600.
package struct ConfigurationFile: Sendable {
    /// The accounts by name, sorted; the user's hide the administrator's of the same name.
    package private(set) var accounts: [AccountConfiguration] = []
    /// Why accounts cannot be used, by their names. They stop neither the others nor whoever reads the settings.
    package private(set) var failures: [String: ControlError] = [:]
    /// What stands in the files and means nothing to this version, each with file and line, and with what may be meant.
    package private(set) var warnings: [String] = []
    /// The name of the account that is meant when none is named.
    package private(set) var defaultAccount: String?
    /// Whether messages that come shall be shown on the desktop.
    package private(set) var notifies = false
    /// The file that changes are written to.
    package let path: String

    private var root: JSONObject = [:]
    private var origins: [String: String] = [:]

    /// Reads the settings; missing files are empty ones.
    ///
    /// - Parameters:
    ///   - paths: Where the files are.
    ///   - path: A file that stands in place of the user's and the administrator's (`--config`); it must exist.
    /// - Throws: `ControlError` with ``ControlErrorCode/configuration`` (and line and column), `permissions`,
    ///   `fileMissing`, when the settings file itself cannot be used. What is wrong with one account is in
    ///   ``failures``.
    package init(paths: RuntimePaths, path: String? = nil) throws(ControlError) {
        self.path = path ?? paths.configFile
        if let path {
            guard try PrivateFile.read(path) != nil else { throw ControlError(.fileMissing, "there is no \(path)") }
            root = try load(path)
        } else {
            _ = try load(paths.systemFile)
            root = try load(paths.configFile)
        }
        accounts.sort { $0.name < $1.name }
    }

    /// The folder of the account files beside a settings file.
    private static func accountFolder(of path: String) -> String {
        PrivateFile.folder(of: path) + "/accounts"
    }

    private mutating func load(_ path: String) throws(ControlError) -> JSONObject {
        let (object, text) = try Self.object(at: path) ?? ([:], [])
        warn(of: object, Self.knownKeys, [], in: text, path)
        let reader = ConfigurationReader(object: object, place: path)
        if let name = try reader.string("defaultAccount") { defaultAccount = name }
        if let flag = try reader.bool("notify") { notifies = flag }
        if let value = object["accounts"], value != .null {
            guard let inline = value.objectValue else { throw reader.error("\"accounts\" must be an object") }
            for entry in inline.entries {
                warn(of: entry.value.objectValue ?? [:], Self.accountKeys, ["accounts", entry.key], in: text, path)
                put(entry.key, from: path) { () throws(ControlError) in
                    guard let account = entry.value.objectValue else {
                        throw reader.error("account \"\(entry.key)\" must be an object")
                    }
                    return try AccountConfiguration(name: entry.key, json: account, file: path)
                }
            }
        }
        let folder = Self.accountFolder(of: path)
        for file in PrivateFile.names(in: folder) where file.hasSuffix(".json") {
            let (place, name) = ("\(folder)/\(file)", String(file.dropLast(5)))
            let contents = Result { () throws(ControlError) in try Self.object(at: place) ?? ([:], []) }
            if let (object, text) = try? contents.get() { warn(of: object, Self.accountKeys, [], in: text, place) }
            put(name, from: place) { () throws(ControlError) in
                try AccountConfiguration(name: name, json: try contents.get().0, file: place)
            }
        }
        return object
    }

    /// Takes an account in, in place of another of its name; what is wrong with it is kept with it.
    private mutating func put(
        _ name: String, from file: String, _ read: () throws(ControlError) -> AccountConfiguration
    ) {
        accounts.removeAll { $0.name == name }
        failures[name] = nil
        origins[name] = file
        do throws(ControlError) {
            accounts.append(try read())
        } catch {
            failures[name] = error
        }
    }

    private mutating func put(_ account: AccountConfiguration, from file: String) {
        put(account.name, from: file) { account }
    }

    private static let knownKeys = ["accounts", "defaultAccount", "notify"]
    private static let accountKeys = AccountConfiguration.knownKeys

    /// Notes the keys of an object that this version does not know.
    private mutating func warn(
        of object: JSONObject, _ known: [String], _ path: [String], in text: [UInt8], _ file: String
    ) {
        for key in object.keys where !known.contains(key) {
            let line = SettingsText.line(of: path + [key], in: text).map { ":\($0)" } ?? ""
            let hint = Suggestion.closest(to: key, among: known).map { "; did you mean \"\($0)\"?" } ?? ""
            warnings.append("\(file)\(line): there is no setting \"\(key)\"\(hint)")
        }
    }

    private static func object(at path: String) throws(ControlError) -> (JSONObject, text: [UInt8])? {
        guard let contents = try PrivateFile.read(path) else { return nil }
        try PrivateFile.requireTrusted(contents, at: path)
        let value: JSONValue
        do {
            value = try JSONReader.read(contents.bytes, as: .json5)
        } catch {
            throw ControlError(.configuration, "\(path): \(error)")
        }
        guard let object = value.objectValue else { throw ControlError(.configuration, "\(path): must be an object") }
        if holdsSecret(object) { try PrivateFile.requireSecret(contents, at: path) }
        return (object, contents.bytes)
    }

    /// Whether the object of a settings file, or of an account's, holds a secret.
    package static func holdsSecret(_ object: JSONObject) -> Bool {
        AccountConfiguration.holdsSecret(object)
            || (object["accounts"]?.objectValue?.entries ?? []).contains { entry in
                entry.value.objectValue.map(AccountConfiguration.holdsSecret) ?? false
            }
    }
}

extension ConfigurationFile {
    /// The account with a name or an address.
    ///
    /// - Throws: `ControlError` with ``ControlErrorCode/accountNotFound``, or with what is wrong with the account.
    package func account(_ name: String) throws(ControlError) -> AccountConfiguration {
        if let account = accounts.first(where: { $0.name == name }) { return account }
        if let failure = failures[name] { throw failure }
        guard let account = accounts.first(where: { $0.jid == name }) else {
            let names = (accounts.map(\.name) + failures.keys).sorted()
            let known = names.isEmpty ? "none is configured" : "there are: " + names.joined(separator: ", ")
            throw ControlError(.accountNotFound, "no account \"\(name)\"; \(known)")
        }
        return account
    }

    /// The account that is meant when none is named: the default, or the only one; `nil` when there is none.
    ///
    /// - Throws: `ControlError` when the default does not exist, or when there are several and no default.
    package func implicitAccount() throws(ControlError) -> AccountConfiguration? {
        if let defaultAccount { return try account(defaultAccount) }
        guard accounts.count + failures.count <= 1 else {
            throw ControlError(
                .configuration,
                "there are several accounts: choose with --account, or run: jabberctl account default NAME")
        }
        if let failure = failures.values.first { throw failure }
        return accounts.first
    }

    /// Whether there is an account of this name, be it one that cannot be used.
    package func has(_ name: String) -> Bool {
        accounts.contains { $0.name == name } || failures[name] != nil
    }

    /// Takes in what other settings say of one account, in place of what these say.
    package mutating func take(_ name: String, from other: ConfigurationFile) {
        accounts.removeAll { $0.name == name }
        accounts += other.accounts.filter { $0.name == name }
        accounts.sort { $0.name < $1.name }
        failures[name] = other.failures[name]
        origins[name] = other.origins[name]
        warnings = other.warnings
    }

    /// Reads settings anew, changes them and writes them, while nobody else does.
    ///
    /// - Parameters:
    ///   - paths: Where the files are.
    ///   - path: A file that stands in place of the user's and the administrator's.
    ///   - isNew: Whether that file is made when it is missing.
    ///   - change: What to do with them.
    /// - Throws: As ``init(paths:path:)``, or what `change` throws.
    package static func change<Result>(
        paths: RuntimePaths, path: String? = nil, isNew: Bool = false,
        _ change: (inout ConfigurationFile) throws(ControlError) -> Result
    ) throws(ControlError) -> Result {
        try PrivateFile.inTurn(at: PrivateFile.folder(of: path ?? paths.configFile)) { () throws(ControlError) in
            if isNew, let path, try PrivateFile.read(path) == nil {
                try PrivateFile.write(Array("{}\n".utf8), to: path)
            }
            var configuration = try ConfigurationFile(paths: paths, path: path)
            return try change(&configuration)
        }
    }

    /// The value of a key of the settings file, or what is in force for it.
    func general(_ key: String) -> JSONValue? {
        key == "defaultAccount" ? defaultAccount.map(JSONValue.string) : root[key]
    }

    /// The file that an account stands in, and the keys that lead to it there.
    ///
    /// - Throws: `ControlError` when that file is the administrator's.
    func place(of name: String) throws(ControlError) -> (file: String, keys: [String]) {
        let file = "\(Self.accountFolder(of: path))/\(name).json"
        if origins[name] == path { return (path, ["accounts", name]) }
        guard origins[name] == file else {
            throw ControlError(.configuration, "account \"\(name)\" is in \(origins[name] ?? "another file")")
        }
        return (file, [])
    }

    /// Writes an account to `accounts/NAME.json`, or into the settings file when it stands there.
    ///
    /// - Throws: `ControlError` when the file cannot be written, or belongs to the administrator's settings.
    package mutating func save(_ account: AccountConfiguration) throws(ControlError) {
        let file = "\(Self.accountFolder(of: path))/\(account.name).json"
        if origins[account.name] == path, let inline = root["accounts"]?.objectValue {
            var inline = inline
            inline[account.name] = .object(account.json)
            try change("accounts", to: .object(inline))
            put(account, from: path)
        } else {
            try PrivateFile.write(
                JSONValue.object(account.json).encodedPretty(), to: file,
                followsLinks: !AccountConfiguration.holdsSecret(account.json))
            put(account, from: file)
        }
        accounts.sort { $0.name < $1.name }
    }

    /// Removes an account from its file.
    ///
    /// - Throws: `ControlError` with ``ControlErrorCode/accountNotFound``, or when the file cannot be written.
    package mutating func remove(_ name: String) throws(ControlError) {
        if !has(name) { _ = try account(name) }
        let (file, keys) = try place(of: name)
        if keys.isEmpty {
            try PrivateFile.remove(file)
        } else {
            var inline = root["accounts"]?.objectValue ?? [:]
            inline[name] = nil
            try change("accounts", to: .object(inline))
        }
        if root.string("defaultAccount") == name { try change("defaultAccount", to: nil) }
        if defaultAccount == name { defaultAccount = nil }
        accounts.removeAll { $0.name == name }
        failures[name] = nil
        origins[name] = nil
    }

    /// Makes an account the default one.
    ///
    /// - Throws: `ControlError` with ``ControlErrorCode/accountNotFound``, or when the file cannot be written.
    package mutating func setDefault(_ name: String) throws(ControlError) {
        let account = try account(name)
        try change("defaultAccount", to: .string(account.name))
        defaultAccount = account.name
    }

    /// Changes one key of the settings file; the rest of its text stays.
    mutating func change(_ key: String, to value: JSONValue?) throws(ControlError) {
        let old = try PrivateFile.read(path)?.bytes ?? []
        try PrivateFile.write(SettingsText.set(key, to: value, in: old), to: path, followsLinks: true)
        root[key] = value
    }
}
