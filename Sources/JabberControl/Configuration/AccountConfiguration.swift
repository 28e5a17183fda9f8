// SPDX-License-Identifier: Apache-2.0

/// One account of the configuration. The keys of its JSON object are the names of these properties; unknown keys are
/// kept.
package struct AccountConfiguration: Hashable, Sendable {
    /// How the connection is secured.
    package enum TLSMode: String, Hashable, Sendable, CaseIterable {
        /// TLS from the first byte (XEP-0368).
        case direct
        /// An upgrade after the stream has opened (RFC 6120 §5).
        case starttls
    }

    /// Whether a domain is asked over HTTPS where else its server is.
    package enum HostMeta: String, Hashable, Sendable, CaseIterable {
        /// When no place that DNS names can be reached (XEP-0487, XEP-0156).
        case ask
        /// Never: DNS alone says where to connect to.
        case never
    }

    /// What a server has to show.
    package enum Trust: String, Hashable, Sendable, CaseIterable {
        /// A certificate that an authority vouches for (RFC 5280).
        case pkix
        /// What signed TLSA records say where there are some, else as ``pkix`` (RFC 7673).
        case dane
        /// A key that ``AccountConfiguration/pins`` names, and nothing else.
        case pin
    }

    /// The keys that this version knows, in the order in which they are written.
    package static let knownKeys = [
        "jid", "host", "port", "tls", "proxy", "proxyPasswordCommand", "hostMeta", "ca", "trust", "pin", "resource",
        "priority", "allowPlain", "passwordCommand", "password", "certificate", "key", "certificatePasswordCommand",
        "certificatePassword", "accessTokenCommand", "accessToken",
    ]

    /// The account's name in commands and files: letters, digits, `.`, `-`, `_`, `@`.
    package var name: String
    /// The account's address.
    package var jid: String
    /// The host to connect to instead of what DNS says for the domain.
    package var host: String?
    /// The port at ``host``; 5222 when absent, or 5223 with ``TLSMode/direct``.
    package var port: Int?
    /// How the connection is secured; absent: what SRV says, STARTTLS for an override.
    package var tls: TLSMode?
    /// The address of the proxy to connect through, as ``ProxyAddress`` reads it; it may hold a password.
    package private(set) var proxy: String?
    /// A program and its arguments whose first line of output is the password for ``proxy``.
    package var proxyPasswordCommand: [String]?
    /// Whether the domain is asked over HTTPS where else its server is; absent: it is.
    package var hostMeta: HostMeta?
    /// A PEM file of trust anchors in place of the system's.
    package var ca: String?
    /// What the server has to show; absent: a key of ``pins`` where there is one, else what an authority vouches for.
    package var trust: Trust?
    /// SHA-256 of the keys that the server may have, 64 hexadecimal digits each; the key `pin` of the object.
    package var pins: [String]
    /// The resource to ask for; absent: the server chooses.
    package var resource: String?
    /// The presence priority, -128 to 127; absent: 0.
    package var priority: Int?
    /// Whether the account may log in more weakly than before: with PLAIN after SCRAM, without channel binding after
    /// SCRAM with it.
    package var allowPlain: Bool
    /// A program and its arguments whose first line of output is the password. No shell is involved.
    package var passwordCommand: [String]?
    /// The password itself.
    package var password: String?
    /// The file of a client certificate (SASL EXTERNAL): PEM, or PKCS #12 with its key in it.
    package var certificate: String?
    /// The file of its private key in PEM; absent: ``certificate`` holds it.
    package var key: String?
    /// A program and its arguments whose first line of output is the password of ``certificate`` in PKCS #12.
    package var certificatePasswordCommand: [String]?
    /// That password itself.
    package var certificatePassword: String?
    /// A program and its arguments whose first line of output is an access token (SASL OAUTHBEARER); asked at each
    /// login.
    package var accessTokenCommand: [String]?
    /// The access token itself.
    package var accessToken: String?
    /// Keys of later versions, kept when the file is written again.
    package var unknown: JSONObject

    /// Makes an account with nothing but its name and address.
    package init(name: String, jid: String) {
        self.name = name
        self.jid = jid
        pins = []
        allowPlain = false
        unknown = [:]
    }

    /// Puts another host in the place of the present one. The address of a WebSocket says it all: port and kind of TLS,
    /// which were those of the host before, go.
    package mutating func move(to host: String?) {
        self.host = host
        guard isOverWebSocket else { return }
        port = nil
        tls = nil
    }

    /// Puts another proxy in the place of the present one; the password of that one goes with it.
    package mutating func move(through proxy: String?) {
        self.proxy = proxy
        proxyPasswordCommand = nil
    }

    /// Whether the object of an account holds a secret, so that its file must be the owner's alone.
    package static func holdsSecret(_ object: JSONObject) -> Bool {
        if ["password", "certificatePassword", "accessToken"].contains(where: { object[$0] != nil }) { return true }
        guard let proxy = object["proxy"]?.stringValue else { return false }
        // What cannot be read may be meant to be one.
        return ProxyAddress(proxy).map { $0.password != nil } ?? proxy.utf8.contains(UInt8(ascii: "@"))
    }

    /// Whether the account has something else than a password to log in with.
    package var hasOtherProof: Bool { certificate != nil || accessTokenCommand != nil || accessToken != nil }

    /// Puts another certificate in the place of the present one; its key and its password go with that one.
    package mutating func show(certificate: String?) {
        self.certificate = certificate
        key = nil
        certificatePasswordCommand = nil
        certificatePassword = nil
    }

    /// Whether ``host`` is the address of a WebSocket, beside which ``port`` and ``tls`` have no place.
    package var isOverWebSocket: Bool { host?.contains("://") == true }

    /// Whether the server is known by its key.
    package var isKnownByKey: Bool { trust.map { $0 == .pin } ?? !pins.isEmpty }

    /// Whether a name can be that of an account, and so of a file.
    package static func isName(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.count <= 200 && name.utf8.first != UInt8(ascii: ".")
            && name.unicodeScalars.allSatisfy { scalar in
                scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
                    || "._@+-".unicodeScalars.contains(scalar)
            }
    }

    /// Reads the object of an account.
    ///
    /// - Throws: `ControlError` with ``ControlErrorCode/configuration`` and the key that is wrong.
    package init(name: String, json object: JSONObject, file: String) throws(ControlError) {
        guard Self.isName(name) else { throw ControlError(.configuration, "\(file): \"\(name)\" is no account name") }
        let reader = ConfigurationReader(object: object, place: "\(file): account \"\(name)\"")
        guard let jid = try reader.string("jid"), !jid.isEmpty else { throw reader.error("\"jid\" is missing") }
        self.init(name: name, jid: jid)
        host = try reader.string("host")
        port = try reader.int("port", in: 1...65535)
        tls = try reader.word("tls")
        proxy = try reader.string("proxy")
        if let proxy, ProxyAddress(proxy) == nil {
            // Its text may hold a password.
            throw reader.error(
                "\"proxy\" must be like socks5://127.0.0.1:9050 or http://user:password@proxy.example:8080")
        }
        proxyPasswordCommand = try reader.command("proxyPasswordCommand")
        hostMeta = try reader.word("hostMeta")
        ca = try reader.string("ca")
        trust = try reader.word("trust")
        pins = try reader.pins("pin") ?? []
        resource = try reader.string("resource")
        priority = try reader.int("priority", in: -128...127)
        allowPlain = try reader.bool("allowPlain") ?? false
        password = try reader.string("password")
        passwordCommand = try reader.command("passwordCommand")
        certificate = try reader.string("certificate")
        key = try reader.string("key")
        guard key == nil || certificate != nil else { throw reader.error("\"key\" needs \"certificate\" beside it") }
        certificatePasswordCommand = try reader.command("certificatePasswordCommand")
        certificatePassword = try reader.string("certificatePassword")
        accessTokenCommand = try reader.command("accessTokenCommand")
        accessToken = try reader.string("accessToken")
        for entry in object.entries where !Self.knownKeys.contains(entry.key) { unknown[entry.key] = entry.value }
    }

    /// The object as it is written to a file.
    package var json: JSONObject {
        var object = JSONObject(present: [
            "jid": .string(jid), "host": host.map(JSONValue.string), "port": port.map { .integer(Int64($0)) },
            "tls": tls.map { .string($0.rawValue) }, "proxy": proxy.map(JSONValue.string),
            "proxyPasswordCommand": proxyPasswordCommand.map { .strings($0) },
            "hostMeta": hostMeta.map { .string($0.rawValue) }, "ca": ca.map(JSONValue.string),
            "trust": trust.map { .string($0.rawValue) }, "pin": pins.isEmpty ? nil : .strings(pins),
            "resource": resource.map(JSONValue.string), "priority": priority.map { .integer(Int64($0)) },
            "allowPlain": allowPlain ? true : nil, "passwordCommand": passwordCommand.map { .strings($0) },
            "password": password.map(JSONValue.string), "certificate": certificate.map(JSONValue.string),
            "key": key.map(JSONValue.string),
            "certificatePasswordCommand": certificatePasswordCommand.map { .strings($0) },
            "certificatePassword": certificatePassword.map(JSONValue.string),
            "accessTokenCommand": accessTokenCommand.map { .strings($0) },
            "accessToken": accessToken.map(JSONValue.string),
        ])
        for entry in unknown.entries { object[entry.key] = entry.value }
        return object
    }

    /// The object as it may be shown: where the password comes from, never the password.
    package var publicJSON: JSONObject {
        var object: JSONObject = ["name": .string(name)]
        let hidden: Set = [
            "password", "passwordCommand", "proxyPasswordCommand", "certificatePassword", "certificatePasswordCommand",
            "accessToken", "accessTokenCommand",
        ]
        for entry in json.entries where !hidden.contains(entry.key) && Self.knownKeys.contains(entry.key) {
            object[entry.key] = entry.value
        }
        if let proxy { object["proxy"] = .string(ProxyAddress(proxy)?.publicText ?? "") }
        object["passwordSource"] = .string(
            passwordCommand != nil ? "command" : password != nil ? "configuration" : "none")
        if accessTokenCommand != nil || accessToken != nil {
            object["tokenSource"] = accessTokenCommand != nil ? "command" : "configuration"
        }
        return object
    }
}
