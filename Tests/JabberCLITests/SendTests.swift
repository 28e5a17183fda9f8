// SPDX-License-Identifier: Apache-2.0

import JabberControl
import SocketIO
import Testing
import XMPPTestSupport

@testable import JabberCLI

@Suite("jabberctl send", .timeLimit(.minutes(5)))
struct SendTests {
    /// Answers with the state `server` for every recipient but those at `bounce.example`.
    static func daemon() -> FakeDaemon {
        FakeDaemon([
            "send": { (request, _) throws(ControlError) in
                let results = (request.params["to"]?.stringsValue ?? []).map { to -> JSONValue in
                    guard to.hasSuffix("bounce.example") else {
                        return ["to": .string(to), "id": "m1", "state": "server", "at": "2026-01-02T03:04:05.678Z"]
                    }
                    let error = ControlError(
                        .refused, "service-unavailable", stanza: ["type": "cancel", "condition": "service-unavailable"])
                    return ["to": .string(to), "id": "m1", "state": "failed", "error": .object(error.json)]
                }
                return ["api": 1, "account": "me@example.org", "results": .array(results)]
            }
        ])
    }

    @Test(
        "the text comes from the last argument, an option, a pipe or a file",
        arguments: [
            (["a@example.org", "hi"], "", "hi"), (["a@example.org"], "from pipe\n", "from pipe"),
            (["-m", "-", "a@example.org"], "x\ny\n", "x\ny"), (["a@example.org", "-m", "hi there"], "", "hi there"),
            (["a@example.org", "--", "--line"], "", "--line"), (["a@example.org"], "crlf\r\n", "crlf"),
            (["a@example.org"], "\n\ntwo\n\n", "\n\ntwo\n"),
            (["a@example.org"], "Line1\nLine2\r\n\n  indented\n", "Line1\nLine2\r\n\n  indented"),
        ])
    func text(_ words: [String], _ input: String, _ text: String) async {
        let run = await jabberctl(["send"] + words, daemon: Self.daemon(), in: Surroundings(input: [input]))
        #expect(run.code == 0 && run.errors.isEmpty)
        #expect(run.asked.first?.params.string("text") == text)
        #expect(run.asked.first?.params["to"] == ["a@example.org"])
    }

    @Test("with -m every argument is a recipient; all options travel")
    func recipients() async {
        let run = await jabberctl(
            "send", "-m", "hi", "a@example.org", "b@example.org", "--type", "normal", "--subject", "S", "--thread", "T",
            "--id", "I", "--until", "none", daemon: Self.daemon())
        #expect(
            run.asked.first?.params == [
                "to": ["a@example.org", "b@example.org"], "type": "normal", "subject": "S", "thread": "T", "id": "I",
                "until": "none", "text": "hi", "timeout": 30.0,
            ]
                || run.asked.first.map { Set($0.params.keys) } == [
                    "to", "type", "subject", "thread", "id", "until", "text", "timeout",
                ])
        #expect(run.lines.count == 2 && run.lines[0] == "server\ta@example.org\tm1\t2026-01-02T03:04:05.678Z")
    }

    @Test("success is silent on a terminal, a document with --json")
    func success() async {
        let terminal = await jabberctl(
            "send", "a@example.org", "hi", daemon: Self.daemon(), in: Surroundings(isTerminal: true))
        #expect(terminal.code == 0 && terminal.output.isEmpty && terminal.errors.isEmpty)
        let json = await jabberctl("send", "a@example.org", "hi", "--json", daemon: Self.daemon())
        #expect(
            json.output
                == #"{"api":1,"account":"me@example.org","results":[{"to":"a@example.org","id":"m1","state":"server","#
                + #""at":"2026-01-02T03:04:05.678Z"}]}"# + "\n")
        #expect(await jabberctl("send", "a@b", "hi", "-g", "id", daemon: Self.daemon()).output == "m1\n")
    }

    @Test("a bounce is exit code 2 and named; the worst of several recipients decides")
    func bounce() async {
        let run = await jabberctl("send", "-m", "hi", "a@example.org", "b@bounce.example", daemon: Self.daemon())
        #expect(run.code == 2)
        #expect(run.errors == "jabberctl: b@bounce.example: service-unavailable\n")
        #expect(run.lines.map { $0.split(separator: "\t").first } == ["server", "failed"])
        #expect(!run.output.contains("unavailable"), "the reason is told once")
    }

    @Test("why a recipient failed is told in the record where it was asked for, or where a program reads")
    func reason() async {
        for words in [["-f", "to,error.message"], ["-g", "error.message"], ["-o", "tsv"]] {
            let run = await jabberctl(["send", "b@bounce.example", "hi"] + words, daemon: Self.daemon())
            #expect(run.output.contains("service-unavailable") && run.errors.isEmpty, "\(words)")
        }
    }

    @Test(
        "a bare word is no address: nothing is guessed, and what one looks like is said",
        arguments: ["romeo", "R o"])
    func bareWord(_ word: String) async {
        let run = await jabberctl("send", "a@example.org", word, "-m", "hi", daemon: Self.daemon())
        #expect(run.code == 65 && run.asked.isEmpty)
        #expect(run.errors.contains("\"\(word)\" is no address: it must look like romeo@example.org"))
        #expect(await jabberctl("send", "conference.example.org", "hi", daemon: Self.daemon()).code == 0)
    }

    @Test("what was sent is sent, though nobody can be told: the exit code says how far it came, and every line goes")
    func unheard() async {
        let closed = Surroundings(input: ["one\ntwo\n"], breaksPipe: true)
        for (to, code, told) in [
            ("a@example.org", Int32(0), ""),
            ("b@bounce.example", 2, "jabberctl: b@bounce.example: service-unavailable\n"),
        ] {
            let run = await jabberctl("send", to, "hi", daemon: Self.daemon(), in: closed)
            #expect(run.code == code && run.asked.count == 1 && run.errors == told)
        }
        let run = await jabberctl("send", "a@example.org", "--line", daemon: Self.daemon(), in: closed)
        #expect(run.code == 0 && run.asked.count == 2)
    }

    @Test("a full daemon keeps no command beyond its time, and the error says why and what to do")
    func fullDaemon() async throws {
        let clock = TestClock()
        let (refusals, refused) = AsyncStream<Void>.makeStream()
        let asked = Locked(0)
        let full = FakeDaemon([
            "send": { (_, _) async throws(ControlError) in
                let number = asked.withLock { asked in
                    asked += 1
                    return asked
                }
                // The time is up while it is asked for the second time.
                if number == 2 { await clock.advance(by: .seconds(2)) }
                refused.yield()
                throw ControlError(.busy, "the daemon has 64 clients already; end some")
            }
        ])
        let running = Task {
            await jabberctl("send", "a@b", "hi", "--timeout", "2", daemon: full, in: Surroundings(clock: clock))
        }
        for await _ in refusals { break }
        // The limit's timer, and that of the pause before the daemon is asked again.
        try await Patience.wait(for: "the pause, and the limit beside it") { clock.timerCount == 2 }
        await clock.advance(by: .milliseconds(100))
        let run = await running.value
        #expect(run.code == 5 && run.asked.count == 2)
        #expect(
            run.errors == "jabberctl: no answer within 2 s (--timeout): the daemon has 64 clients already; end some\n")
    }

    @Test("each line of a pipe is a message of its own with --line, on one connection")
    func lines() async {
        let run = await jabberctl(
            "send", "a@example.org", "--line", daemon: Self.daemon(),
            in: Surroundings(input: ["one\ntw", "o\n\nthree"]))
        #expect(run.code == 0)
        #expect(run.asked.map { $0.params.string("text") } == ["one", "two", "three"])
        #expect(run.lines.count == 3)
        let json = await jabberctl(
            "send", "a@example.org", "--line", "--json", daemon: Self.daemon(), in: Surroundings(input: ["1\n2\n"]))
        #expect(json.lines.count == 1)
        #expect((try? JSONReader.read(json.output.utf8))?["results"]?.arrayValue?.count == 2)
    }

    @Test(
        "nothing to send, two sources, bad input and a missing file have their codes",
        arguments: [
            (["a@b"], "", 64, "nothing on standard input"), (["a@b", ""], "", 64, "text is empty"),
            (["a@b", "--line"], "\n\n", 64, "nothing on standard input"),
            (["a@b", "-m", "x", "--line"], "", 64, "choose one"),
            (["a@b", "--line", "--id", "x"], "y", 64, "not with --line"), (["", "x"], "", 65, "recipient is empty"),
            (Array(repeating: "a@b", count: 1_001) + ["x"], "", 64, "nothing was sent"),
            (["a@b", "--file", "/no/such/file"], "", 66, "no file"), ([], "", 64, "TO is missing"),
        ] as [([String], String, Int32, String)])
    func failures(_ words: [String], _ input: String, _ code: Int32, _ message: String) async {
        let run = await jabberctl(["send"] + words, daemon: Self.daemon(), in: Surroundings(input: [input]))
        #expect(run.code == code && run.errors.contains(message) && run.output.isEmpty)
        #expect(run.asked.isEmpty)
    }

    @Test("text is read from a file; what is too long is refused before anything is sent")
    func file() async throws {
        let folder = try TestFolder()
        try folder.write("from file\n", to: "text")
        let surroundings = Surroundings(home: folder.path)
        let run = await jabberctl("send", "a@b", "--file", "text", daemon: Self.daemon(), in: surroundings)
        #expect(run.asked.first?.params.string("text") == "from file")
        let long = String(repeating: "x", count: InputText.maximumBytes + 1)
        let refused = await jabberctl("send", "a@b", daemon: Self.daemon(), in: Surroundings(input: [long]))
        #expect(refused.code == 65 && refused.asked.isEmpty)
        let longest = await jabberctl(
            "send", "a@b", daemon: Self.daemon(), in: Surroundings(input: [String(long.dropLast())]))
        #expect(longest.code == 0)
    }

    @Test("--dry-run shows the request and sends nothing")
    func dryRun() async {
        let run = await jabberctl("-n", "-a", "me", "send", "a@b", "hi", daemon: Self.daemon())
        #expect(
            run.output == #"{"method":"send","params":{"to":["a@b"],"text":"hi","session":{"account":"me"}}}"# + "\n")
        #expect(run.code == 0 && run.asked.isEmpty && run.choice == nil)
    }
}
