// SPDX-License-Identifier: Apache-2.0

/// One key of the settings: what its value is, for `config get` and `config set`, and for the manual.
package struct SettingSpec: Hashable, Sendable {
    /// What kind of value a key has.
    package enum Kind: Hashable, Sendable {
        /// Any text.
        case text
        /// A whole number in a range.
        case whole(ClosedRange<Int>)
        /// True or false.
        case flag
        /// One of some words.
        case choice([String])
        /// A program and its arguments: a line that is cut into words without a shell, or a list of words.
        case command
        /// A text or a list of texts.
        case list
    }

    /// The key.
    package let key: String
    /// The kind of its value.
    package let kind: Kind
    /// Whether the value is a secret, which is neither shown nor taken from the command line.
    package let isSecret: Bool
    /// What it says, without a full stop.
    package let summary: String

    private init(_ key: String, secret isSecret: Bool = false, _ summary: String) {
        self.init(key, .text, secret: isSecret, summary)
    }

    private init(_ key: String, _ kind: Kind, secret isSecret: Bool = false, _ summary: String) {
        self.key = key
        self.kind = kind
        self.isSecret = isSecret
        self.summary = summary
    }

    /// The keys of `config.json`, without `accounts`.
    package static let general = [
        SettingSpec("defaultAccount", "the name of the account that is meant when none is named"),
        SettingSpec(
            "notify", .flag,
            "whether a daemon that stays shows messages that come on the desktop, by org.freedesktop.Notifications; false "
                + "without it"),
    ]

    /// The keys of an account: those of ``AccountConfiguration/knownKeys``, in their order.
    package static let account = [
        SettingSpec("jid", "the address of the account; the one key that must be there"),
        SettingSpec("host", "connect to this host, or this WebSocket (wss://…), instead of what DNS says"),
        SettingSpec("port", .whole(1...65535), "port of host; 5222, or 5223 where tls is direct"),
        SettingSpec("tls", .choice(["direct", "starttls"]), "how host is secured"),
        SettingSpec(
            "proxy",
            "connect through this proxy, socks5://HOST:PORT or http://HOST:PORT; it may hold a name and a password"),
        SettingSpec("proxyPasswordCommand", .command, "prints the password for proxy"),
        SettingSpec(
            "hostMeta", .choice(["ask", "never"]),
            "whether the domain is asked over HTTPS for other places when none that DNS names can be reached; ask without it"
        ),
        SettingSpec("ca", "a PEM file of trust anchors, in place of the system's"),
        SettingSpec(
            "trust", .choice(["pkix", "dane", "pin"]),
            "what the server has to show: a certificate of an authority's, what signed TLSA records say, or a key of pin"
        ),
        SettingSpec("pin", .list, "SHA-256 of keys that the server may have, in hexadecimal digits"),
        SettingSpec("resource", "the resource to ask for; without it the server chooses"),
        SettingSpec("priority", .whole(-128...127), "priority of presence; 0 without it"),
        SettingSpec("allowPlain", .flag, "whether it may log in more weakly than earlier logins did"),
        SettingSpec("passwordCommand", .command, "prints the password"),
        SettingSpec("password", secret: true, "the password"),
        SettingSpec("certificate", "the file of a client certificate: PEM, or PKCS #12 with its key in it"),
        SettingSpec("key", "the PEM file of its private key, where certificate does not hold it"),
        SettingSpec("certificatePasswordCommand", .command, "prints the password of certificate in PKCS #12"),
        SettingSpec("certificatePassword", secret: true, "that password itself"),
        SettingSpec("accessTokenCommand", .command, "prints an access token (OAUTHBEARER); asked at each login"),
        SettingSpec("accessToken", secret: true, "the access token itself"),
    ]

    /// The value that a word of the command line means.
    ///
    /// - Throws: `ControlError` with ``ControlErrorCode/badData`` when it means none, or
    ///   ``ControlErrorCode/usage`` for a secret.
    package func value(of word: String) throws(ControlError) -> JSONValue {
        guard !isSecret else {
            throw ControlError(
                .usage,
                "other programs can see what stands in a command; for a secret use account passwd or config edit")
        }
        switch kind {
        case .text: return .string(word)
        case .whole(let range):
            guard let number = Int(word), range.contains(number) else {
                throw wrong("a whole number from \(range.lowerBound) to \(range.upperBound)")
            }
            return .integer(Int64(number))
        case .flag:
            guard let flag = Bool(word) else { throw wrong("true or false") }
            return .bool(flag)
        case .choice(let words):
            guard words.contains(word) else { throw wrong(words.joined(separator: " or ")) }
            return .string(word)
        case .command: return .strings(try CommandWords.split(word))
        case .list: return .strings(word.split(separator: ",").map(String.init))
        }
    }

    private func wrong(_ what: String) -> ControlError {
        ControlError(.badData, "\"\(key)\" must be \(what)")
    }

    /// The kind in words.
    package var kindText: String {
        switch kind {
        case .text: "text"
        case .whole(let range): "\(range.lowerBound) to \(range.upperBound)"
        case .flag: "true or false"
        case .choice(let words): words.joined(separator: ", ")
        case .command: "command"
        case .list: "text or list"
        }
    }
}
