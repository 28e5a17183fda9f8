// SPDX-License-Identifier: Apache-2.0

import JabberControl
import Testing

@testable import JabberCLI

@Suite("--fields and --get")
struct FieldTests {
    private static let commands = MethodTable.commands.filter { !$0.recordFields.isEmpty }

    /// The command with as many arguments as it needs.
    private static func words(_ command: CommandSpec) -> [String] {
        command.path + command.arguments.filter { !$0.isOptional }.map { $0.kind.words.first ?? "a@example.org" }
    }

    @Test("a field that there is not is wrong usage, before anything is asked, and the fields there are are named")
    func unknown() async {
        for command in Self.commands {
            for asked in [["-g", "nonsense"], ["--json", "-f", "nonsense"]] {
                let run = await jabberctl(Self.words(command) + asked)
                #expect(run.code == 64 && run.output.isEmpty && run.asked.isEmpty && run.choice == nil, "\(command)")
                #expect(run.errors.contains("no field"))
                let fields = asked.first == "--json" ? command.documentFields : command.recordFields
                let known = fields.map(\.name).filter { !$0.contains("[") }
                #expect(!known.isEmpty && known.allSatisfy(run.errors.contains))
            }
        }
        #expect(await jabberctl("online", "-f", ",").errors.contains("names no field"))
    }

    @Test("every field of the table is known")
    func known() async {
        for command in Self.commands where command.isMethod {
            let fields = command.recordFields.map(\.name).filter { !$0.contains("[") }.joined(separator: ",")
            let run = await jabberctl(
                Self.words(command) + ["-n", "-f", fields], in: Surroundings(input: ["hi"]))
            #expect(run.code == 0, "\(run.errors)")
        }
    }

    @Test(
        "what is in an object is reached with a dot; a table's own heading and what is in a list are no fields",
        arguments: [
            ("error.stanza.condition", 0), ("error.", 64), ("error", 0), ("state.x", 64), ("STATE", 64),
            ("results", 64),
        ])
    func paths(_ field: String, _ code: Int32) async {
        #expect(await jabberctl("send", "a@example.org", "hi", "-n", "-g", field).code == code)
    }

    @Test("with --resources the fields are those of a resource")
    func resources() async {
        #expect(await jabberctl("online", "--resources", "-n", "-f", "jid,client").code == 0)
        #expect(await jabberctl("online", "--resources", "-n", "-f", "groups").code == 64)
        #expect(await jabberctl("online", "-n", "-f", "client").code == 64)
        #expect(await jabberctl("online", "--resources", "--json", "-n", "-f", "groups").code == 0)
    }

    @Test("a document with one contact is narrowed as its row is")
    func contact() async {
        let contact: JSONValue = ["jid": "a@example.org", "name": "A", "subscription": "both"]
        let daemon = FakeDaemon("roster.show", ["api": 1, "account": "me@example.org", "contact": contact])
        let run = await jabberctl("roster", "show", "a@example.org", "--json", "-f", "name", daemon: daemon)
        #expect(run.output == #"{"api":1,"account":"me@example.org","contact":{"name":"A"}}"# + "\n")
    }
}
