// SPDX-License-Identifier: Apache-2.0

/// The settings: the user's `config.json` over the administrator's, and the accounts in `accounts/NAME.json` beside each.
///
/// The files are JSON5: comments and trailing commas are welcome. Keys: `accounts` (an object of accounts by name),
/// `defaultAccount` (a name). A file that holds a password must belong to the user and be 0600.
package struct ConfigurationFile: Sendable {
    /// The accounts by name, sorted; the user's hide the administrator's of the same name.
    package private(set) var accounts: [AccountConfiguration] = []
    /// The name of the account that is meant when none is named.
    package private(set) var defaultAccount: String?
    /// The file that changes are written to.
    package let path: String

    private var root: JSONObject = [:]
    private var origins: [String: String] = [:]

    /// Reads the settings; missing files are empty ones.
    ///
    /// - Parameters:
    ///   - paths: Where the files are.
    ///   - path: A file that stands in place of the user's and the administrator's (`--config`); it must exist.
    /// - Throws: `ControlError` with ``ControlErrorCode/configuration`` (and line and column), `permissions`, `fileMissing`.
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
        (path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ".") + "/accounts"
    }

    private mutating func load(_ path: String) throws(ControlError) -> JSONObject {
        let object = try Self.object(at: path) ?? [:]
        let reader = ConfigurationReader(object: object, place: path)
        if let name = try reader.string("defaultAccount") { defaultAccount = name }
        if let value = object["accounts"], value != .null {
            guard let inline = value.objectValue else { throw reader.error("\"accounts\" must be an object") }
            for entry in inline.entries {
                guard let account = entry.value.objectValue else {
                    throw reader.error("account \"\(entry.key)\" must be an object")
                }
                put(try AccountConfiguration(name: entry.key, json: account, file: path), from: path)
            }
        }
        let folder = Self.accountFolder(of: path)
        for file in PrivateFile.names(in: folder) where file.hasSuffix(".json") {
            let place = "\(folder)/\(file)"
            let account = try Self.object(at: place) ?? [:]
            put(try AccountConfiguration(name: String(file.dropLast(5)), json: account, file: place), from: place)
        }
        return object
    }

    private mutating func put(_ account: AccountConfiguration, from file: String) {
        accounts.removeAll { $0.name == account.name }
        accounts.append(account)
        origins[account.name] = file
    }

    private static func object(at path: String) throws(ControlError) -> JSONObject? {
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
        return object
    }

    private static func holdsSecret(_ object: JSONObject) -> Bool {
        object["password"] != nil
            || (object["accounts"]?.objectValue?.entries ?? []).contains { $0.value["password"] != nil }
    }
}

extension ConfigurationFile {
    /// The account with a name or an address.
    ///
    /// - Throws: `ControlError` with ``ControlErrorCode/accountNotFound``.
    package func account(_ name: String) throws(ControlError) -> AccountConfiguration {
        guard let account = accounts.first(where: { $0.name == name }) ?? accounts.first(where: { $0.jid == name })
        else {
            let known =
                accounts.isEmpty ? "none is configured" : "there are: " + accounts.map(\.name).joined(separator: ", ")
            throw ControlError(.accountNotFound, "no account \"\(name)\"; \(known)")
        }
        return account
    }

    /// The account that is meant when none is named: the default, or the only one; `nil` when there is none.
    ///
    /// - Throws: `ControlError` when the default does not exist, or when there are several and no default.
    package func implicitAccount() throws(ControlError) -> AccountConfiguration? {
        if let defaultAccount { return try account(defaultAccount) }
        guard accounts.count <= 1 else {
            throw ControlError(
                .configuration,
                "there are several accounts: choose with --account, or run: jabberctl account default NAME")
        }
        return accounts.first
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
            try PrivateFile.write(JSONValue.object(account.json).encodedPretty(), to: file)
            put(account, from: file)
        }
        accounts.sort { $0.name < $1.name }
    }

    /// Removes an account from its file.
    ///
    /// - Throws: `ControlError` with ``ControlErrorCode/accountNotFound``, or when the file cannot be written.
    package mutating func remove(_ name: String) throws(ControlError) {
        _ = try account(name)
        let file = "\(Self.accountFolder(of: path))/\(name).json"
        if origins[name] == path {
            var inline = root["accounts"]?.objectValue ?? [:]
            inline[name] = nil
            try change("accounts", to: .object(inline))
        } else {
            guard origins[name] == file else {
                throw ControlError(.configuration, "account \"\(name)\" is in \(origins[name] ?? "another file")")
            }
            try PrivateFile.remove(file)
        }
        if root.string("defaultAccount") == name { try change("defaultAccount", to: nil) }
        if defaultAccount == name { defaultAccount = nil }
        accounts.removeAll { $0.name == name }
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
    private mutating func change(_ key: String, to value: JSONValue?) throws(ControlError) {
        let old = try PrivateFile.read(path)?.bytes ?? []
        try PrivateFile.write(SettingsText.set(key, to: value, in: old), to: path)
        root[key] = value
    }
}
