// SPDX-License-Identifier: Apache-2.0

internal import JabberControl

/// The control protocol method by method as an article of the documentation, made of the table of commands.
enum ProtocolPage {
    /// The article.
    static func text() -> String {
        var lines = head
        lines += ["", "## Notifications", ""]
        lines += ["`hello`, the first line of the daemon:", ""] + table(ProtocolSchema.helloFields)
        lines += [
            "", "`event`, of a request that runs: `request`, its id; `event`, an object as the method describes it.",
            "",
            "`goodbye`, the last line of a daemon that ends a connection: `error`, why. An error, here and in `error.data` of an "
                + "answer, has:", "",
        ]
        lines += table(ProtocolSchema.errorFields)
        lines +=
            ["", "`piece`, a part of a message that is longer than a line:", ""] + table(ProtocolSchema.pieceFields)
        lines += [
            "",
            "`cancel`, the one notification of the client: `request`, the id of a request that shall end. It is answered "
                + "all the same.",
            "", "## Kinds of failures", "", "| code | exit code | again later | meaning |", "| --- | --- | --- | --- |",
        ]
        for row in ControlErrorCode.table {
            let words = [row.code.rawValue, "\(row.exit.rawValue)", row.retry ? "yes" : "", row.meaning]
            lines.append("| \(words.map(cell).joined(separator: " | ")) |")
        }
        lines += ["", "## Methods", ""]
        for other in MethodTable.otherMethods {
            if other.name != MethodTable.passwordMethod { lines.append("") }
            lines += ["### \(other.name)", "", sentence(other.summary), "", "Parameters:", ""]
            lines += parameters(other.parameters, required: other.required) + [""]
            lines += other.result.isEmpty ? ["The result is empty."] : ["Result:", ""] + table(other.result)
        }
        for command in MethodTable.commands where command.isMethod { lines += method(command) }
        return lines.joined(separator: "\n") + "\n"
    }

    private static let head = [
        "# The control protocol", "",
        "What `jabberctl` and `jabberctld` say to each other, for programs in any language.", "",
        "## Overview", "",
        "The socket is `$XDG_RUNTIME_DIR/jabberctl/control.sock`; only its user's programs are let in. Each line is one object "
            + "of JSON-RPC 2.0 in UTF-8, at most \(ControlFrame.maximumBytes) bytes long. The daemon speaks first. A client calls "
            + "methods, at most \(ControlSession.maximumRequests) at a time; answers come in any order. `jabberctl rpc` is the same "
            + "on standard input and output. Swift programs import `JabberControl`: <doc:DaemonClients>.", "",
        "Parameters have names. An absent key means that nothing is known; new keys may appear, and none changes its meaning as "
            + "long as `api` stays the same. Times are RFC 3339 in UTC. A message of the daemon that is longer than a line comes in "
            + "`piece` notifications, whose texts put together are the line; only a client that calls with short answers may do "
            + "without them. A client that does not read is waited for, and dropped with a `goodbye` when more than "
            + "\(ControlConnection.maximumPendingBytes) bytes wait for it.", "",
        "This page is made of the table that feeds the command, its help and its manual. The same as JSON Schema is printed by "
            + "`jabberctl help --page schema.json`.",
    ]

    private static func method(_ command: CommandSpec) -> [String] {
        var lines = ["", "### \(command.method)", "", sentence(command.summary)]
        if command.needsRunningDaemon { lines[3] += " Only a daemon that stays has it." }
        if command.place == .daemonStream { lines[3] += " Runs until it is cancelled." }
        lines += ["", "Parameters:", ""]
        lines += parameters(command.allParameters, required: command.requiredParameters)
        lines += ["", "Result:", ""] + table(command.result)
        if !command.event.isEmpty { lines += ["", "Events:", ""] + table(command.event) }
        return lines
    }

    private static func parameters(_ fields: [FieldSpec], required: [String]) -> [String] {
        table(
            fields.map { field in
                required.contains(field.name) ? FieldSpec(field.name, field.type + ", needed", field.summary) : field
            })
    }

    private static func table(_ fields: [FieldSpec]) -> [String] {
        ["| key | type | meaning |", "| --- | --- | --- |"]
            + fields.map { field in
                "| `\(field.name.hasPrefix("(") ? "…" : field.name)` | \(field.type) | \(cell(field.summary)) |"
            }
    }

    /// Text of a cell, in which nothing is markup.
    private static func cell(_ text: String) -> String {
        var escaped = ""
        for character in text {
            if "|<*_`[]\\".contains(character) { escaped.append("\\") }
            escaped.append(character)
        }
        return escaped
    }

    private static func sentence(_ text: String) -> String {
        cell(text.prefix(1).uppercased() + text.dropFirst()) + "."
    }
}
