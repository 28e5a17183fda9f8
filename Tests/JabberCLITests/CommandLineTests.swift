// SPDX-License-Identifier: Apache-2.0

import JabberControl
import Testing

@testable import JabberCLI

@Suite("Command line")
struct CommandLineTests {
    func parse(_ words: String, _ variables: [String: String] = [:]) throws(ControlError) -> JabberCLI.CommandLine {
        try JabberCLI.CommandLine(words.split(separator: " ").map(String.init), variables: variables)
    }

    @Test(
        "global options stand before or after the command", arguments: ["-a me online --json", "online --json -a me"])
    func order(_ words: String) throws {
        let line = try parse(words)
        #expect(line.command?.name == "online" && line.value("account") == "me" && line.value("output") == "json")
    }

    @Test(
        "values come attached or apart, letters are bundled, -- ends the options",
        arguments: [
            ("send -m x a@b", ["a@b"], ["message": ["x"]]), ("send --message=x a@b", ["a@b"], ["message": ["x"]]),
            ("send -mx a@b", ["a@b"], ["message": ["x"]]), ("send --message= a@b", ["a@b"], ["message": [""]]),
            ("send -m - a@b", ["a@b"], ["message": ["-"]]),
            ("send a@b -- --line", ["a@b", "--line"], [:]), ("send a@b -", ["a@b", "-"], [:]),
            ("-qvv online", [], ["quiet": [""], "verbose": ["", ""]]),
            ("who -vgjid", [], ["verbose": [""], "get": ["jid"]]),
            ("roster add a@b --group x --group=y", ["a@b"], ["group": ["x", "y"]]),
            ("online --json -o tsv", [], ["output": ["tsv"], "json": [""]]),
            ("presence set away -p -5", ["away"], ["priority": ["-5"]]),
        ])
    func options(_ words: String, _ arguments: [String], _ options: [String: [String]]) throws {
        let line = try parse(words)
        #expect(line.arguments == arguments && line.options == options)
    }

    @Test(
        "wrong usage is told with what was meant",
        arguments: [
            ("onlien", "did you mean \"online\"?"), ("roster lst", "did you mean \"roster list\"?"),
            ("online --al", "did you mean \"--all\"?"), ("online --json=x", "takes no value"),
            ("send -m", "needs a value"), ("online -Z", "no option \"-Z\""), ("send", "TO is missing"),
            ("online x", "one argument too many"), ("-o xml online", "--output must be one of"),
            ("--port 0 online", "from 1 to 65535"), ("--timeout 0 online", "above 0"),
            ("listen --kind message,mesage", "did you mean \"message\"?"),
            ("presence set awya", "did you mean \"away\"?"),
            ("roster", "needs one more word"), ("listen --group x", "no option \"--group\""),
            ("xyzzy", "see: jabberctl help"),
            ("--color sometimes online", "auto, always, never"), ("online --settle 99999", "from 0 to 5000"),
        ])
    func usage(_ words: String, _ message: String) {
        #expect { try parse(words) } throws: { error in
            let error = error as? ControlError
            return error?.exit.rawValue == 64 && error?.message.contains(message) == true
        }
    }

    @Test("an environment variable stands in for an option, and is checked")
    func environment() throws {
        let variables = ["JABBERCTL_ACCOUNT": "me", "JABBERCTL_OUTPUT": "jsonl", "JABBERCTL_TIMEOUT": ""]
        let line = try parse("online -a you", variables)
        #expect(line.value("account") == "you" && line.value("output") == "jsonl" && !line.has("timeout"))
        #expect { try parse("online", ["JABBERCTL_PORT": "x"]) } throws: { "\($0)".contains("JABBERCTL_PORT must be") }
    }

    @Test("of --ask and --no-ask the last one counts")
    func ask() throws {
        #expect(try parse("online --ask --no-ask").has("no-ask"))
        #expect(try !parse("online --no-ask --ask").has("no-ask"))
    }

    @Test("slips of the finger are counted")
    func distance() {
        #expect(Suggestion.distance("onlien", "online") == 1 && Suggestion.distance("", "abc") == 3)
        #expect(Suggestion.closest(to: "zzz", among: ["online"]) == nil)
    }
}
