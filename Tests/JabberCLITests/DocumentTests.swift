// SPDX-License-Identifier: Apache-2.0

import Foundation
import JabberControl
import Testing

@testable import JabberCLI

@Suite("Documents made of the table of commands")
struct DocumentTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    @Test("The article about the control protocol is what the table says; make it with: help --page protocol.md")
    func article() throws {
        let file = Self.root.appending(path: "Sources/XMPP/Documentation.docc/ControlProtocol.md")
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(text == (try HelpDocument.text("protocol.md")))
        for method in MethodTable.commands.filter(\.isMethod).map(\.method) + MethodTable.otherMethods.map(\.name) {
            #expect(text.contains("\n### \(method)\n"))
        }
    }

    @Test("Each reference of the schema leads to a definition, and each method has one for parameters and result")
    func schema() throws {
        let schema = try JSONReader.read(try HelpDocument.text("schema.json").utf8)
        let definitions = Set(schema["$defs"]?.objectValue?.keys ?? [])
        var references: Set<String> = []
        func look(_ value: JSONValue) {
            if let reference = value["$ref"]?.stringValue { references.insert(reference) }
            for entry in value.objectValue?.entries ?? [] { look(entry.value) }
            for element in value.arrayValue ?? [] { look(element) }
        }
        look(schema)
        #expect(references.count > 3)
        #expect(references.subtracting(definitions.map { "#/$defs/\($0)" }) == [])
        for method in MethodTable.commands.filter(\.isMethod).map(\.method) + MethodTable.otherMethods.map(\.name) {
            #expect(definitions.isSuperset(of: [method + ".params", method + ".result"]))
        }
    }

    @Test("The manual pages have a name, all settings, and no line that roff would take for a command of its own")
    func pages() throws {
        let settings = try HelpDocument.text("jabberctl-config.5")
        for key in AccountConfiguration.knownKeys + ["defaultAccount"] {
            #expect(settings.contains("\\fB\(key)\\fR ("))
        }
        for name in ["jabberctl.1", "jabberctld.8", "jabberctl-config.5"] {
            let page = try HelpDocument.text(name)
            #expect(page.contains("\n.SH NAME\n\(ManualPage.roff(name.dropLast(2))) \\- "))
            let macros: Set = ["TH", "SH", "SS", "TP", "PP", "B", "I", "br", "EX", "EE", "nf", "fi", "\\\""]
            for line in page.split(separator: "\n") where line.hasPrefix(".") {
                #expect(macros.contains(String(line.dropFirst().prefix { $0 != " " })), "\(line)")
            }
        }
        #expect(throws: ControlError.self) { try HelpDocument.text("another") }
    }

    @Test("Every key of an account is described once, in the order in which it is written")
    func settings() {
        #expect(SettingSpec.account.map(\.key) == AccountConfiguration.knownKeys)
    }
}
