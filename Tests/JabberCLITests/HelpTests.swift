// SPDX-License-Identifier: Apache-2.0

import Foundation
import JabberControl
import Testing
import XMPPTestSupport

@testable import JabberCLI

@Suite("Help, manual and completions")
struct HelpTests {
    @Test("help of every command is at most 80 columns wide and in printable ASCII", arguments: MethodTable.commands)
    func width(_ command: CommandSpec) async {
        let run = await jabberctl(["help"] + command.path)
        #expect(run.code == 0 && run.output == HelpText.command(command))
        for line in run.lines { #expect(line.count <= 80 && line.allSatisfy { $0.isASCII }, "\(line)") }
        for option in command.options { #expect(run.output.contains("--\(option.long)")) }
        #expect(await jabberctl(command.path + ["--help"]).output == run.output)
    }

    @Test("the overview names every command and every global option")
    func overview() async {
        let run = await jabberctl("help")
        for command in MethodTable.commands { #expect(run.output.contains("  \(command.name) ")) }
        for option in MethodTable.globalOptions { #expect(run.output.contains("--\(option.long)")) }
        for line in run.lines { #expect(line.count <= 80, "\(line)") }
        #expect(await jabberctl("--help").output == run.output)
        #expect(await jabberctl("help", "roster").output.contains("roster rename"))
        #expect(await jabberctl("roster", "-h").output.contains("roster rename"))
    }

    @Test("help about what does not exist is wrong usage")
    func unknown() async {
        let run = await jabberctl("help", "onlin")
        #expect(run.code == 64 && run.output.isEmpty && run.errors.contains("did you mean \"online\"?"))
        #expect(await jabberctl().code == 64)
    }

    @Test("help as JSON holds every method with parameters and results")
    func json() async throws {
        let run = await jabberctl("help", "--json")
        let document = try JSONReader.read(run.output.utf8)
        #expect(document["commands"]?.arrayValue?.count == MethodTable.commands.count)
        #expect(document["exitCodes"]?.arrayValue?.count == ExitCode.all.count)
        let send = document["commands"]?.arrayValue?.first { $0["name"] == "send" }
        #expect(send?["parameters"]?.arrayValue?.contains { $0["name"] == "until" } == true)
        #expect(await jabberctl("help", "send", "--json").output.contains("\"method\":\"send\""))
    }

    @Test("the version is told in every form")
    func version() async {
        #expect(await jabberctl("version").output == "jabberctl \(ProductVersion.current)\n")
        #expect(
            await jabberctl("version", "--json").output
                == "{\"api\":1,\"product\":\"jabberctl\",\"version\":\"\(ProductVersion.current)\"}\n")
        #expect(await jabberctl("version", "-g", "version").output == "\(ProductVersion.current)\n")
        #expect(await jabberctl("version", "-q").output.isEmpty)
        #expect(await jabberctl("--version").output == "jabberctl \(ProductVersion.current)\n")
    }

    @Test("the manual has no line that roff would misread, and every command")
    func manual() async {
        let run = await jabberctl("help", "--man")
        for command in MethodTable.commands { #expect(run.output.contains(".SS " + ManualPage.roff(command.name))) }
        let macros: Set<String> = [".TH", ".SH", ".SS", ".PP", ".TP", ".B", ".I", ".EX", ".EE", ".\\\""]
        for line in run.lines where line.hasPrefix(".") || line.hasPrefix("'") {
            #expect(macros.contains(line.split(separator: " ").first.map(String.init) ?? ""), "\(line)")
        }
        #expect(ManualPage.roff(".x-\\") == "\\&.x\\-\\e")
    }

    @Test("the manual names every key of an account's settings", arguments: AccountConfiguration.knownKeys)
    func keys(_ key: String) async throws {
        let manual = await jabberctl("help", "--man").output
        let place = try #require(manual.range(of: "accounts/NAME.json"))
        let entry = manual[place.upperBound...].prefix { $0 != "." }
        #expect(entry.split { !$0.isLetter }.contains(key[...]), "\(entry)")
    }

    @Test("completion scripts are valid for their shell", arguments: ["bash", "zsh", "fish"])
    func completion(_ shell: String) async throws {
        let run = await jabberctl("completion", shell)
        #expect(run.code == 0 && run.output.contains("roster"))
        guard
            let program = ["/bin/\(shell)", "/usr/bin/\(shell)"].first(
                where: FileManager.default.isExecutableFile(atPath:))
        else {
            print("\(shell) is not installed: its completion script was not checked")
            return
        }
        let check = try await FinishedProgram.run([program, "-n", "/dev/stdin"], input: run.output)
        #expect(check.code == 0 && check.errors == "", "\(check)")
    }

    @Test(
        "bash offers what fits the words before",
        arguments: [
            (["ros"], "roster"), (["roster", "re"], "rename,remove"), (["-a", "roster", "onl"], "online"),
            (["--tls", ""], "direct,starttls"), (["online", "--gr"], "--group"), (["-o", "js"], "json,jsonl"),
            (["presence", "set", "a"], "available,away"), (["who", "--wa"], "--watch"),
            (["roster", "list", "--acc"], "--account"),
        ])
    func bash(_ words: [String], _ offered: String) async throws {
        guard FileManager.default.isExecutableFile(atPath: "/bin/bash") else { return }
        let script = await jabberctl("completion", "bash").output
        let quoted = (["jabberctl"] + words).map { "'\($0)'" }.joined(separator: " ")
        let test =
            "COMP_WORDS=(\(quoted)); COMP_CWORD=\(words.count); _jabberctl; IFS=,; printf '%s' \"${COMPREPLY[*]}\""
        let bash = try await FinishedProgram.run(["/bin/bash", "-c", "complete() { :; }\n\(script)\n\(test)"])
        #expect(bash.output == offered)
    }
}
