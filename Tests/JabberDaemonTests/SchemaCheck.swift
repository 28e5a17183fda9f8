// SPDX-License-Identifier: Apache-2.0

import JabberControl
import Testing

/// Holds values against a JSON Schema, as far as that of the control protocol goes. Stricter than the schema in one
/// thing: a key that it does not name is a fault, since the programs of this project promise what they say.
struct SchemaCheck {
    private let definitions: JSONObject

    static let controlProtocol = SchemaCheck(ProtocolSchema.document)

    init(_ document: JSONObject) { definitions = document["$defs"]?.objectValue ?? [:] }

    /// What is wrong with a value, each with its place; empty when nothing is.
    func faults(in value: JSONValue, as definition: String) -> [String] {
        guard let schema = definitions[definition]?.objectValue else { return ["there is no \(definition)"] }
        return faults(in: value, schema, definition)
    }

    private func faults(in value: JSONValue, _ schema: JSONObject, _ place: String) -> [String] {
        if let reference = schema.string("$ref") {
            return faults(in: value, as: String(reference.dropFirst("#/$defs/".utf8.count))).map { "\(place): \($0)" }
        }
        var faults: [String] = []
        let types = schema["type"]?.stringsValue ?? schema.string("type").map { [$0] } ?? []
        if !types.isEmpty, !types.contains(where: { Self.isOf($0, value) }) {
            return ["\(place) is no \(types.joined(separator: " or ")): \(value.text.prefix(80))"]
        }
        if let wanted = schema["const"], wanted != value { faults.append("\(place) is not \(wanted.text)") }
        if let words = schema["enum"]?.arrayValue, !words.contains(value) { faults.append("\(place) is \(value.text)") }
        if let pattern = schema.string("pattern"), let text = value.stringValue, (try? Regex(pattern)) != nil,
            (try? Regex(pattern).wholeMatch(in: text)) == nil
        {
            faults.append("\(place) is \(text)")
        }
        if let number = value.doubleValue {
            if let least = schema["minimum"]?.doubleValue, number < least { faults.append("\(place) is \(number)") }
            if let most = schema["maximum"]?.doubleValue, number > most { faults.append("\(place) is \(number)") }
        }
        if let items = schema["items"]?.objectValue, let elements = value.arrayValue {
            for (index, element) in elements.enumerated() {
                faults += self.faults(in: element, items, "\(place)[\(index)]")
            }
        }
        guard let object = value.objectValue else { return faults }
        for key in schema["required"]?.stringsValue ?? [] where object[key] == nil {
            faults.append("\(place) has no \(key)")
        }
        guard let properties = schema["properties"]?.objectValue else { return faults }
        for entry in object.entries {
            guard let property = properties[entry.key]?.objectValue else {
                faults.append("\(place) has a key \(entry.key)")
                continue
            }
            faults += self.faults(in: entry.value, property, "\(place).\(entry.key)")
        }
        return faults
    }

    private static func isOf(_ type: String, _ value: JSONValue) -> Bool {
        switch type {
        case "object": value.objectValue != nil
        case "array": value.arrayValue != nil
        case "string": value.stringValue != nil
        case "integer": value.intValue != nil
        case "number": value.doubleValue != nil
        case "boolean": value.boolValue != nil
        case "null": value == .null
        default: false
        }
    }
}

/// What the protocol's schema promises of answers and events.
enum Promise {
    /// Holds a value against a definition of the schema.
    static func check(_ value: JSONValue, _ definition: String) {
        let faults = SchemaCheck.controlProtocol.faults(in: value, as: definition)
        #expect(faults.isEmpty, "\(faults.joined(separator: "; "))")
    }

    /// A handler of events that holds each against the schema.
    static func checked(
        _ handler: @escaping @Sendable (JSONValue) -> Bool, of method: String
    ) -> @Sendable (JSONValue) -> Bool {
        { event in
            check(event, method + ".event")
            return handler(event)
        }
    }
}
