// SPDX-License-Identifier: Apache-2.0

internal import JabberControl

/// `daemon log`: what a daemon in the background has written.
enum LogCommand {
    /// Shows the last lines; with `--follow` those that come, until it is interrupted.
    static func run(_ context: CommandContext) throws(ControlError) {
        let path = context.environment.paths.daemonLog
        let count = context.line.value("lines").flatMap { Int($0) } ?? 20
        guard var log = try LogFile(path) else {
            throw ControlError(
                .fileMissing,
                "there is no \(path): daemon start writes it; a daemon of systemd writes to its journal, see: "
                    + "journalctl --user -u jabberctld")
        }
        try show(try log.last(count), context)
        guard context.line.has("follow") else { return }
        while true {
            try show(try log.next(), context)
            // A daemon that is started anew begins another file.
            if log.isReplaced, let next = try LogFile(path) { log = next } else { LogFile.pause() }
        }
    }

    private static func show(_ lines: [String], _ context: CommandContext) throws(ControlError) {
        guard context.options.form != .human else {
            return try context.output.write(lines: lines.map { TerminalText.line($0) })
        }
        for line in lines {
            try context.output.show(Records(rows: [["line": .string(line)]], [Column("LINE", "line")]))
        }
    }
}
