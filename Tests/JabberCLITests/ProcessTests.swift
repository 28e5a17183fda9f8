// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The program itself, with a shell script in place of the daemon.
@Suite("The program jabberctl", .serialized, .timeLimit(.minutes(1)))
struct ProcessTests {
    static let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        .appending(path: "jabberctl").path

    let folder: TestFolder

    init() throws {
        folder = try TestFolder()
    }

    /// Writes a daemon that greets, then does what the script says, and notes when its connection has ended.
    func variables(daemon script: String) throws -> [String: String] {
        try folder.write(
            """
            #!/bin/sh
            say() { printf '{"jsonrpc":"2.0",%s}\\n' "$1" >&3; }
            say '"method":"hello","params":{"product":"fake","version":"1","api":{"min":1,"max":1},"instance":"x"}'
            read -r request <&3
            \(script)
            while read -r request <&3; do :; done
            echo ended >"$HOME/ended"

            """, to: "fake", mode: 0o755)
        return ["HOME": folder.path, "PATH": "/usr/bin:/bin", "JABBERCTLD": folder.path + "/fake", "TERM": "xterm"]
    }

    private let wantsPassword =
        #"say '"id":1,"error":{"code":-32000,"message":"no password","data":{"code":"password-needed","exit":78,"account":"me@example.org"}}'"#

    private let answersPing = #"say '"id":3,"result":{"jid":"example.org","roundTrips":[1]}'"#

    @Test("a password is asked without echo, used, and the terminal is as before")
    func prompt() throws {
        let variables = try variables(
            daemon: wantsPassword + "\nread -r password <&3\necho \"$password\" >\"$HOME/password\"\n"
                + #"say '"id":2,"result":{}'"# + "\nread -r request <&3\n" + answersPing)
        let terminal = try PseudoTerminal([Self.program, "ping"], variables: variables)
        try terminal.wait(for: "Password for me@example.org: ")
        #expect(!terminal.isEchoing)
        terminal.type("geheim\n")
        try terminal.wait(for: "example.org  1")
        #expect(try terminal.finish() == 0)
        #expect(terminal.isEchoing && !terminal.text.contains("geheim"))
        #expect(folder.text("password").contains(#""password":"geheim""#))
        #expect(folder.text("ended") == "ended\n")
    }

    @Test("Ctrl-C at the prompt restores the terminal, ends the daemon in good order and is exit code 130")
    func interruptedPrompt() throws {
        let terminal = try PseudoTerminal([Self.program, "ping"], variables: variables(daemon: wantsPassword))
        try terminal.wait(for: "Password for me@example.org: ")
        #expect(!terminal.isEchoing)
        terminal.type("half\u{3}")
        #expect(try terminal.finish() == 130)
        #expect(terminal.isEchoing && !terminal.text.contains("half"))
        #expect(folder.text("ended") == "ended\n")
    }

    @Test("Ctrl-C ends listen with exit code 130 and lets the daemon close its session")
    func interruptedListen() throws {
        let event =
            #"say '"method":"event","params":{"request":1,"event":{"type":"message","from":"a@b","body":"hi\u001b[2J"}}'"#
        let terminal = try PseudoTerminal([Self.program, "listen"], variables: variables(daemon: event))
        try terminal.wait(for: "hi")
        terminal.type("\u{3}")
        #expect(try terminal.finish() == 130)
        #expect(terminal.text.contains(#"hi\u{1b}[2J"#))
        #expect(folder.text("ended") == "ended\n")
    }

    @Test("a reader that closes its end never kills it by SIGPIPE")
    func brokenPipe() throws {
        let variables = try variables(daemon: #"say '"id":1,"result":{"jid":"example.org","roundTrips":[1]}'"#)
        let run = try shell("\"$0\" ping | true; echo ${PIPESTATUS[0]}", variables)
        // Whoever is faster: either the line was written before the pipe was closed, or writing failed. 141 were SIGPIPE.
        #expect(["0\n", "74\n"].contains(run.output) && run.errors.isEmpty)
    }

    @Test("output, errors and exit code reach the shell")
    func shellView() throws {
        let variables = try variables(daemon: #"say '"id":1,"result":{"jid":"example.org","roundTrips":[1]}'"#)
        let run = try shell("\"$0\" ping -g milliseconds; echo $?; \"$0\" pign; echo $?", variables)
        #expect(run.output == "1\n0\n64\n")
        #expect(run.errors == "jabberctl: there is no command \"pign\"; did you mean \"ping\"?\n")
    }

    private func shell(_ script: String, _ variables: [String: String]) throws -> (output: String, errors: String) {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/bash")
        process.arguments = ["-c", script, Self.program]
        process.environment = variables
        let output = Pipe()
        let errors = Pipe()
        process.standardOutput = output
        process.standardError = errors
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        let complaints = errors.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (String(decoding: text, as: UTF8.self), String(decoding: complaints, as: UTF8.self))
    }
}
