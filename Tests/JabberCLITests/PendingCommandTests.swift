// SPDX-License-Identifier: Apache-2.0

import JabberCLI
import JabberControl
import Testing
import XMPPTestSupport

@Suite("A daemon that runs, asked on the command's own thread", .timeLimit(.minutes(2)))
struct PendingCommandTests {
    /// A command line, what the daemon answers, and whether that is the whole of it.
    struct Case: Sendable, CustomTestStringConvertible {
        let words: [String]
        let answers: [String: Result<JSONValue, ControlError>]
        var isWhole = true
        var surroundings = Surroundings()

        init(_ words: String..., answers: [String: Result<JSONValue, ControlError>]) {
            self.words = words
            self.answers = answers
        }

        func more(_ change: (inout Case) -> Void) -> Case {
            var copy = self
            change(&copy)
            return copy
        }

        var testDescription: String { words.joined(separator: " ") }

        var daemon: FakeDaemon {
            FakeDaemon(answers.mapValues(Self.method))
        }

        private static func method(_ answer: Result<JSONValue, ControlError>) -> FakeDaemon.Method {
            { (_, _) async throws(ControlError) -> JSONValue in
                if case .failure(let error) = answer { throw error }
                return (try? answer.get()) ?? .null
            }
        }
    }

    private static let online: JSONValue = [
        "api": 1, "account": "me@example.org",
        "contacts": [["jid": "bob@example.org", "online": true, "show": "away", "status": "lünch"]],
    ]
    private static let nobody: JSONValue = ["api": 1, "account": "me@example.org", "contacts": []]
    private static let sent: JSONValue = [
        "api": 1, "account": "me@example.org",
        "results": [["to": "bob@example.org", "id": "1", "state": "queued", "at": "2026-01-02T03:04:05.678Z"]],
    ]
    private static let bounced: JSONValue = [
        "api": 1, "account": "me@example.org",
        "results": [
            [
                "to": "bob@example.org", "id": "1", "state": "failed", "at": "2026-01-02T03:04:05.678Z",
                "error": ["code": "refused", "exit": 2, "message": "bob@example.org did not get it", "retry": false],
            ]
        ],
    ]
    private static let missing = ControlError(.notFound, "there is no such account", account: "other")

    private static let cases: [Case] = [
        Case("online", answers: ["online": .success(online)]),
        Case("online", answers: ["online": .success(online)]).more { $0.surroundings.isTerminal = true },
        Case("online", "--json", "--timeout", "5", answers: ["online": .success(online)]),
        Case("online", "-q", answers: ["online": .success(nobody)]),
        Case("online", "-n", answers: [:]),
        Case("online", answers: ["online": .failure(missing)]),
        Case("online", "--json", answers: ["online": .failure(missing)]),
        Case(
            "send", "bob@example.org", "hi", "--expire", "1",
            answers: ["send": .failure(ControlError(.badParameters, "\"expire\" is too short"))]),
        Case("online", answers: ["online": .success("no object")]),
        Case("send", "--until", "none", "bob@example.org", "hi", answers: ["send": .success(sent)]),
        Case("send", "bob@example.org", answers: ["send": .success(bounced)]).more { $0.surroundings.input = ["hi\n"] },
        Case("send", "bob@example.org", "", answers: [:]),
        Case("react", "bob@example.org", "1", "+", answers: ["react": .success(sent)]),
        Case("presence", "show", "-q", answers: ["presence.show": .success(["jid": "a@b", "online": false])]),
        Case("raw", "-", "--force", answers: ["raw": .success([:])]).more { $0.surroundings.input = ["<a/>"] },
        Case("daemon", "info", "--openmetrics", answers: ["status": .success(["accounts": []])]),
        // What takes more than that is asked in the other way, and nothing is read a second time.
        Case("ping", answers: ["ping": .failure(ControlError(.passwordNeeded, "no password"))])
            .more { $0.isWhole = false },
        Case("send", "bob@example.org", answers: ["send": .failure(ControlError(.passwordNeeded, "no password"))])
            .more {
                $0.isWhole = false
                $0.surroundings.input = ["hi\n"]
            },
        Case("ping", "-v", answers: ["ping": .success(["roundTrips": [1]])]).more { $0.isWhole = false },
        Case("ping", "--no-daemon", answers: ["ping": .success(["roundTrips": [1]])]).more { $0.isWhole = false },
        Case("ping", "--password-fd", "5", answers: ["password": .success([:]), "ping": .success(["roundTrips": [1]])])
            .more {
                $0.isWhole = false
                $0.surroundings.descriptors = [5: "geheim\n"]
            },
    ]

    @Test("gives the same output, errors and exit code as one that is asked in any other way", arguments: cases)
    func same(_ row: Case) async throws {
        let other = await jabberctl(row.words, daemon: row.daemon, in: row.surroundings)
        var surroundings = row.surroundings
        surroundings.asksDirectly = true
        let direct = await jabberctl(row.words, daemon: row.daemon, in: surroundings)
        #expect(direct.code == other.code)
        #expect(direct.output == other.output)
        #expect(direct.errors == other.errors)
        #expect(direct.asked.last?.params == other.asked.last?.params)
        #expect(direct.asked.last?.method == other.asked.last?.method)
        #expect((direct.choice == nil) == (row.isWhole || other.choice == nil))
        if row.isWhole { #expect(direct.asked.map(\.params) == other.asked.map(\.params)) }
    }

    @Test("whose version is too new or too old is refused, and asked nothing", arguments: [0...0, 2...3])
    func versions(_ api: ClosedRange<Int>) async throws {
        var surroundings = Surroundings()
        var runs: [CommandRun] = []
        for isDirect in [true, false] {
            surroundings.asksDirectly = isDirect
            let daemon = FakeDaemon([:], greeting: ControlGreeting(api: api, instance: "test"))
            runs.append(await jabberctl(["online"], daemon: daemon, in: surroundings))
        }
        #expect(runs[0].code == runs[1].code && [20, 21].contains(runs[0].code))
        #expect(runs[0].errors == runs[1].errors)
        #expect(runs[0].asked.isEmpty && runs[1].asked.isEmpty)
    }
}
