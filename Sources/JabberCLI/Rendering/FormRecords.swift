// SPDX-License-Identifier: Apache-2.0

internal import JabberControl

/// Forms as rows: what is said, the fields one by one, and the rows of a table.
enum FormRecords {
    /// The rows for notes and a form, either of which may be absent.
    static func records(notes: JSONValue?, form: JSONValue?) -> Records {
        let notes = (notes?.arrayValue ?? []).map { note -> JSONObject in
            JSONObject(present: ["what": "note", "name": note["type"], "value": note["text"]])
        }
        let fields = (form?["fields"]?.arrayValue ?? []).map { field -> JSONObject in
            let values = (field["values"]?.stringsValue ?? []).joined(separator: ",")
            let isQuestion = form?["kind"] == "form" && field["type"] != "fixed"
            let what = isQuestion ? (field["required"] == true ? "required" : "question") : "field"
            return JSONObject(present: [
                "what": .string(what), "name": field["name"], "value": .string(values), "label": field["label"],
            ])
        }
        let rows = (form?["rows"]?.arrayValue ?? []).map { row -> JSONObject in
            ["what": "row", "value": .string((row.stringsValue ?? []).joined(separator: " | "))]
        }
        return Records(
            rows: notes + fields + rows,
            [Column("WHAT", "what"), Column("NAME", "name"), Column("VALUE", "value"), Column("LABEL", "label")])
    }
}
