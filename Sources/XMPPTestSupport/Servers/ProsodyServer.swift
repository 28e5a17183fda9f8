// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore

/// Starts Prosody for ``ServerKind``.
enum ProsodyServer {
    /// Where the program is; `nil` when it is not installed.
    static var program: String? { ServerSite.find("/usr/bin/prosody", "/usr/local/bin/prosody") }

    /// Starts it in the foreground.
    ///
    /// - Parameters:
    ///   - site: What it needs.
    ///   - root: The root of the Debian that it is in; `nil` for this one.
    static func launch(_ site: ServerSite, root: String? = nil) throws(TestSupportError) -> ServerProcess {
        guard root != nil || program != nil else { throw TestSupportError("prosody is not installed") }
        let newer = ["sasl2", "sasl2_bind2", "sasl2_sm", "sasl2_fast"].map { ", \"\($0)\"" }.joined()
        let tokens = site.proof == .accessToken ? ", \"test_tokens\"" : ""
        let registering = ["register_ibr", "user_account_management", "invites", "invites_adhoc", "invites_register"]
        let more = site.registration == .closed ? "" : registering.map { ", \"\($0)\"" }.joined()
        let text = configuration(site, modules: (root == nil ? "" : newer) + tokens + more)
        if site.proof == .accessToken {
            try site.folder.makeFolder("plugins")
            try site.folder.makeFolder("tokens")
            try site.folder.write(tokenModule, to: "plugins/mod_test_tokens.lua")
        }
        let configuration = try site.folder.write(
            root.map { text.replacing($0, with: "") } ?? text, to: "prosody.cfg.lua")
        try site.folder.makeFolder("data")
        let host = "data/\(encode(site.domain.domainpart))"
        try site.folder.makeFolder(host)
        try site.folder.makeFolder("\(host)/accounts")
        try site.folder.makeFolder("\(host)/roster")
        for (name, password) in site.accounts {
            try site.folder.write(
                "return { [\"password\"] = \"\(password)\" };\n", to: "\(host)/accounts/\(encode(name)).dat")
            if site.areFriends {
                try site.folder.write(roster(of: name, site), to: "\(host)/roster/\(encode(name)).dat")
            }
        }
        if let root {
            return try ServerProcess(
                "/usr/sbin/chroot",
                [root, "/usr/bin/prosody", "-F", "--config", configuration.replacing(root, with: "")],
                logFile: site.folder.file("server.log"))
        }
        return try ServerProcess(
            program ?? "", ["-F", "--config", configuration], logFile: site.folder.file("server.log"))
    }

    /// Prosody's way of putting a name into a file name.
    private static func encode(_ name: String) -> String {
        let digits = Array("0123456789abcdef")
        return name.utf8.reduce(into: "") { result, byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"):
                result.append(Character(Unicode.Scalar(byte)))
            default:
                result += "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
            }
        }
    }

    private static func roster(of name: String, _ site: ServerSite) -> String {
        let others = site.accounts.keys.filter { $0 != name }.sorted()
        let items = others.map { other in
            "  [\"\(other)@\(site.domain)\"] = { [\"subscription\"] = \"both\"; [\"groups\"] = {}; };\n"
        }
        return "return {\n\(items.joined())};\n"
    }

    /// A module that makes an access token for each account, which no command of Prosody does.
    private static let tokenModule = """
        local tokens = module:depends("tokenauth");
        local folder = module:get_option_string("test_token_folder");
        for _, name in ipairs(module:get_option_array("test_token_accounts")) do
            local jid = name .. "@" .. module.host;
            local grant = assert(tokens.create_grant(jid, jid, 3600, {}));
            local token = assert(tokens.create_token(jid, grant, nil, 3600, "oauth2"));
            local file = assert(io.open(folder .. "/" .. name, "w"));
            file:write(token);
            file:close();
        end
        """

    /// What beside the usual settings it takes for accounts to prove themselves by something else than their passwords.
    private static func settings(for proof: ServerKind.Proof, _ site: ServerSite) -> String {
        switch proof {
        case .password: "authentication = \"internal_plain\""
        case .certificate:
            """
            authentication = "ccert"
            certificate_match = "xmppaddr"
            """
        case .accessToken:
            """
            authentication = "internal_hashed"
            plugin_paths = { "\(site.folder.file("plugins"))" }
            test_token_folder = "\(site.folder.file("tokens"))"
            test_token_accounts = { \(site.accounts.keys.sorted().map { "\"\($0)\"" }.joined(separator: ", ")) }
            """
        }
    }

    private static func configuration(_ site: ServerSite, modules: String) -> String {
        let ofClients =
            site.proof == .certificate ? ", cafile = \"\(site.certificateAuthorityFile)\", verify = { \"peer\" }" : ""
        return """
            run_as_root = true
            daemonize = false
            pidfile = "\(site.folder.file("prosody.pid"))"
            data_path = "\(site.folder.file("data"))"
            certificates = "\(site.folder.file("certificates"))"
            interfaces = { "127.0.0.1" }
            c2s_ports = { \(site.port) }
            c2s_direct_tls_ports = { \(site.directTLSPort) }
            http_ports = { }
            https_ports = { \(site.webSocketPort) }
            https_interfaces = { "127.0.0.1" }
            https_ssl = { certificate = "\(site.certificateFile)", key = "\(site.keyFile)" }
            http_default_host = "\(site.domain)"
            c2s_require_encryption = true
            \(settings(for: site.proof, site))
            modules_enabled = {
                "roster", "saslauth", "tls", "disco", "ping", "offline", "version", "time", "smacks", "carbons", "mam",
                "csi_simple", "blocklist", "pep", "vcard4", "vcard_legacy", "lastactivity", "uptime",
                "websocket"\(modules)
            }
            modules_disabled = { "s2s" }
            archive_expires_after = "never"
            allow_registration = true
            registration_invite_only = false
            admins = { \(site.accounts.keys.min().map { "\"\($0)@\(site.domain)\"" } ?? "") }
            log = { info = "*console" }
            c2s_direct_tls_ssl = { certificate = "\(site.certificateFile)", key = "\(site.keyFile)"\(ofClients) }
            VirtualHost "\(site.domain)"
                ssl = {
                    certificate = "\(site.certificateFile)", key = "\(site.keyFile)"\(ofClients),
                    -- Sessions of TLS can be resumed, which Prosody does without unless told.
                    options = { no_ticket = false }
                }
            Component "rooms.\(site.domain)" "muc"
                ssl = { certificate = "\(site.certificateFile)", key = "\(site.keyFile)" }
                modules_enabled = { "muc_mam" }
            """ + "\n"
    }
}
