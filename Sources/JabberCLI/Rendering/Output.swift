// SPDX-License-Identifier: Apache-2.0

internal import JabberControl

/// Writes what a command has to say, in the form that was asked for.
struct Output: Sendable {
    let environment: CLIEnvironment
    let options: GlobalOptions

    /// Whether the output is a table for a person at a terminal.
    var isTable: Bool {
        options.form == .human && environment.isOutputTerminal
    }

    /// Writes text as it is: nothing from outside may be in it that was not cleaned.
    func write(_ text: String) throws(ControlError) {
        guard !options.isQuiet else { return }
        try environment.write(Array(text.utf8))
    }

    /// Writes lines.
    func write(lines: [String]) throws(ControlError) {
        guard !lines.isEmpty else { return }
        try write(lines.joined(separator: "\n") + "\n")
    }

    /// Writes a document; on a terminal with escapes for what it must not see.
    func write(json value: JSONValue) throws(ControlError) {
        try write(json(value) + "\n")
    }

    private func json(_ value: JSONValue) -> String {
        environment.isOutputTerminal ? TerminalText.json(value.text) : value.text
    }

    /// Tells a person something on standard error; it may hold anything.
    func note(_ text: String) {
        environment.writeError(Array("jabberctl: \(TerminalText.block(text))\n".utf8))
    }

    /// Tells a person who asked for more with `--verbose`.
    func verbose(_ text: @autoclosure () -> String) {
        if options.verbosity > 0 { note(text()) }
    }

    /// Writes a result: as a document, or its records in the form that was asked for.
    func show(_ result: JSONObject, _ records: Records) throws(ControlError) {
        switch options.form {
        case .json where options.field == nil:
            try write(json: .object(records.narrow(result, to: options.fields)))
        default:
            try show(records, common: JSONObject(present: ["api": result["api"], "account": result["account"]]))
        }
    }

    /// Writes records. `common` is put before each object of `jsonl`.
    func show(_ records: Records, common: JSONObject = [:]) throws(ControlError) {
        if let field = options.field { return try show(field, of: records) }
        switch options.form {
        case .json, .jsonl:
            try write(
                lines: records.rows.map { row in
                    var object = common
                    for entry in records.narrow(row, options.fields).entries { object[entry.key] = entry.value }
                    return json(.object(object))
                })
        case .null:
            let columns = records.columns(options.fields)
            try write(records.rows.flatMap { row in columns.map { ended($0.exact(row)) } }.joined())
        case .tsv:
            try write(lines: tabbed(records))
        case .human:
            try write(lines: environment.isOutputTerminal ? aligned(records) : tabbed(records))
        }
    }

    /// Whether a person sees all that a command has found, and not the columns or the form that a program wants.
    var showsSections: Bool { options.form == .human && options.field == nil && options.fields == nil }

    /// Writes several tables for a person: with a blank line between them; in a pipe each row begins with the title of
    /// its table.
    func show(sections: [(title: String, records: Records)]) throws(ControlError) {
        for (number, (title, records)) in sections.enumerated() {
            guard environment.isOutputTerminal else {
                try write(lines: tabbed(records).map { "\(title)\t\($0)" })
                continue
            }
            try write(lines: (number == 0 ? [] : [""]) + aligned(records))
        }
    }

    private func show(_ field: String, of records: Records) throws(ControlError) {
        let values = records.rows.compactMap { $0.value(at: field) }.filter { $0 != .null }
        switch options.form {
        case .json, .jsonl: try write(lines: values.map(json))
        case .null: try write(values.map { ended(Column.exact($0)) }.joined())
        case .human, .tsv: try write(lines: values.map { TerminalText.block(Column.exact($0)) })
        }
    }

    /// A value and the zero byte behind it: exact for a program, clean for a person who tries it at a terminal.
    private func ended(_ text: String) -> String {
        (environment.isOutputTerminal ? TerminalText.block(text) : text) + "\0"
    }

    private func tabbed(_ records: Records) -> [String] {
        let columns = records.columns(options.fields)
        return records.rows.map { row in
            columns.map { TerminalText.line($0.exact(row)) }.joined(separator: "\t")
        }
    }

    private func aligned(_ records: Records) -> [String] {
        let columns = records.columns(options.fields)
        let table = Table(
            headings: columns.map(\.heading),
            rows: records.rows.map { row in columns.map { $0.cell(row, environment) } },
            wrapsLast: records.wrapsLast)
        return table.lines(width: environment.width, isColoured: options.isColoured)
    }

    /// Reports a failure on standard error, as text or as the object that the contract shows.
    func report(_ error: ControlError) {
        Self.report(error, asJSON: options.form == .json || options.form == .jsonl, environment)
    }

    /// Reports a failure when the options are not known.
    static func report(_ error: ControlError, asJSON: Bool, _ environment: CLIEnvironment) {
        let text: String
        if asJSON {
            let document: JSONValue = ["api": 1, "error": .object(error.json)]
            text = environment.isErrorTerminal ? TerminalText.json(document.text) : document.text
        } else {
            text = "jabberctl: \(TerminalText.block(error.message))"
        }
        environment.writeError(Array((text + "\n").utf8))
    }
}
