// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import SocketIO

/// `listen`: shows events as they come.
enum ListenCommand {
    static func run(_ context: CommandContext, _ command: CommandSpec) async throws(ControlError) -> ExitCode {
        var params = context.parameters(of: command)
        if params["kind"] == nil { params["kind"] = ["message"] }
        let consumer = context.line.value("consumer")
        let shell = context.line.value("exec")
        // How far it has come is for what the command says: only the daemon would know that an event was shown.
        let acknowledges = shell != nil && consumer != nil && context.line.value("ack") != "manual"
        if acknowledges { params["ack"] = "manual" }
        if try context.showRequest("listen", params) { return .done }
        if let shell {
            let runner = EventRunner(context, shell, stopsAtFailure: consumer != nil)
            return try await DaemonSession.run(context, limit: context.options.timeout) {
                session throws(ControlError) in
                try await run(runner, params, session, acknowledging: acknowledges ? consumer : nil)
            }
        }
        let printer = EventPrinter(context, most: context.line.int("count"))
        return try await DaemonSession.run(context, limit: context.options.timeout) { session throws(ControlError) in
            _ = try await session.call("listen", params) { event in printer.show(event) }
            if let failure = printer.failure { throw failure }
            return .done
        }
    }
}

extension ListenCommand {
    /// Runs commands for events until there were enough, one fails whose event must not be lost, or the daemon goes.
    private static func run(
        _ runner: EventRunner, _ params: JSONObject, _ session: DaemonSession, acknowledging consumer: String?
    ) async throws(ControlError) -> ExitCode {
        let acknowledging = Task { () -> ControlError? in
            var failure: ControlError?
            for await cursor in runner.dealtWith {
                guard let consumer, failure == nil else { continue }
                do throws(ControlError) {
                    _ = try await session.call("ack", ["consumer": .string(consumer), "cursor": .string(cursor)])
                } catch {
                    failure = error
                }
            }
            return failure
        }
        // The next event, which would notice, may be days away.
        let failing = Task {
            for await failure in runner.failures {
                _ = await runner.close()
                _ = await acknowledging.value
                await session.end(failure)
            }
        }
        let outcome: Result<JSONValue, ControlError>
        do throws(ControlError) {
            outcome = .success(try await session.call("listen", params) { event in runner.take(event) })
        } catch {
            outcome = .failure(error)
        }
        let failure = await runner.close()
        await failing.value
        let unwritten = await acknowledging.value
        // The commands were interrupted with it.
        if case .failure(let error) = outcome, [.interrupted, .terminated].contains(error.code) { throw error }
        if let failure = failure ?? unwritten { throw failure }
        _ = try outcome.get()
        return .done
    }
}

/// Prints events until there were enough.
private final class EventPrinter: Sendable {
    private struct State: Sendable {
        var count = 0
        var failure: ControlError?
    }

    private let context: CommandContext
    private let most: Int?
    private let state = Locked(State())

    init(_ context: CommandContext, most: Int?) {
        self.context = context
        self.most = most
    }

    /// Why printing ended, when it was neither the daemon nor the count that ended it.
    var failure: ControlError? {
        state.withLock { $0.failure }
    }

    /// Prints an event; `false` when there were enough or nobody reads any more.
    func show(_ event: JSONValue) -> Bool {
        guard let event = event.objectValue else { return true }
        return state.withLock { state in
            do throws(ControlError) {
                try print(event)
            } catch {
                state.failure = error
                return false
            }
            // That something is missing is no event to count.
            if event.string("type") != "gap" { state.count += 1 }
            return most.map { state.count < $0 } ?? true
        }
    }

    private func print(_ event: JSONObject) throws(ControlError) {
        let output = context.output
        if output.isTable && context.options.field == nil && context.options.fields == nil {
            try output.write(EventText.line(event, context) + "\n")
        } else {
            try output.show(Records(rows: [event], EventText.columns))
        }
    }
}

/// Events as text.
enum EventText {
    /// The columns of an event in a pipe: when, what, who, text.
    static let columns = [
        Column("AT", "at"), Column("TYPE", "type"), Column("FROM", "from"), Column("TEXT") { event in text(event) },
    ]

    /// An event for a person at a terminal: the time, who, and the text, whose further lines are indented.
    static func line(_ event: JSONObject, _ context: CommandContext) -> String {
        let isColoured = context.options.isColoured
        func paint(_ text: String, _ colour: Colour) -> String { isColoured ? colour.paint(text) : text }
        let time = TerminalText.line(event.string("at").map(context.environment.localTime) ?? "")
        let from = TerminalText.line(event.string("from") ?? event.string("account") ?? "")
        let text = TerminalText.block(text(event))
        let head = time.isEmpty ? "" : paint(time, .faint) + " "
        if event.string("type") == "message" {
            let isOwn = event.string("direction") == "out"
            let arrow = isOwn ? " → " + TerminalText.line(event.string("to") ?? "") : ""
            return head + paint(from + arrow, .strong) + ": " + text
        }
        let colour = event.string("show").map(Column.colour(show:)) ?? .faint
        return head + paint(from, .strong) + " " + paint(text, colour)
    }

    /// What happened in a room, in words.
    private static func room(_ event: JSONObject) -> String {
        let room = event.string("room") ?? "?"
        let reason = event["reason"]?.objectValue
        let why = reason?.string("message").map { ": \($0)" } ?? ""
        return switch event.string("event") {
        case "joined": "is in \(room)"
        case "occupantJoined": "comes into \(room)"
        case "occupantLeft": "leaves \(room) (\(reason?.string("code") ?? "left")\(why))"
        case "occupantChanged": "is \(event.string("role") ?? "?"), \(event.string("show") ?? "available")"
        case "nicknameChanged": "is now \(event.string("nick") ?? "?")"
        case "subject": "\(room) is about: \(event.string("subject") ?? "")"
        case "left": "you are in \(room) no more (\(reason?.string("code") ?? "left")\(why))"
        case "refused": "\(room) does not let you in: \(event["error"]?["condition"]?.stringValue ?? "?")"
        default: "the settings of \(room) have changed"
        }
    }

    /// What an event says, in words; it may hold anything.
    static func text(_ event: JSONObject) -> String {
        switch event.string("type") {
        case "message":
            if let error = event["error"]?.objectValue {
                return "could not be delivered: \(error.string("text") ?? error.string("condition") ?? "unknown error")"
            }
            let subject = event.string("subject").map { "[\($0)] " } ?? ""
            let mark = event["replaces"] == nil ? "" : "(corrected) "
            return mark + subject + (event.string("body") ?? "")
        case "presence":
            let status = event.string("status").map { " (\($0))" } ?? ""
            return (event.string("show") ?? "available") + status
        case "state":
            return event.string("state") ?? ""
        case "room":
            return room(event)
        case "receipt":
            return "has received \(event.string("id") ?? "?")"
        case "marker":
            return "has seen everything up to \(event.string("id") ?? "?")"
        case "reaction":
            let emoji = (event["emoji"]?.stringsValue ?? []).joined(separator: " ")
            return emoji.isEmpty ? "takes back reactions" : "reacts with \(emoji)"
        case "retraction":
            return "has removed \(event.string("id") ?? "?")"
        case "invitation":
            let reason = event.string("body").map { ": \($0)" } ?? ""
            return "invites you to \(event.string("room") ?? "?")" + reason
        case "roster":
            let contact = event["contact"]?.objectValue ?? [:]
            return "contact \(contact.string("jid") ?? "?"): \(contact.string("subscription") ?? "none")"
        case "account":
            if let key = event["serverKey"]?.objectValue {
                return "warning: \(key.string("host") ?? "?") has a key that was not there at earlier logins: "
                    + "\(key.string("key") ?? "?"); the last one was \(key.string("previousKey") ?? "?")"
            }
            let reason = event["reason"]?["message"]?.stringValue.map { ": \($0)" } ?? ""
            return (event.string("connection") ?? "") + reason
        case "gap":
            if let bytes = event.int("bytes") {
                return "a \(event.string("stanza") ?? "stanza") of \(bytes) bytes was not read: it is too large"
            }
            return "events are missing here: the daemon keeps them no more"
        default:
            return event.string("type") ?? ""
        }
    }
}
