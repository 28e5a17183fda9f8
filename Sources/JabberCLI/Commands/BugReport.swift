// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import JabberControl

/// `bugreport`: what helps to understand a fault, without secrets. It asks nobody but the running daemon.
struct BugReport {
    /// How many of the last lines of the daemon's log are in it; 200.
    static let maximumLogLines = 200
    /// What stands where a secret stood.
    static let mark = "[removed]"

    private let context: CommandContext

    /// Writes the report.
    static func run(_ context: CommandContext) async throws(ControlError) -> ExitCode {
        let report = BugReport(context: context)
        let document = report.redacted(.object(await report.document()))
        let text =
            context.options.form == .json || context.options.form == .jsonl
            ? document.encoded() + [UInt8(ascii: "\n")] : document.encodedPretty()
        if let file = context.line.value("file") {
            let path = context.environment.absolute(file)
            guard !PrivateFile.exists(path) else {
                throw ControlError(.inputOutput, "\(path) is there already")
            }
            try PrivateFile.write(text, to: path)
            context.output.note("the report is in \(path); look at it before you send it: addresses are in it")
        } else {
            try context.output.write(String(decoding: text, as: UTF8.self))
        }
        return .done
    }

    private func document() async -> JSONObject {
        let environment = context.environment
        var report: JSONObject = [
            "api": 1, "jabberctl": .string(ProductVersion.current), "system": .object(Self.system()),
            "environment": .object(variables()),
        ]
        let configured = Result { () throws(ControlError) in
            try ConfigurationFile(paths: environment.paths, path: context.options.session.config)
        }
        switch configured {
        case .success(let configuration): report["settings"] = .object(Self.settings(configuration))
        case .failure(let error): report["settings"] = ["error": .object(error.json)]
        }
        report["daemon"] = .object(await daemon())
        if var log = (try? LogFile(environment.paths.daemonLog)) ?? nil,
            let lines = try? log.last(Self.maximumLogLines)
        {
            report["log"] = .strings(lines)
        }
        return report
    }

    private static func settings(_ configuration: ConfigurationFile) -> JSONObject {
        JSONObject(present: [
            "default": configuration.defaultAccount.map(JSONValue.string),
            "accounts": .array(configuration.accounts.map { .object($0.publicJSON) }),
            "failures": .array(
                configuration.failures.sorted { $0.key < $1.key }.map { name, error in
                    ["account": .string(name), "error": .object(error.json)]
                }),
            "warnings": .strings(configuration.warnings),
        ])
    }

    private static func system() -> JSONObject {
        var names = utsname()
        uname(&names)
        func text<Field>(_ field: Field) -> JSONValue {
            withUnsafeBytes(of: field) { bytes in
                .string(String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self))
            }
        }
        var system: JSONObject = [
            "kernel": text(names.sysname), "release": text(names.release), "machine": text(names.machine),
        ]
        if let file = (try? PrivateFile.read("/etc/os-release")) ?? nil {
            let prefix = "PRETTY_NAME="
            let lines = file.bytes.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
            let line = lines.first { $0.hasPrefix(prefix) }
            if let line { system["distribution"] = .string(line.dropFirst(prefix.count).filter { $0 != "\"" }) }
        }
        return system
    }

    /// The names of our variables that are set; the values of those that say where things are.
    private func variables() -> JSONObject {
        let shown = ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "LANG", "LC_ALL", "TERM", "NO_COLOR"]
        let names = context.environment.variables.keys.filter {
            $0.hasPrefix("JABBERCTL") || shown.contains($0) || $0 == "DBUS_SESSION_BUS_ADDRESS"
        }
        return JSONObject(
            names.sorted().map { name in
                (name, shown.contains(name) ? .string(context.environment.variables[name] ?? "") : "set")
            })
    }

    /// What the running daemon says of itself; that there is none, where none runs.
    private func daemon() async -> JSONObject {
        do throws(ControlError) {
            return try await DaemonSession.run(context, limit: context.limit) { (session) throws(ControlError) in
                try CommandContext.object(try await session.call("status", [:]))
            }
        } catch {
            return ["error": .object(error.json)]
        }
    }

    // MARK: Secrets

    /// The document without any secret of the settings, wherever it stands in it.
    private func redacted(_ document: JSONValue) -> JSONValue {
        let secrets = secrets().sorted { $0.utf8.count > $1.utf8.count }
        func clean(_ text: String) -> String { secrets.reduce(text) { Self.remove($1, from: $0) } }
        func clean(_ value: JSONValue) -> JSONValue {
            switch value {
            case .string(let text): .string(clean(text))
            case .array(let elements): .array(elements.map { clean($0) })
            case .object(let object): .object(JSONObject(object.entries.map { (clean($0.key), clean($0.value)) }))
            case .null, .bool, .integer, .number: value
            }
        }
        return clean(document)
    }

    private static func remove(_ secret: String, from text: String) -> String {
        let (whole, part) = (Array(text.utf8), Array(secret.utf8))
        var result: [UInt8] = []
        var place = 0
        while place < whole.count {
            if whole[place...].starts(with: part) {
                result += mark.utf8
                place += part.count
            } else {
                result.append(whole[place])
                place += 1
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Every secret that this program can know of: those are nowhere in what it prints by themselves, and yet a log may
    /// repeat what a server has said.
    private func secrets() -> Set<String> {
        let environment = context.environment
        var secrets: Set<String> = []
        func take(_ secret: String?) { if let secret, !secret.isEmpty { secrets.insert(secret) } }
        take(environment.variables["JABBERCTL_PASSWORD"])
        let configuration = try? ConfigurationFile(paths: environment.paths, path: context.options.session.config)
        for account in configuration?.accounts ?? [] {
            take(account.password)
            take(account.certificatePassword)
            take(account.accessToken)
            take(account.proxy.flatMap { ProxyAddress($0)?.password })
        }
        return secrets
    }
}
