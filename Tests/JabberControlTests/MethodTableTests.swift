// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import JabberControl

@Suite("Table of commands")
struct MethodTableTests {
    @Test("a name or an alias means one command")
    func names() {
        let names = MethodTable.commands.flatMap { [$0.name] + $0.aliases }
        #expect(Set(names).count == names.count)
        #expect(MethodTable.command(["who"])?.name == "online")
        #expect(MethodTable.command(["roster", "add"])?.method == "roster.add")
        #expect(MethodTable.command(["roster"]) == nil)
    }

    @Test("no option of a command hides a global one or another of its own", arguments: MethodTable.commands)
    func options(_ command: CommandSpec) {
        let all = command.options + MethodTable.globalOptions
        #expect(Set(all.map(\.long)).count == all.count)
        let letters = all.compactMap(\.short)
        #expect(Set(letters).count == letters.count)
    }

    @Test("only the last argument may repeat or be left out before it", arguments: MethodTable.commands)
    func arguments(_ command: CommandSpec) {
        let optional = command.arguments.map(\.isOptional)
        #expect(optional == optional.sorted { !$0 && $1 })
        let repeated = command.arguments.dropLast().filter(\.isRepeatable)
        #expect(repeated.isEmpty || command.name == "send")
    }

    @Test("every method of the daemon says what it takes and gives", arguments: MethodTable.commands)
    func fields(_ command: CommandSpec) {
        guard command.isMethod else { return }
        #expect(!command.result.isEmpty)
        #expect(command.allParameters.contains { $0.name == "session" })
        let names = command.allParameters.map(\.name)
        #expect(Set(names).count == names.count)
        #expect((command.place == .daemonStream || command.name == "online") == !command.event.isEmpty)
    }

    @Test("options become parameters in camel case")
    func camelCase() {
        #expect(CommandSpec.camelCase("no-subscribe") == "noSubscribe")
        #expect(CommandSpec.camelCase("id") == "id")
        #expect(
            MethodTable.command(["send"])?.allParameters.map(\.name)
                == [
                    "type", "subject", "thread", "replyTo", "correct", "room", "nick", "receipt", "id", "expire",
                    "until", "to",
                    "text",
                    "session",
                    "timeout",
                ])
    }
}
