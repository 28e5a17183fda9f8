// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import XMPP

/// Data forms (XEP-0004) as results show them, and answers as parameters give them.
enum FormDocument {
    /// A form: its questions, or the table that it reports.
    static func form(_ form: DataForm) -> JSONObject {
        var object = JSONObject(present: [
            "kind": .string(form.kind.rawValue), "type": form.type.map(JSONValue.string),
            "title": form.title.map(JSONValue.string),
            "instructions": form.instructions.isEmpty ? nil : .strings(form.instructions),
        ])
        object["fields"] = .array(
            form.fields.filter { $0.kind != .hidden }.map { .object(field($0)) })
        if !form.columns.isEmpty {
            object["columns"] = .array(form.columns.map { .string($0.label ?? $0.name ?? "") })
            object["rows"] = .array(form.table.map { .strings($0) })
        }
        return object
    }

    private static func field(_ field: DataForm.Field) -> JSONObject {
        var object = JSONObject(present: [
            "name": field.name.map(JSONValue.string), "type": .string(field.kind.rawValue),
            "label": field.label.map(JSONValue.string), "text": field.explanation.map(JSONValue.string),
            "required": field.isRequired ? true : nil,
            // What is not to be read over somebody's shoulder is not shown.
            "values": field.kind == .textPrivate ? nil : .strings(field.values),
        ])
        if !field.options.isEmpty {
            object["options"] = .array(
                field.options.map { option in
                    .object(
                        JSONObject(present: [
                            "value": .string(option.value), "label": option.label.map(JSONValue.string),
                        ]))
                })
        }
        return object
    }

    /// The answers in a parameter with lines `NAME=VALUE`: the same name again is a further value, and nothing behind
    /// the sign takes what was suggested away.
    static func answers(_ key: String, in parameters: Parameters) throws(ControlError) -> [String: [String]] {
        var answers: [String: [String]] = [:]
        for line in try parameters.strings(key) {
            guard let sign = line.unicodeScalars.firstIndex(of: "="), sign > line.startIndex else {
                throw parameters.wrong(key, "must be NAME=VALUE")
            }
            let value = String(line[line.unicodeScalars.index(after: sign)...])
            answers[String(line[..<sign]), default: []] += value.isEmpty ? [] : [value]
        }
        return answers
    }
}
