// SPDX-License-Identifier: Apache-2.0

/// Which session a request is for: the object under `session` of its parameters, made of the global options.
///
/// | key | meaning |
/// | --- | --- |
/// | `account` | name or address of a configured account |
/// | `jid` | an address without an account, or one whose other settings are taken from the account with that address |
/// | `host`, `port`, `tls`, `proxy`, `hostMeta`, `ca`, `trust`, `pin` | override the account's |
/// | `config` | the settings file in place of the usual ones |
package struct SessionSelection: Hashable, Sendable {
    /// Name or address of a configured account.
    package var account: String?
    /// The address to log in as.
    package var jid: String?
    /// Overrides ``AccountConfiguration/host``.
    package var host: String?
    /// Overrides ``AccountConfiguration/port``.
    package var port: Int?
    /// Overrides ``AccountConfiguration/tls``.
    package var tls: AccountConfiguration.TLSMode?
    /// Overrides ``AccountConfiguration/proxy``.
    package var proxy: String?
    /// Overrides ``AccountConfiguration/hostMeta``.
    package var hostMeta: AccountConfiguration.HostMeta?
    /// Overrides ``AccountConfiguration/ca``.
    package var ca: String?
    /// Overrides ``AccountConfiguration/trust``.
    package var trust: AccountConfiguration.Trust?
    /// Overrides ``AccountConfiguration/pins``; without ``trust`` the server is known by its key then.
    package var pins: [String]?
    /// The settings file in place of the usual ones.
    package var config: String?

    /// Makes a selection of the default account.
    package init() {}

    /// Reads the object under `session`; an absent one selects the default account.
    ///
    /// - Throws: `ControlError` with ``ControlErrorCode/badParameters``.
    package init(params: JSONObject) throws(ControlError) {
        guard let value = params["session"], value != .null else { return }
        guard let object = value.objectValue else {
            throw ControlError(.badParameters, "\"session\" must be an object")
        }
        let reader = ConfigurationReader(object: object, place: "session")
        do throws(ControlError) {
            account = try reader.string("account")
            jid = try reader.string("jid")
            host = try reader.string("host")
            port = try reader.int("port", in: 1...65535)
            proxy = try reader.string("proxy")
            if let proxy, ProxyAddress(proxy) == nil { throw reader.error("\"proxy\" is no address of a proxy") }
            ca = try reader.string("ca")
            config = try reader.string("config")
            tls = try reader.word("tls")
            hostMeta = try reader.word("hostMeta")
            trust = try reader.word("trust")
            pins = try reader.pins("pin")
        } catch {
            throw ControlError(.badParameters, error.message)
        }
    }

    /// The object under `session`; empty when the default account is meant.
    package var json: JSONObject {
        JSONObject(present: [
            "account": account.map(JSONValue.string), "jid": jid.map(JSONValue.string),
            "host": host.map(JSONValue.string), "port": port.map { .integer(Int64($0)) },
            "tls": tls.map { .string($0.rawValue) }, "proxy": proxy.map(JSONValue.string),
            "hostMeta": hostMeta.map { .string($0.rawValue) }, "ca": ca.map(JSONValue.string),
            "trust": trust.map { .string($0.rawValue) }, "pin": pins.map { .strings($0) },
            "config": config.map(JSONValue.string),
        ])
    }

    /// Whether it brings settings of its own, in place of the account's.
    package var bringsSettings: Bool {
        host != nil || port != nil || tls != nil || proxy != nil || hostMeta != nil || ca != nil || trust != nil
            || pins != nil || config != nil
    }

    /// The account of some settings that this names by its name or address, or the one that is meant when it names
    /// none; `nil` when there is none at all. Nothing is overridden.
    ///
    /// - Throws: `ControlError` as ``ConfigurationFile/account(_:)`` and ``ConfigurationFile/implicitAccount()``.
    package func account(of configuration: ConfigurationFile) throws(ControlError) -> AccountConfiguration? {
        if let wanted = account ?? jid { return try configuration.account(wanted) }
        return try configuration.implicitAccount()
    }

    /// The account that this selects, with the overrides put in.
    ///
    /// With `jid` and without `account` no settings are needed; a configured account with that address is used when
    /// there is one. The JID itself is not checked here.
    ///
    /// - Throws: `ControlError`: `accountNotFound`, `configuration`, `permissions`, `fileMissing`.
    package func resolve(paths: RuntimePaths) throws(ControlError) -> AccountConfiguration {
        let configuration = try ConfigurationFile(paths: paths, path: config)
        var resolved: AccountConfiguration
        if let account {
            resolved = try configuration.account(account)
            if let jid { resolved.jid = jid }
        } else if let jid {
            if let failure = configuration.failures[jid] { throw failure }
            resolved =
                configuration.accounts.first { $0.jid == jid } ?? AccountConfiguration(name: jid, jid: jid)
        } else if let implicit = try configuration.implicitAccount() {
            resolved = implicit
        } else {
            throw ControlError(
                .configuration,
                "no account is configured; run: jabberctl account add you@example.org (or give --jid)")
        }
        override(&resolved)
        return resolved
    }

    /// Puts the overrides in the place of an account's own settings.
    package func override(_ account: inout AccountConfiguration) {
        if let host { account.move(to: host) }
        if let port { account.port = port }
        if let tls { account.tls = tls }
        if let proxy { account.move(through: proxy) }
        if let hostMeta { account.hostMeta = hostMeta }
        if let ca { account.ca = ca }
        if let pins { (account.pins, account.trust) = (pins, .pin) }
        if let trust { account.trust = trust }
    }
}
