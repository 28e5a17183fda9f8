// SPDX-License-Identifier: Apache-2.0

import JabberControl
import SocketIO
import Testing
import XMPPTestSupport

@testable import JabberCLI

@Suite("jabberctl listen --exec", .timeLimit(.minutes(5)))
struct ExecTests {
    private static func event(_ number: Int) -> JSONValue {
        [
            "api": 1, "cursor": .string("00\(number)"), "type": "message", "from": "bob@example.org/phone",
            "body": .string("hi \(number)"), "stanzaId": ["by": "me@example.org", "id": "x"], "priority": 5,
        ]
    }

    /// Sends events, and takes acks.
    private static func daemon(_ events: ClosedRange<Int>) -> FakeDaemon {
        FakeDaemon([
            "listen": { (request, session) async throws(ControlError) in
                for number in events { session.notify(event(number), of: request.id) }
                for await _ in AsyncStream<Void>.makeStream().stream {}
                throw ControlError(.cancelled, "cancelled")
            },
            "ack": { (_, _) throws(ControlError) in ["api": 1] },
        ])
    }

    private func acks(_ run: CommandRun) -> [String] {
        run.asked.filter { $0.method == "ack" }.compactMap { $0.params.string("cursor") }
    }

    @Test("the command has the event on its input and in its variables, and nothing is printed")
    func event() async throws {
        let seen = Locked<[(String, String, [String: String])]>([])
        let run = await jabberctl(
            "listen", "--count", "2", "--exec", "notify", daemon: Self.daemon(1...3),
            in: Surroundings(shell: { command, input, variables in
                seen.withLock { $0.append((command, String(decoding: input, as: UTF8.self), variables)) }
                return 0
            }))
        #expect(run.code == 0 && run.output.isEmpty, "\(run)")
        let calls = seen.withLock { $0 }
        #expect(calls.map(\.0) == ["notify", "notify"])
        #expect(calls.first?.1 == Self.event(1).text + "\n")
        #expect(
            calls.last?.2 == [
                "JABBERCTL_EVENT_API": "1", "JABBERCTL_EVENT_CURSOR": "002", "JABBERCTL_EVENT_TYPE": "message",
                "JABBERCTL_EVENT_FROM": "bob@example.org/phone", "JABBERCTL_EVENT_BODY": "hi 2",
                "JABBERCTL_EVENT_PRIORITY": "5",
            ])
        #expect(acks(run).isEmpty)
    }

    @Test("with a consumer an event is acknowledged when its command has ended with 0, and asked for so")
    func acknowledges() async {
        let run = await jabberctl(
            "listen", "--count", "3", "--exec", "true", "--consumer", "bot", daemon: Self.daemon(1...3))
        #expect(run.code == 0 && acks(run).last == "003" && acks(run) == acks(run).sorted(), "\(run)")
        #expect(run.asked.first?.params.string("ack") == "manual")
        #expect(run.asked.first?.params["exec"] == nil)
    }

    @Test(
        "a command that fails ends it before anything behind its event, which is not acknowledged", arguments: [1, 4])
    func fails(jobs: Int) async {
        let ran = Locked<[String]>([])
        let run = await jabberctl(
            "listen", "--exec", "x", "--consumer", "bot", "--jobs", "\(jobs)", daemon: Self.daemon(1...9),
            in: Surroundings(shell: { _, _, variables in
                let cursor = variables["JABBERCTL_EVENT_CURSOR"] ?? ""
                ran.withLock { $0.append(cursor) }
                return cursor == "003" ? 9 : 0
            }))
        #expect(run.code == 75 && run.errors.contains("ended with 9 for an event at the cursor 003"), "\(run)")
        #expect(acks(run).last == "002", "\(acks(run))")
        if jobs == 1 { #expect(ran.withLock { $0 } == ["001", "002", "003"]) }
    }

    @Test("without a consumer a command that fails is told, and the next one runs")
    func goesOn() async {
        let run = await jabberctl(
            "listen", "--count", "3", "--exec", "x", daemon: Self.daemon(1...3),
            in: Surroundings(shell: { _, _, _ in 1 }))
        #expect(run.code == 0)
        #expect(run.errors.split(separator: "\n").count == 3, "\(run.errors)")
    }

    @Test("no more commands run at a time than were asked for", arguments: [1, 3])
    func bounded(jobs: Int) async {
        let running = Locked((now: 0, most: 0))
        let run = await jabberctl(
            "listen", "--count", "20", "--exec", "x", "--jobs", "\(jobs)", daemon: Self.daemon(1...20),
            in: Surroundings(shell: { _, _, _ in
                running.withLock {
                    $0.now += 1
                    $0.most = max($0.most, $0.now)
                }
                for _ in 0..<1_000 { _ = running.withLock { $0.now } }
                running.withLock { $0.now -= 1 }
                return 0
            }))
        #expect(run.code == 0 && running.withLock { $0.most } <= jobs)
    }

    @Test("a text that is too long for the environment is on the input alone")
    func large() async {
        let text = String(repeating: "x", count: EventRunner.maximumVariableBytes + 1)
        let seen = Locked<[String: String]>([:])
        _ = await jabberctl(
            "listen", "--count", "1", "--exec", "x",
            daemon: FakeDaemon("listen", events: [["type": "message", "body": .string(text)]]),
            in: Surroundings(shell: { _, input, variables in
                seen.withLock { $0 = variables }
                return input.count > text.utf8.count ? 0 : 1
            }))
        #expect(seen.withLock { $0 } == ["JABBERCTL_EVENT_TYPE": "message"])
    }
}
