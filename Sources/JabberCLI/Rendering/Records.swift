// SPDX-License-Identifier: Apache-2.0

internal import JabberControl

/// One column of a table of records.
struct Column: Sendable {
    /// How a value is shown to a person.
    enum Style: Sendable {
        case text
        case time
        case show
        case state
        case connection
    }

    let heading: String
    let path: String
    let style: Style
    private let compute: (@Sendable (JSONObject) -> String)?

    /// A column that shows the value at a path.
    init(_ heading: String, _ path: String, _ style: Style = .text) {
        self.heading = heading
        self.path = path
        self.style = style
        compute = nil
    }

    /// A column that is computed of the record.
    init(_ heading: String, _ style: Style = .text, compute: @escaping @Sendable (JSONObject) -> String) {
        self.heading = heading
        path = heading
        self.style = style
        self.compute = compute
    }

    /// The exact text of the value, which may hold anything.
    func exact(_ row: JSONObject) -> String {
        if let compute { return compute(row) }
        return row.value(at: path).map(Self.exact) ?? ""
    }

    /// The exact text of a value: strings bare, lists with commas, the rest as JSON.
    static func exact(_ value: JSONValue) -> String {
        switch value {
        case .null: ""
        case .string(let text): text
        case .array(let elements) where !elements.contains { $0.objectValue != nil }:
            elements.map(exact).joined(separator: ",")
        default: value.text
        }
    }

    /// The cell for a person at a terminal.
    func cell(_ row: JSONObject, _ environment: CLIEnvironment) -> Cell {
        let text = exact(row)
        switch style {
        case .text: return Cell(TerminalText.line(text))
        case .time: return Cell(text.isEmpty ? "" : TerminalText.line(environment.localTime(text)))
        case .show: return Cell(TerminalText.line(text), Self.colour(show: text))
        case .connection:
            let colour: Colour = text == "connected" ? .good : text == "failed" ? .bad : .weak
            return Cell(TerminalText.line(text), colour)
        case .state: return Cell(TerminalText.line(text), text == "failed" ? .bad : text == "skipped" ? .faint : .good)
        }
    }

    /// The colour of a presence.
    static func colour(show: String) -> Colour {
        switch show {
        case "available", "chat": .good
        case "away", "xa": .weak
        case "dnd": .bad
        default: .faint
        }
    }
}

/// The rows of a result and how to show them.
struct Records: Sendable {
    /// Under which key of the document the rows stand; `nil` when the document is the row.
    let key: String?
    let rows: [JSONObject]
    let usual: [Column]
    /// Whether the last column of a table is wrapped instead of cut.
    var wrapsLast = false

    /// The rows below a key of a document.
    init(_ result: JSONObject, _ key: String, _ columns: [Column]) {
        self.key = key
        rows = (result[key]?.arrayValue ?? []).compactMap(\.objectValue)
        usual = columns
    }

    /// Other rows, or the document itself.
    init(rows: [JSONObject], key: String? = nil, _ columns: [Column]) {
        self.key = key
        self.rows = rows
        usual = columns
    }

    /// The columns to show: those asked for with `--fields`, or the usual ones.
    func columns(_ fields: [String]?) -> [Column] {
        guard let fields else { return usual }
        return fields.map { field in
            usual.first { $0.path == field } ?? Column(field, field, field.hasSuffix("since") ? .time : .text)
        }
    }

    /// A row with only the fields asked for.
    func narrow(_ row: JSONObject, _ fields: [String]?) -> JSONObject {
        guard let fields else { return row }
        return JSONObject(fields.compactMap { field in row.value(at: field).map { (field, $0) } })
    }

    /// The document with its rows narrowed to the fields asked for.
    func narrow(_ document: JSONObject, to fields: [String]?) -> JSONObject {
        guard let fields else { return document }
        guard let key else {
            var narrowed = JSONObject(present: ["api": document["api"], "account": document["account"]])
            for entry in narrow(document, fields).entries { narrowed[entry.key] = entry.value }
            return narrowed
        }
        var narrowed = document
        let objects = rows.map { JSONValue.object(narrow($0, fields)) }
        narrowed[key] = document[key]?.objectValue == nil ? .array(objects) : objects.first
        return narrowed
    }
}
