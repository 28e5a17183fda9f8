// SPDX-License-Identifier: Apache-2.0

import Glibc
import JabberControl
import SocketIO
import Testing

@testable import JabberCLI

@Suite("jabberctl listen", .timeLimit(.minutes(5)))
struct ListenTests {
    static let events: [JSONValue] = [
        [
            "api": 1, "account": "me@example.org", "type": "message", "direction": "in",
            "from": "bob@example.org/phone",
            "kind": "chat", "id": "1", "body": "hi\nthere\u{7}", "at": "2026-01-02T03:04:05.678Z",
        ],
        [
            "api": 1, "type": "presence", "from": "bob@example.org/phone", "show": "away", "status": "lunch",
            "at": "2026-01-02T03:04:06.000Z",
        ],
        [
            "api": 1, "type": "account", "account": "me@example.org", "connection": "connected",
            "at": "2026-01-02T03:04:07.000Z",
        ],
    ]

    @Test("a daemon that was killed is exit code 75, with what to do about it; a private one is a fault of ours")
    func killed() async {
        let daemon = FakeDaemon([
            "listen": { (_, session) throws(ControlError) in
                session.close()
                throw ControlError(.cancelled, "cancelled")
            }
        ])
        let run = await jabberctl("listen", daemon: daemon)
        #expect(run.code == 75)
        #expect(
            run.errors
                == "jabberctl: the daemon ended before it answered; start it again with: jabberctl daemon start\n")
        #expect(await jabberctl("listen", "--no-daemon", daemon: daemon).code == 70)
    }

    @Test("in a pipe an event is one line: when, what, who, text")
    func pipe() async {
        let run = await jabberctl("listen", "--count", "3", daemon: FakeDaemon("listen", events: Self.events))
        #expect(run.code == 0)
        #expect(
            run.output == """
                2026-01-02T03:04:05.678Z\tmessage\tbob@example.org/phone\thi\\u{a}there\\u{7}
                2026-01-02T03:04:06.000Z\tpresence\tbob@example.org/phone\taway (lunch)
                2026-01-02T03:04:07.000Z\taccount\t\tconnected

                """)
    }

    @Test("on a terminal further lines of a message are indented: none can pass for an event")
    func terminal() async {
        let run = await jabberctl(
            "listen", "--count", "2", "--color=never", daemon: FakeDaemon("listen", events: Self.events),
            in: Surroundings(isTerminal: true))
        #expect(
            run.output == """
                2026-01-02T03:04:05.678Z bob@example.org/phone: hi
                    there\\u{7}
                2026-01-02T03:04:06.000Z bob@example.org/phone away (lunch)

                """)
    }

    @Test("JSON is one event a line, to the letter", arguments: ["--json", "-ojsonl"])
    func json(_ form: String) async {
        let run = await jabberctl("listen", "--count", "3", form, daemon: FakeDaemon("listen", events: Self.events))
        #expect(run.lines == Self.events.map(\.text))
    }

    @Test("--count ends it, fields and bare values apply to each event")
    func count() async {
        let daemon = FakeDaemon("listen", events: Self.events)
        let run = await jabberctl("listen", "--count", "1", "-g", "body", daemon: daemon)
        #expect(run.output == "hi\n    there\\u{7}\n" && run.code == 0)
        let exact = await jabberctl("listen", "--count=1", "-g", "body", "-o", "null", daemon: daemon)
        #expect(exact.output == "hi\nthere\u{7}\0")
    }

    @Test("filters travel as parameters, without a time limit")
    func parameters() async {
        let daemon = FakeDaemon("listen", events: Self.events)
        let run = await jabberctl(
            "listen", "--from", "bob@example.org", "--kind", "presence,message", "--count=1", daemon: daemon)
        #expect(
            run.asked.first?.params == ["from": "bob@example.org", "kind": ["presence", "message"], "count": 1])
        let usual = await jabberctl("listen", "--count=1", daemon: FakeDaemon("listen", events: Self.events))
        #expect(usual.asked.first?.params == ["count": 1, "kind": ["message"]])
    }

    @Test("a reader that goes away ends it without a word")
    func brokenPipe() async {
        let run = await jabberctl(
            "listen", daemon: FakeDaemon("listen", events: Self.events), in: Surroundings(breaksPipe: true))
        #expect(run.code == 74 && run.errors.isEmpty)
    }

    @Test("an event that is longer than a line of the protocol is shown whole")
    func longEvent() async {
        let body = String(repeating: "wherefore ", count: 120_000)
        let long: JSONValue = ["api": 1, "type": "message", "from": "bob@example.org/phone", "body": .string(body)]
        let daemon = FakeDaemon("listen", events: [long, Self.events[0]])
        let run = await jabberctl("listen", "--json", "--count", "2", daemon: daemon)
        #expect(run.code == 0 && run.lines.count == 2 && run.lines.first == long.text)
    }

    @Test("a reader that goes away is noticed without an event", arguments: [["listen"], ["online", "--watch"]])
    func readerLeaves(_ words: [String]) async {
        let silent = FakeDaemon(words[0], events: [])
        let run = await jabberctl(words, daemon: silent, in: Surroundings(readerLeaves: true))
        #expect(run.code == 74 && run.errors.isEmpty)
        let quiet = await jabberctl(
            words + ["-q", "--timeout", "0.05"], daemon: FakeDaemon(words[0], events: []),
            in: Surroundings(readerLeaves: true, clock: SystemClock()))
        #expect(quiet.code == 5, "who prints nothing needs no reader")
    }

    @Test("The closed end of a pipe is seen at once", .timeLimit(.minutes(5)))
    func closedPipe() async throws {
        var ends: [Int32] = [0, 0]
        try #require(Glibc.pipe(&ends) == 0)
        defer { close(ends[1]) }
        let (writer, reader) = (ends[1], ends[0])
        await withCheckedContinuation { continuation in
            Terminal().watchReader(of: writer) { continuation.resume() }
            close(reader)
        }
    }

    @Test("--timeout ends it with exit code 5")
    func timeout() async {
        let run = await jabberctl(
            "listen", "--timeout", "0.05", daemon: FakeDaemon("listen", events: []),
            in: Surroundings(clock: SystemClock()))
        #expect(run.code == 5 && run.errors == "jabberctl: no answer within 50 ms (--timeout)\n")
    }
}
