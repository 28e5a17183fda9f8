// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import XMPPCore

/// Starts ejabberd for ``ServerKind``: the Erlang virtual machine itself, without the package's control script.
///
/// The node has no name, so neither a port mapper (epmd) nor a cookie is needed, and nothing of it outlives the
/// process.
enum EjabberdServer {
    /// Where Erlang is; `nil` when it is not installed.
    static var program: String? { ServerSite.find("/usr/bin/erl", "/usr/local/bin/erl") }

    /// The folder that has ejabberd's and its libraries' folders.
    static var libraries: String? { libraries(in: "") }

    /// The same in another root of the file system; `nil` when they are not there.
    static func libraries(in root: String) -> String? {
        let library = "\(root)/usr/lib"
        let candidates = FileProbe.entries(of: library).filter { $0.hasSuffix("-linux-gnu") } + [library]
        return candidates.first { FileProbe.entry(of: $0, beginning: "ejabberd-") != nil }
    }

    /// Starts it in the foreground; the accounts are made by the same process, once it is up.
    ///
    /// - Parameters:
    ///   - site: What it needs.
    ///   - root: The root of the Debian that it is in; `nil` for this one.
    static func launch(_ site: ServerSite, root: String? = nil) throws(TestSupportError) -> ServerProcess {
        guard let program = root == nil ? program : "/usr/bin/erl", let libraries = libraries(in: root ?? "") else {
            throw TestSupportError("ejabberd is not installed")
        }
        /// A path as the server sees it.
        func inside(_ path: String) -> String { root.map { path.replacing($0, with: "") } ?? path }
        if site.registration == .riddle {
            // What a picture is to show is written down beside it, and the picture is no more than its first bytes.
            let script = """
                #!/bin/sh
                printf '%s' "$1" > '\(site.folder.file("riddle"))'
                printf '\\211PNG\\r\\n\\032\\n'
                """
            let path = try site.folder.write(inside(script) + "\n", to: "picture")
            chmod(path, 0o700)
        }
        let configuration = try site.folder.write(
            inside(configuration(site, isNewer: root != nil)), to: "ejabberd.yml")
        let data = inside(try site.folder.makeFolder("data"))
        // What its database writes when it dies while starting would else be left in the folder of whoever runs the
        // test.
        let database = ["-mnesia", "dir", "\"\(data)\"", "-mnesia", "core_dir", "\"\(data)\""]
        let arguments = ["-noinput"] + database + ["-s", "ejabberd", "-eval", accounts(site)]
        return try ServerProcess(
            root == nil ? program : "/usr/sbin/chroot", (root.map { [$0, program] } ?? []) + arguments,
            environment: [
                "EJABBERD_CONFIG_PATH": inside(configuration),
                "EJABBERD_LOG_PATH": inside(site.folder.file("ejabberd.log")),
                "ERL_CRASH_DUMP": inside(site.folder.file("erl_crash.dump")),
                "ERL_CRASH_DUMP_BYTES": "0",
                "ERL_LIBS": inside(libraries),
                "HOME": inside(site.folder.path),
            ],
            logFile: site.folder.file("server.log"))
    }

    /// Erlang that registers the accounts and fills their rosters.
    private static func accounts(_ site: ServerSite) -> String {
        let domain = "<<\"\(site.domain)\">>"
        var steps = site.accounts.sorted { $0.key < $1.key }.map { name, password in
            "ok = ejabberd_auth:try_register(<<\"\(name)\">>, \(domain), <<\"\(password)\">>)"
        }
        for name in site.accounts.keys.sorted() where site.areFriends {
            for other in site.accounts.keys.sorted() where other != name {
                steps.append(
                    "ok = mod_admin_extra:add_rosteritem(<<\"\(name)\">>, \(domain), <<\"\(other)\">>, \(domain),"
                        + " <<>>, <<>>, <<\"both\">>)")
            }
        }
        return steps.joined(separator: ", ") + (steps.isEmpty ? "ok." : ".")
    }

    private static func configuration(_ site: ServerSite, isNewer: Bool) -> String {
        let plain = plainConfiguration(site, isNewer: isNewer)
        guard site.registration != .closed else { return plain }
        let riddle = site.registration == .riddle
        let options =
            riddle
            ? "captcha_cmd: \"\(site.folder.file("picture"))\"\ncaptcha_limit: infinity\ncaptcha_url: \"https://\(site.domain)/captcha\"\n"
            : ""
        let registering = "  mod_register: {ip_access: all, access: all, captcha_protected: \(riddle)}\n"
        return options + "registration_timeout: infinity\n" + plain + registering
    }

    private static func plainConfiguration(_ site: ServerSite, isNewer: Bool) -> String {
        let asksForCertificates = site.proof == .certificate
        let tls = asksForCertificates ? ", tls_verify: true" : ""
        // Whom clients are vouched for by; `ca_file` is for the server's own chain alone.
        let clients = asksForCertificates ? "c2s_cafile: \"\(site.certificateAuthorityFile)\"" : ""
        return """
            hosts: ["\(site.domain)"]
            loglevel: warning
            certfiles: ["\(site.certificateFile)", "\(site.keyFile)"]
            ca_file: "\(site.certificateAuthorityFile)"
            \(clients)
            auth_method: internal
            auth_password_format: scram
            disable_sasl_mechanisms: ["X-OAUTH2"]
            listen:
              - {port: \(site.port), ip: "127.0.0.1", module: ejabberd_c2s, starttls_required: true, access: all\(tls)}
              - {port: \(site.directTLSPort), ip: "127.0.0.1", module: ejabberd_c2s, tls: true, access: all\(tls)}
              - port: \(site.webSocketPort)
                ip: "127.0.0.1"
                module: ejabberd_http
                tls: true
                request_handlers: {"\(ServerSite.webSocketPath)": ejabberd_http_ws}
            s2s_access: none
            modules:
              mod_adhoc: {}
              mod_blocking: {}
              mod_caps: {}
              mod_carboncopy: {}
              mod_client_state: {}
              mod_disco: {}
              mod_last: {}
              mod_mam: {default: always}
              mod_muc: {hosts: ["rooms.@HOST@"], default_room_options: {mam: true}}
              mod_offline: {}
              mod_ping: {}
              mod_privacy: {}
              mod_pubsub: {plugins: ["flat", "pep"]}
              mod_roster: {versioning: true}
              mod_stream_mgmt: {resend_on_timeout: true}
              mod_time: {}
              mod_vcard: {}
              mod_version: {}
            \(isNewer ? "  mod_auth_fast: {}" : "")
            """ + "\n"
    }
}
