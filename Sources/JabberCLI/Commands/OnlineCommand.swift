// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import SocketIO

/// `online`: shows who is online, once or until interrupted.
enum OnlineCommand {
    /// What is asked once.
    static func question(_ context: CommandContext, _ command: CommandSpec) -> Question {
        Question("online", context.parameters(of: command)) { (result, _) throws(ControlError) in
            try tell(context, result)
        }
    }

    private static func tell(_ context: CommandContext, _ result: JSONObject) throws(ControlError) -> ExitCode {
        let byResource = context.line.has("resources")
        let records = BuddyList.records(result, byResource: byResource)
        if context.options.form == .json && context.options.field == nil {
            try context.output.show(result, Records(result, "contacts", []))
        } else {
            try context.output.show(result, records)
        }
        let isAnybody = Records(result, "contacts", []).rows.contains { $0.bool("online") != false }
        if !isAnybody {
            if context.output.isTable && context.options.field == nil { context.output.note("nobody is online") }
            if context.options.isQuiet || context.line.has("exit-code") { return .answerIsNo }
        }
        return .done
    }

    /// Shows it until interrupted.
    static func watch(_ context: CommandContext, _ command: CommandSpec) async throws(ControlError) -> ExitCode {
        let params = context.parameters(of: command)
        if try context.showRequest("online", params) { return .done }
        let screen = WatchScreen(context, byResource: context.line.has("resources"))
        return try await DaemonSession.run(context, limit: context.options.timeout) { session throws(ControlError) in
            _ = try await session.call("online", params) { event in screen.show(event) }
            if let failure = screen.failure { throw failure }
            return .done
        }
    }
}

/// Shows the list again after each change: in place on a terminal, only what changed in a pipe.
private final class WatchScreen: Sendable {
    private struct State: Sendable {
        var last: JSONObject = ["contacts": []]
        var lines = 0
        var failure: ControlError?
    }

    private let context: CommandContext
    private let byResource: Bool
    private let state = Locked(State())

    init(_ context: CommandContext, byResource: Bool) {
        self.context = context
        self.byResource = byResource
    }

    /// Why showing ended, when it was not the daemon that ended it.
    var failure: ControlError? {
        state.withLock { $0.failure }
    }

    /// Shows a new list; `false` when that is no longer possible.
    func show(_ event: JSONValue) -> Bool {
        guard let document = event.objectValue else { return true }
        return state.withLock { state in
            do throws(ControlError) {
                if context.output.isTable {
                    try redraw(document, &state)
                } else {
                    try append(document, &state)
                }
                state.last = document
                return true
            } catch {
                state.failure = error
                return false
            }
        }
    }

    private func redraw(_ document: JSONObject, _ state: inout State) throws(ControlError) {
        let records = BuddyList.records(document, byResource: byResource)
        let columns = records.columns(context.options.fields)
        let table = Table(
            headings: columns.map(\.heading),
            rows: records.rows.map { row in columns.map { $0.cell(row, context.environment) } })
        // Its user may have changed its size.
        let screen = context.environment.screen() ?? (context.environment.width, .max)
        var lines = table.lines(width: screen.columns, isColoured: context.options.isColoured)
        if records.rows.isEmpty { lines = ["nobody is online"] }
        // What has left the screen at its top cannot be reached any more; the last row is the cursor's.
        if lines.count > screen.rows - 1 {
            let kept = max(1, screen.rows - 2)
            lines = lines.prefix(kept) + ["… and \(lines.count - kept) more"]
        }
        // Back to the first line of the list, and everything below it away.
        let back = state.lines > 0 ? "\u{1B}[\(min(state.lines, screen.rows - 1))A\r\u{1B}[J" : ""
        try context.output.write(back + lines.joined(separator: "\n") + "\n")
        state.lines = lines.count
    }

    private func append(_ document: JSONObject, _ state: inout State) throws(ControlError) {
        switch context.options.form {
        case .json, .jsonl:
            try context.output.write(json: .object(document))
        case .human, .tsv, .null:
            var changed = document
            changed["contacts"] = .array(BuddyList.changes(from: state.last, to: document).map(JSONValue.object))
            try context.output.show(changed, BuddyList.records(changed, byResource: byResource))
        }
    }
}
