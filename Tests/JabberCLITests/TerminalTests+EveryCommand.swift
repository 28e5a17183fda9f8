// SPDX-License-Identifier: Apache-2.0

import JabberControl
import Testing

@testable import JabberCLI

extension TerminalTests {
    /// The commands that show what a daemon says.
    private static let asking = MethodTable.commands.filter { $0.isMethod && $0.name != "listen" }

    private static let forms: [[String]] = [[], ["--json"], ["-o", "jsonl"], ["-o", "tsv"], ["-o", "null"]]

    @Test("in no field that a command may be answered with, be it known to who wrote this or not", arguments: asking)
    func fields(_ command: CommandSpec) async throws {
        let document = Self.hostile(command.result.map { ($0.name.split(separator: "."), $0.type) })
        for form in Self.forms {
            let seen = try await shown(command, form, document)
            #expect(harm(in: seen) == [], "\(form) \(command)")
            let text = String(decoding: seen, as: UTF8.self)
            // Numbers alone cannot be hostile.
            let isPlain = form == ["-o", "null"] || command.name == "ping"
            #expect(isPlain || text.contains(#"\u"#), "\(form) \(command) showed \(text)")
        }
    }

    /// What the command makes of the answer: on a terminal, or as if on one where it asks the daemon that runs.
    private func shown(_ command: CommandSpec, _ form: [String], _ document: JSONObject) async throws -> [UInt8] {
        let words = form + command.path + command.arguments.map(Self.word)
        guard command.needsRunningDaemon else {
            return try run(words, answer: [["jsonrpc": "2.0", "id": 1, "result": .object(document)]]).seen
        }
        // Who has asked for a restart asks who is there now.
        var successor = document
        successor["instance"] = "another"
        let daemon = FakeDaemon(
            ["daemon.info": Self.always(successor)].merging([command.method: Self.always(document)]) { $1 })
        let terminal = Surroundings(isTerminal: true, variables: ["NO_COLOR": "1"])
        let run = await jabberctl(words, daemon: daemon, in: terminal)
        return Array((run.output + run.errors).utf8)
    }

    private static func always(_ document: JSONObject) -> FakeDaemon.Method {
        { (_, _) throws(ControlError) in .object(document) }
    }

    private static func word(_ argument: ArgumentSpec) -> String {
        switch argument.kind {
        case .jid: "a@b.example"
        case .choice(let words), .choices(let words): words.first ?? ""
        case .whole, .seconds: "1"
        case .text where argument.name == "XML": "<iq type='get'><a xmlns='b'/></iq>"
        case .text, .file, .list: "x"
        }
    }

    /// A document with all these fields, and hostile text wherever there is text.
    private static func hostile(_ fields: [(path: [Substring], type: String)]) -> JSONObject {
        var document: JSONObject = [:]
        let keys = fields.compactMap(\.path.first).filter { $0 != "(whole)" }
        for key in Set(keys.map { String($0.prefix { $0 != "[" }) }).sorted() {
            let own = fields.filter { $0.path.first.map { $0 == key || $0 == key + "[]" } ?? false }
            let inner = own.filter { $0.path.count > 1 }.map { (path: Array($0.path.dropFirst()), type: $0.type) }
            guard inner.isEmpty else {
                let isList = own.contains { $0.path.first?.hasSuffix("[]") ?? false }
                let object = JSONValue.object(hostile(inner))
                document[key] = isList ? [object, object] : object
                continue
            }
            document[key] = value(of: own.first?.type ?? "string")
        }
        return document
    }

    private static func value(of type: String) -> JSONValue {
        let text = JSONValue.string(all)
        let object: JSONValue = [
            "affiliation": text, "code": text, "condition": text, "jid": text, "message": text, "name": text,
            "text": text,
            "reason": text,
        ]
        return switch type {
        case "integer", "number": 1
        case "boolean": true
        case "array of strings": .array(texts.map(JSONValue.string))
        case "array of numbers": [1]
        // Of rows or of objects: the table does not say.
        case "array": [[text, text], object]
        case "object": object
        default: text
        }
    }
}
