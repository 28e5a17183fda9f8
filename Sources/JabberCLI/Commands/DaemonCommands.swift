// SPDX-License-Identifier: Apache-2.0

internal import JabberControl

/// `daemon run`, `start`, `stop` and `restart`: the process of the daemon that stays.
enum DaemonCommands {
    /// The columns of what the daemon says of itself.
    static let columns = [
        Column("VERSION", "version"), Column("PID", "pid"), Column("SINCE", "since", .time),
        Column("ACCOUNTS", "accounts"), Column("SOCKET", "socket"),
    ]

    /// Runs the daemon in this program's place.
    static func run(_ context: CommandContext) throws(ControlError) {
        let words = words(context)
        guard !context.options.isDryRun else { return try show(words, context) }
        try context.environment.runDaemon(words)
    }

    /// Starts the daemon in the background.
    static func start(_ context: CommandContext) throws(ControlError) {
        let words = words(context)
        guard !context.options.isDryRun else { return try show(words, context) }
        let socket = context.options.daemon.socket ?? context.environment.paths.controlSocket
        let isNew = try context.environment.startDaemon(words, socket, context.limit)
        let paths = context.environment.paths
        for warning in (try? ConfigurationFile(paths: paths, path: context.options.session.config))?.warnings ?? [] {
            context.output.note("warning: \(warning)")
        }
        let result: JSONObject = ["api": 1, "socket": .string(socket), "started": .bool(isNew)]
        if context.output.isTable && context.options.field == nil && context.options.fields == nil {
            context.output.note(isNew ? "the daemon serves at \(socket)" : "the daemon runs already")
        } else {
            try context.output.show(
                result, Records(rows: [result], [Column("SOCKET", "socket"), Column("STARTED", "started")]))
        }
    }

    /// Makes the daemon end or start anew, and waits until it has done so.
    static func end(_ context: CommandContext, _ command: CommandSpec) async throws(ControlError) -> ExitCode {
        if try context.showRequest(command.method, [:]) { return .done }
        let clock = ContinuousClock()
        let deadline = clock.now + .seconds(context.limit)
        var result = try await context.request(command.method, [:])
        if command.method == "daemon.restart" {
            result = try await successor(of: result, context) { clock.now < deadline }
        } else {
            let socket = result.string("socket") ?? context.environment.paths.controlSocket
            // Another one may take the place at once.
            let process = result.int("pid").flatMap { Int32(exactly: $0) }
            while context.environment.isDaemonAlive(socket, process) {
                guard clock.now < deadline else { throw ControlError(.timedOut, "the daemon has not ended yet") }
                try? await Task.sleep(for: .milliseconds(5))
            }
        }
        try context.output.show(result, Records(rows: [result], columns))
        return .done
    }

    /// What the next run of a daemon says of itself, once it serves.
    private static func successor(
        of old: JSONObject, _ context: CommandContext, while hasTime: () -> Bool
    ) async throws(ControlError) -> JSONObject {
        while hasTime() {
            if let now = try? await context.request("daemon.info", [:]),
                now.string("instance") != old.string("instance")
            {
                return now
            }
            try? await Task.sleep(for: .milliseconds(10))
        }
        throw ControlError(.timedOut, "the daemon does not serve again yet")
    }

    /// The words for the daemon's program.
    private static func words(_ context: CommandContext) -> [String] {
        let options = context.options
        var words: [String] = []
        if let socket = options.daemon.socket { words += ["--socket", socket] }
        if let config = options.session.config { words += ["--config", config] }
        return words + repeatElement("--verbose", count: options.verbosity)
    }

    private static func show(_ words: [String], _ context: CommandContext) throws(ControlError) {
        try context.output.write((["jabberctld"] + words).joined(separator: " ") + "\n")
    }
}
