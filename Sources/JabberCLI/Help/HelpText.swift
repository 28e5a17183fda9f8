// SPDX-License-Identifier: Apache-2.0

internal import JabberControl

/// Help as text, at most 80 columns wide, made of the table of commands.
enum HelpText {
    /// How wide help is.
    static let width = 80

    /// Everything at a glance.
    static func overview() -> String {
        var lines = ["usage: jabberctl [OPTIONS] COMMAND", "", "See who is online and send messages over XMPP."]
        for group in CommandSpec.Group.allCases {
            let commands = MethodTable.commands.filter { $0.group == group }
            lines += ["", group.rawValue + ":"] + commands.flatMap { entry("  " + $0.name, $0.summary) }
        }
        lines += ["", "Options of every command:"] + MethodTable.globalOptions.flatMap(option)
        lines += ["", "jabberctl help COMMAND tells more."]
        return text(lines)
    }

    /// The commands that begin with some words.
    static func group(_ path: [String]) -> String {
        let commands = MethodTable.commands.filter { $0.path.starts(with: path) }
        let lines = ["usage: jabberctl \(path.joined(separator: " ")) COMMAND [OPTIONS]", ""]
        let more = ["", "jabberctl help \(path.joined(separator: " ")) COMMAND tells more."]
        return text(lines + commands.flatMap { entry("  " + $0.name, $0.summary) } + more)
    }

    /// One command.
    static func command(_ command: CommandSpec) -> String {
        var lines = wrap("usage: " + command.usage, indent: 7)
        lines += [""] + wrap(sentence(command.summary))
        if !command.aliases.isEmpty { lines += ["", "Also: " + command.aliases.joined(separator: ", ")] }
        for paragraph in command.details { lines += [""] + wrap(paragraph) }
        if !command.arguments.isEmpty {
            lines += ["", "Arguments:"]
            lines += command.arguments.flatMap { entry("  " + $0.name, summary($0.summary, $0.kind.words)) }
        }
        if !command.options.isEmpty { lines += ["", "Options:"] + command.options.flatMap(option) }
        if !command.exits.isEmpty {
            lines += ["", "Exit codes of interest:"]
            for exit in ExitCode.all where exit.code == .done || command.exits.contains(exit.code) {
                // What "done" means for one command, its details say.
                lines += entry("  \(exit.code.rawValue)", exit.code == .done ? "done" : exit.meaning)
            }
        }
        if !command.examples.isEmpty { lines += ["", "Examples:"] + command.examples.map { "  " + $0 } }
        lines += ["", "Options of every command: jabberctl help"]
        return text(lines)
    }

    /// The table as JSON.
    static func json(_ commands: [CommandSpec]) -> JSONValue {
        [
            "api": 1, "version": .string(ProductVersion.current),
            "commands": .array(commands.map { .object(json($0)) }),
            "globalOptions": .array(MethodTable.globalOptions.map(json)),
            "exitCodes": .array(
                ExitCode.all.map { ["code": .integer(Int64($0.code.rawValue)), "meaning": .string($0.meaning)] }),
            "errorCodes": .array(
                ControlErrorCode.table.map { row in
                    [
                        "code": .string(row.code.rawValue), "exit": .integer(Int64(row.exit.rawValue)),
                        "retry": .bool(row.retry), "meaning": .string(row.meaning),
                    ]
                }),
        ]
    }

    private static func json(_ command: CommandSpec) -> JSONObject {
        JSONObject(present: [
            "name": .string(command.name),
            "aliases": command.aliases.isEmpty ? nil : .strings(command.aliases),
            "summary": .string(command.summary),
            "method": command.isMethod ? .string(command.method) : nil,
            "arguments": .array(
                command.arguments.map { argument in
                    [
                        "name": .string(argument.name), "summary": .string(argument.summary),
                        "optional": .bool(argument.isOptional), "repeatable": .bool(argument.isRepeatable),
                    ]
                }),
            "options": .array(command.options.map(json)),
            "parameters": command.isMethod ? fields(command.allParameters) : nil,
            "result": fields(command.result),
            "event": command.event.isEmpty ? nil : fields(command.event),
            "record": command.recordFields.isEmpty ? nil : fields(command.recordFields),
        ])
    }

    private static func fields(_ fields: [FieldSpec]) -> JSONValue {
        .array(fields.map { ["name": .string($0.name), "type": .string($0.type), "summary": .string($0.summary)] })
    }

    private static func json(_ option: OptionSpec) -> JSONValue {
        .object(
            JSONObject(present: [
                "long": .string("--" + option.long), "short": option.short.map { .string("-\($0)") },
                "value": option.valueName.map(JSONValue.string),
                "words": option.kind.words.isEmpty ? nil : .strings(option.kind.words),
                "default": option.defaultText.map(JSONValue.string),
                "environment": option.environment.map(JSONValue.string), "repeatable": .bool(option.isRepeatable),
                "summary": .string(option.summary),
            ]))
    }

    // MARK: Layout

    static func option(_ option: OptionSpec) -> [String] {
        let short = option.short.map { "-\($0), " } ?? "    "
        let value = option.valueName.map { " " + $0 } ?? ""
        var text = summary(option.summary, option.kind.words)
        if let usual = option.defaultText { text += " [\(usual)]" }
        return entry("  \(short)--\(option.long)\(value)", text)
    }

    private static func summary(_ summary: String, _ words: [String]) -> String {
        words.isEmpty ? summary : summary + ": " + words.joined(separator: ", ")
    }

    private static func entry(_ head: String, _ text: String) -> [String] {
        let column = 26
        let lines = wrap(text, width: width - column)
        let padded = head.count < column - 1 ? head + String(repeating: " ", count: column - head.count) : nil
        let indent = String(repeating: " ", count: column)
        guard let padded else { return [head] + lines.map { indent + $0 } }
        return [padded + (lines.first ?? "")] + lines.dropFirst().map { indent + $0 }
    }

    private static func sentence(_ text: String) -> String {
        text.prefix(1).uppercased() + text.dropFirst() + "."
    }

    /// Breaks text at blanks; the lines after the first are indented.
    static func wrap(_ text: String, width: Int = HelpText.width, indent: Int = 0) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if !line.isEmpty && line.count + 1 + word.count > width {
                lines.append(line)
                line = String(repeating: " ", count: indent) + word
            } else {
                line += (line.isEmpty || line.allSatisfy { $0 == " " } ? "" : " ") + word
            }
        }
        return lines + (line.isEmpty ? [] : [line])
    }

    private static func text(_ lines: [String]) -> String {
        lines.joined(separator: "\n") + "\n"
    }
}
