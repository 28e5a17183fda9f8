// SPDX-License-Identifier: Apache-2.0

import Foundation
import SocketIO
import Testing
import XMPPTestSupport

/// The program itself, with a shell script in place of the daemon.
@Suite("The program jabberctl", .serialized, .timeLimit(.minutes(5)))
struct ProcessTests {
    static let program = OwnProgram.neighbour("jabberctl")

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
        return folder.variables(["JABBERCTLD": folder.path + "/fake", "TERM": "xterm"])
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

    @Test("times are those of the place for a person, kept or live alike, and in UTC for a program")
    func times() async throws {
        func message(_ time: String) -> String {
            #"{"at":"2025-09-10T\#(time)Z","from":"coven@chat.example.org/a","to":"coven@chat.example.org","#
                + #""direction":"in","id":"\#(time)","body":"hi"}"#
        }
        let (kept, live) = ("06:30:00.000", "06:31:00.000")
        let messages = message(kept) + "," + message(live)
        var variables = try variables(
            daemon: #"say '"id":1,"result":{"api":1,"account":"me@example.org","messages":[\#(messages)]}'"#)
        variables["TZ"] = "Europe/Berlin"
        let words = ["history", "coven@chat.example.org"]
        let terminal = try PseudoTerminal([Self.program] + words, variables: variables)
        #expect(try terminal.finish() == 0)
        #expect(
            terminal.text.contains("2025-09-10 08:30") && terminal.text.contains("2025-09-10 08:31"), "\(terminal.text)"
        )
        let run = try await shell(#""$0" history coven@chat.example.org -g at"#, variables)
        #expect(run.output == "2025-09-10T\(kept)Z\n2025-09-10T\(live)Z\n", "\(run)")
    }

    @Test("a time limit that was asked for holds at the prompt too, and the terminal is as before")
    func latePrompt() throws {
        let terminal = try PseudoTerminal(
            [Self.program, "ping", "--timeout", "1.5"], variables: variables(daemon: wantsPassword))
        try terminal.wait(for: "Password for me@example.org: ")
        #expect(try terminal.finish() == 5)
        #expect(terminal.isEchoing && terminal.text.contains("no answer within 1.5 s (--timeout)"))
    }

    @Test("nor does the prompt for a password to store wait longer than asked")
    func lateAccount() throws {
        let terminal = try PseudoTerminal(
            [Self.program, "account", "add", "me@example.org", "--timeout", "1"], variables: variables(daemon: ""))
        try terminal.wait(for: "Password for me@example.org: ")
        #expect(try terminal.finish() == 5)
        #expect(terminal.isEchoing && folder.text(".config/jabberctl/accounts/me@example.org.json").isEmpty)
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
    func brokenPipe() async throws {
        let variables = try variables(daemon: #"say '"id":1,"result":{"jid":"example.org","roundTrips":[1]}'"#)
        let run = try await shell("\"$0\" ping | true; echo ${PIPESTATUS[0]}", variables)
        // Whoever is faster: either the line was written before the pipe was closed, or writing failed. 141 were
        // SIGPIPE.
        #expect(["0\n", "74\n"].contains(run.output) && run.errors.isEmpty)
    }

    @Test("output, errors and exit code reach the shell")
    func shellView() async throws {
        let variables = try variables(daemon: #"say '"id":1,"result":{"jid":"example.org","roundTrips":[1]}'"#)
        let run = try await shell("\"$0\" ping -g milliseconds; echo $?; \"$0\" pign; echo $?", variables)
        #expect(run.output == "1\n0\n64\n")
        #expect(run.errors == "jabberctl: there is no command \"pign\"; did you mean \"ping\"?\n")
    }

    @Test("the command of --exec has the event, its texts unharmed, and neither a password nor a descriptor of ours")
    func exec() async throws {
        let variables = try variables(
            daemon: #"""
                for n in 1 2; do
                    say '"method":"event","params":{"request":1,"event":{"type":"message","id":"'$n'","body":"`id`$(id);'"'"'x"}}'
                done
                """#)
        let script = """
            look='for d in 3 4 5 6 7 8 9; do if [ -e /proc/$$/fd/$d ]; then echo "open: $d"; fi; done'
            "$0" listen --count 2 --exec 'cat; echo "$JABBERCTL_EVENT_BODY"; '"$look; exit 3"; echo $?
            """
        let run = try await shell(script, variables.merging(["JABBERCTL_PASSWORD": "geheim"]) { _, new in new })
        let body = "`id`$(id);'x"
        let lines = ["1", "2"].flatMap { id in
            [#"{"type":"message","id":"\#(id)","body":"\#(body)"}"#, body]
        }
        let shown = run.output.split(separator: "\n").map(String.init)
        #expect(shown == lines + ["0"])
        #expect(run.errors.components(separatedBy: "the command ended with 3").count == 3, "\(run.errors)")
        #expect(!(run.output + run.errors).contains("geheim"))
    }

    @Test(
        "a signal that ends listen is passed on to the command of --exec and to what that has started",
        arguments: ["TERM", "HUP"])
    func execSignal(_ signal: String) async throws {
        let event =
            #"say '"method":"event","params":{"request":1,"event":{"type":"message","from":"a@b","body":"hi"}}'"#
        let script = """
            mkfifo "$HOME/pipe"; exec 5<>"$HOME/pipe"
            # What it starts tells that it is there: until then the signal could be lost between fork and exec.
            child='sh -c "echo \\$PPID; exec sleep 600"'
            "$0" listen --exec 'trap "echo told; exit 0" \(signal); '"$child & wait" >&5 2>/dev/null &
            read -r number <&5; kill -\(signal) $!; wait $!; echo $?
            read -r line <&5; echo "$line"
            for i in $(seq 500); do kill -0 -- "-$number" 2>/dev/null || break; "$0" version >/dev/null; done
            kill -0 -- "-$number" 2>/dev/null || echo gone
            """
        #expect(try await shell(script, variables(daemon: event)).output == "143\ntold\ngone\n")
    }

    @Test("a reader that does not read can neither keep it from ending upon a signal nor beyond its time")
    func stuckReader() async throws {
        let flood = """
            line=$(head -c 200000 /dev/zero | tr '\\0' x)
            say '"method":"event","params":{"request":1,"event":{"type":"message","from":"a@b","body":"'"$line"'"}}'
            """
        let variables = try variables(daemon: flood)
        // The pipe is never read; the shell holds both its ends open.
        let script = """
            mkfifo "$HOME/pipe"; exec 5<>"$HOME/pipe"
            "$0" listen --timeout 1 >&5; echo $?
            mkfifo "$HOME/other"; exec 6<>"$HOME/other"
            "$0" listen >&6 & read -r -n 1 -u 6
            kill -TERM $!; wait $!; echo $?
            """
        let run = try await shell(script, variables)
        #expect(run.output == "5\n143\n")
        #expect(run.errors == "jabberctl: no answer within 1 s (--timeout)\n")
    }

    @Test(
        "an input that gives nothing cannot keep it beyond its time",
        arguments: ["ping --password-fd 5", "send a@b <&5"])
    func stuckInput(command: String) async throws {
        let variables = try variables(daemon: "")
        let run = try await shell(
            "mkfifo \"$HOME/pipe\"; exec 5<>\"$HOME/pipe\"; \"$0\" --timeout 0.5 \(command); echo $?", variables)
        #expect(run.output == "5\n")
    }

    @Test("a descriptor that can only be written to is refused at once, and never read as a password")
    func unreadablePassword() async throws {
        let run = try await shell(
            "\"$0\" --password-fd 5 ping 5>/dev/null; echo $?; \"$0\" --password-fd 1 ping | cat; echo ${PIPESTATUS[0]}",
            variables(daemon: ""))
        #expect(run.output == "64\n64\n" && run.errors.contains("for writing only"), "\(run)")
    }

    @Test("a daemon that hangs cannot keep it for ever, and is ended")
    func hangingDaemon() async throws {
        try folder.write("#!/bin/sh\necho $$ >\"$HOME/number\"\nexec sleep 600\n", to: "fake", mode: 0o755)
        let variables = folder.variables(["JABBERCTLD": folder.path + "/fake"])
        let run = try await shell(
            "\"$0\" --timeout 0.5 ping; echo $?; kill -0 $(cat \"$HOME/number\") 2>&1 || echo gone", variables)
        #expect(run.output.hasPrefix("5\n") && run.output.hasSuffix("gone\n"))
    }

    @Test("a closed standard stream is an error of its use, and never the daemon's connection")
    func closedStreams() async throws {
        let variables = try variables(daemon: #"say '"id":1,"result":{"jid":"example.org","roundTrips":[1]}'"#)
        let run = try await shell(
            "\"$0\" ping >&-; echo $?; \"$0\" ping -g milliseconds <&- 2>&-; echo $?; \"$0\" send a@b <&-; echo $?",
            variables)
        #expect(run.output == "74\n1\n0\n74\n")
        #expect(
            run.errors == """
                jabberctl: cannot write standard output: Bad file descriptor
                jabberctl: cannot read standard input: Bad file descriptor

                """)
    }

    @Test("an argument that is not UTF-8 is refused, not sent as something else")
    func strangeArgument() async throws {
        let run = try await shell("\"$0\" send a@b $'caf\\xe9'; echo $?", variables(daemon: ""))
        #expect(run.output == "65\n")
        #expect(run.errors == "jabberctl: the argument \"caf\u{FFFD}\" is not UTF-8 text\n")
    }

    @Test("a request that is too long for the daemon is refused at once, not waited for")
    func longRequest() async throws {
        let run = try await shell(
            "\"$0\" send $(seq -f '%01200.0f@b' 1 1000) hi 2>/dev/null; echo $?", variables(daemon: ""))
        #expect(run.output == "65\n")
    }

    @Test("nohup keeps a hangup from it")
    func nohup() async throws {
        let event =
            #"say '"method":"event","params":{"request":1,"event":{"type":"message","from":"a@b","body":"hi"}}'"#
        let script = """
            mkfifo "$HOME/pipe"; exec 5<>"$HOME/pipe"
            nohup "$0" listen -g body >&5 2>/dev/null & read -r line <&5; echo "$line"
            kill -HUP $!; kill -TERM $!; wait $!; echo $?
            """
        #expect(try await shell(script, variables(daemon: event)).output == "hi\n143\n")
    }

    @Test("Ctrl-\\ at the prompt restores the terminal")
    func quitPrompt() throws {
        let terminal = try PseudoTerminal([Self.program, "ping"], variables: variables(daemon: wantsPassword))
        try terminal.wait(for: "Password for me@example.org: ")
        terminal.type("half\u{1C}")
        #expect(try terminal.finish() == 143)
        #expect(terminal.isEchoing)
    }

    private func shell(_ script: String, _ variables: [String: String]) async throws -> FinishedProgram {
        try await TestFolder.shell(script, Self.program, variables)
    }
}
