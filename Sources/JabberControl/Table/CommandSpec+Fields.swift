// SPDX-License-Identifier: Apache-2.0

extension CommandSpec {
    /// The fields of a record of the output; empty where there are no records.
    package var recordFields: [FieldSpec] {
        if !ownRecord.isEmpty { return ownRecord }
        if place == .daemonStream { return event }
        guard let recordKey else { return result }
        return Self.below(recordKey + "[].", result) + Self.below(recordKey + ".", result)
    }

    /// The fields that a JSON document is narrowed to: those of its records, or its own where it has no list of them.
    package var documentFields: [FieldSpec] {
        recordKey == nil && !ownRecord.isEmpty ? result : recordFields
    }

    private static func below(_ path: String, _ fields: [FieldSpec]) -> [FieldSpec] {
        fields.filter { $0.name.hasPrefix(path) }.map { field in
            FieldSpec(String(field.name.dropFirst(path.utf8.count)), field.type, field.summary)
        }
    }

    /// Refuses names that are none of these fields, nor of what is in one of them.
    ///
    /// - Parameters:
    ///   - names: What `--fields` or `--get` asks for: keys with dots between them.
    ///   - fields: The fields there are; with none, nothing is refused.
    /// - Throws: `ControlError` with ``ControlErrorCode/usage`` and the fields there are.
    package func check(_ names: [String], in fields: [FieldSpec]) throws(ControlError) {
        // What is in a list cannot be reached by a name.
        let known = fields.filter { !$0.name.contains("[") && !$0.name.contains("(") }
        guard !known.isEmpty else { return }
        let list = known.map(\.name).joined(separator: ", ")
        guard !names.isEmpty else { throw ControlError(.usage, "--fields names no field; \(name) has: \(list)") }
        for name in names where !known.contains(where: { Self.reaches(name, $0, known) }) {
            throw ControlError(.usage, "\(self.name) has no field \"\(TerminalText.line(name))\"; it has: \(list)")
        }
    }

    /// Whether a name is that of a field, or leads into an object about whose inside the table says nothing.
    private static func reaches(_ name: String, _ field: FieldSpec, _ known: [FieldSpec]) -> Bool {
        if name == field.name { return true }
        guard field.type == "object", name.hasPrefix(field.name + "."), !name.hasSuffix(".") else { return false }
        return !known.contains { $0.name.hasPrefix(field.name + ".") }
    }
}
