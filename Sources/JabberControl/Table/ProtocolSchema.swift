// SPDX-License-Identifier: Apache-2.0

/// The control protocol as JSON Schema (draft 2020-12), made of the table of commands.
///
/// `$defs` has, for each method, `METHOD.params` and `METHOD.result`, of those with events `METHOD.event`; the
/// parameters of notifications (`hello`, `event`, `goodbye`, `piece`, `cancel`); `error`, `request`, `response` and
/// `notification`. A key that the schema does not name is allowed: new ones may appear.
package enum ProtocolSchema {
    /// The document.
    package static var document: JSONObject {
        var definitions = frames
        for method in MethodTable.otherMethods {
            definitions[method.name + ".params"] = .object(object(method.parameters, required: method.required))
            definitions[method.name + ".result"] = .object(object(method.result))
        }
        for command in MethodTable.commands where command.isMethod {
            definitions[command.method + ".params"] = .object(parameters(of: command))
            definitions[command.method + ".result"] = .object(object(command.result))
            guard !command.event.isEmpty else { continue }
            // One whose events are its result again.
            let isResult = command.event.contains { $0.name.hasPrefix("(") }
            definitions[command.method + ".event"] =
                isResult ? reference(command.method + ".result") : .object(object(command.event))
        }
        return [
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "The control protocol of jabberctld",
            "anyOf": [
                reference("request"), reference("response"), reference("notification"),
            ],
            "$defs": .object(definitions),
        ]
    }

    /// The parameters of a method, with the words to choose from and the ranges of numbers.
    private static func parameters(of command: CommandSpec) -> JSONObject {
        var schema = object(command.allParameters, required: command.requiredParameters)
        guard var properties = schema["properties"]?.objectValue else { return schema }
        let kinds =
            command.arguments.filter { !$0.isRepeatable }.map { ($0.parameterName, $0.kind) }
            + command.options.filter { $0.isParameter && !$0.isFlag }.map { ($0.parameterName, $0.kind) }
        for (name, kind) in kinds {
            guard var property = properties[name]?.objectValue else { continue }
            switch kind {
            case .choice(let words): property["enum"] = .strings(words)
            case .choices(let words): property["items"] = ["type": "string", "enum": .strings(words)]
            case .whole(let range):
                property["minimum"] = .integer(Int64(range.lowerBound))
                property["maximum"] = .integer(Int64(range.upperBound))
            case .seconds: property["exclusiveMinimum"] = 0
            case .text, .jid, .file, .list: break
            }
            properties[name] = .object(property)
        }
        schema["properties"] = .object(properties)
        return schema
    }

    /// A reference to a definition.
    private static func reference(_ name: String) -> JSONValue { ["$ref": .string("#/$defs/\(name)")] }

    /// What does not depend on the methods.
    private static var frames: JSONObject {
        let id: JSONValue = ["type": ["integer", "string"]]
        let version: JSONValue = ["const": "2.0"]
        let params: JSONValue = ["type": "object"]
        return [
            "time": [
                "type": "string", "pattern": #"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$"#,
                "description": "RFC 3339 in UTC",
            ],
            "error": .object(object(errorFields, required: ["code", "exit", "retry"])),
            "hello": .object(object(helloFields, required: helloFields.map(\.name))),
            "event": [
                "type": "object", "properties": ["request": id, "event": ["type": "object"]],
                "required": ["request", "event"],
            ],
            "goodbye": [
                "type": "object", "properties": ["error": reference("error")], "required": ["error"],
            ],
            "piece": .object(object(pieceFields, required: ["text"])),
            "cancel": ["type": "object", "properties": ["request": id], "required": ["request"]],
            "request": [
                "type": "object",
                "properties": ["jsonrpc": version, "id": id, "method": ["type": "string"], "params": params],
                "required": ["jsonrpc", "id", "method"],
            ],
            "notification": [
                "type": "object",
                "properties": ["jsonrpc": version, "method": ["type": "string"], "params": params],
                "required": ["jsonrpc", "method", "params"],
            ],
            "response": [
                "type": "object",
                "properties": [
                    "jsonrpc": version, "id": ["type": ["integer", "string", "null"]], "result": ["type": "object"],
                    "error": [
                        "type": "object",
                        "properties": [
                            "code": ["type": "integer"], "message": ["type": "string"], "data": reference("error"),
                        ],
                        "required": ["code", "message", "data"],
                    ],
                ],
                "required": ["jsonrpc", "id"],
            ],
        ]
    }

    /// The fields of a failure.
    package static let errorFields = [
        FieldSpec("code", "string", "the word of the kind of failure"),
        FieldSpec("exit", "integer", "the exit code of a command that fails with it"),
        FieldSpec("message", "string", "what happened, for people; beside data in a response"),
        FieldSpec("retry", "boolean", "whether the same may succeed later without a change"),
        FieldSpec("stanza", "object", "the stanza error behind it (RFC 6120 §8.3)"),
        FieldSpec("stanza.type", "string", "auth, cancel, continue, modify or wait"),
        FieldSpec("stanza.condition", "string", "such as item-not-found"),
        FieldSpec("stanza.text", "string", "what the other side says to it"),
        FieldSpec("account", "string", "the account it happened to"),
        FieldSpec("endpoint", "string", "where a connection failed: host and port, or the address of a WebSocket"),
        FieldSpec(
            "phase", "string",
            "the part of the way to a session in which it failed: lookup, connection, tls, authentication or session"),
    ]

    /// The fields of the greeting.
    package static let helloFields = [
        FieldSpec("product", "string", "jabberctld"), FieldSpec("version", "string", "its version"),
        FieldSpec("api", "object", "the output versions that it speaks"),
        FieldSpec("api.min", "integer", "the oldest of them"), FieldSpec("api.max", "integer", "the newest of them"),
        FieldSpec("instance", "string", "which run of the daemon this is"),
    ]

    /// The fields of a piece of a message that is longer than a line.
    package static let pieceFields = [
        FieldSpec("text", "string", "the next part of the message"),
        FieldSpec("last", "boolean", "true for the last part"),
    ]

    // MARK: Fields

    /// An object with these fields, whose names are paths.
    package static func object(_ fields: [FieldSpec], required: [String] = []) -> JSONObject {
        let tree = Node(fields)
        var schema = tree.schema
        let names = required.filter { !$0.contains(".") }
        if !names.isEmpty { schema["required"] = .strings(names) }
        return schema
    }

    /// A field with what is in it.
    private struct Node {
        var type = "object"
        var summary: String?
        var children: [(name: String, node: Node)] = []
        /// What is known of the elements of a list.
        var isListOfObjects = false

        init() {}

        init(_ fields: [FieldSpec]) {
            for field in fields where !field.name.hasPrefix("(") {
                put(field, at: field.name.split(separator: ".").map(String.init)[...])
            }
        }

        private mutating func put(_ field: FieldSpec, at path: ArraySlice<String>) {
            guard var name = path.first else { return }
            let isElement = name.hasSuffix("[]")
            if isElement { name.removeLast(2) }
            var place = children.firstIndex { $0.name == name } ?? children.endIndex
            if place == children.endIndex {
                children.append((name, Node()))
                place = children.endIndex - 1
            }
            if isElement {
                children[place].node.type = "array"
                children[place].node.isListOfObjects = true
            }
            if path.count > 1 {
                children[place].node.put(field, at: path.dropFirst())
            } else if !isElement {
                children[place].node.type = field.type
                children[place].node.summary = field.summary
            }
        }

        var schema: JSONObject {
            var schema: JSONObject
            switch type {
            case "time": schema = ["$ref": "#/$defs/time"]
            case "array of strings": schema = ["type": "array", "items": ["type": "string"]]
            case "array of numbers": schema = ["type": "array", "items": ["type": "number"]]
            case "array":
                schema = ["type": "array"]
                if isListOfObjects { schema["items"] = .object(properties) }
            case "object": schema = properties
            default: schema = ["type": .string(type)]
            }
            if let summary { schema["description"] = .string(summary) }
            return schema
        }

        private var properties: JSONObject {
            var schema: JSONObject = ["type": "object"]
            guard !children.isEmpty else { return schema }
            schema["properties"] = .object(JSONObject(children.map { ($0.name, .object($0.node.schema)) }))
            return schema
        }
    }
}

extension CommandSpec {
    /// The parameters without which the method is refused.
    package var requiredParameters: [String] {
        let named = Set(parameters.map(\.name))
        return arguments.filter { !$0.isOptional && !named.contains($0.parameterName) }.map(\.parameterName)
            + (method == "send" ? ["to", "text"] : [])
    }
}
