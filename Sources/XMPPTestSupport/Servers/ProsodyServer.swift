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
        let text = configuration(site, modules: root == nil ? "" : newer)
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

    private static func configuration(_ site: ServerSite, modules: String) -> String {
        """
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
        authentication = "internal_plain"
        modules_enabled = {
            "roster", "saslauth", "tls", "disco", "ping", "offline", "version", "time", "smacks", "carbons", "mam",
            "csi_simple", "blocklist", "pep", "vcard4", "vcard_legacy", "lastactivity", "uptime",
            "websocket"\(modules)
        }
        modules_disabled = { "s2s" }
        archive_expires_after = "never"
        log = { info = "*console" }
        c2s_direct_tls_ssl = { certificate = "\(site.certificateFile)", key = "\(site.keyFile)" }
        VirtualHost "\(site.domain)"
            ssl = {
                certificate = "\(site.certificateFile)", key = "\(site.keyFile)",
                -- Sessions of TLS can be resumed, which Prosody does without unless told.
                options = { no_ticket = false }
            }
        Component "rooms.\(site.domain)" "muc"
            ssl = { certificate = "\(site.certificateFile)", key = "\(site.keyFile)" }
            modules_enabled = { "muc_mam" }
        """ + "\n"
    }
}
