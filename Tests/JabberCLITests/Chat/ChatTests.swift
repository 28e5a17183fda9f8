// SPDX-License-Identifier: Apache-2.0

import Foundation
import JabberControl
import SocketIO
import Testing
import XMPP
import XMPPTestSupport

@Suite(
    "chat in a terminal", .timeLimit(.minutes(5)),
    .enabled("tmux is not installed") { FileManager.default.isExecutableFile(atPath: "/usr/bin/tmux") || isCI })
struct ChatTests {
    private let folder: TestFolder

    init() throws {
        folder = try TestFolder()
    }

    private static let words =
        #""$0" --no-daemon --no-ask --jid juliet@example.org --host "$SERVER" --port "$PORT" --ca "$CA" chat "#

    /// Runs `body` with a server, and `chat` of juliet's in a terminal.
    private func run(
        _ arguments: String, columns: Int = 60, before: (LoopbackServer) async throws -> Void = { _ in },
        _ body: (LoopbackServer, TerminalScreen) async throws -> Void
    ) async throws {
        let server = try await LoopbackServer.start(
            domain: "example.org", accounts: ["juliet": "secret", "nurse": "secret"])
        try await server.add(LoopbackBuddy("romeo", name: "Romeo", behaviors: []))
        try await before(server)
        let variables = folder.variables([
            "JABBERCTL_PASSWORD": "secret", "JABBERCTLD": OwnProgram.neighbour("jabberctld"),
            "SERVER": server.host, "PORT": "\(server.port)", "CA": server.certificateAuthorityFile,
        ])
        let script = (Self.words + arguments).replacingOccurrences(of: "$0", with: ProcessTests.program)
        let screen = try await TerminalScreen(script, variables, columns: columns, in: folder)
        do {
            try await body(server, screen)
        } catch {
            try await screen.end()
            throw error
        }
        try await screen.end()
        await server.stop()
    }

    private static func message(_ text: String) throws -> Message {
        Message(to: try JID("juliet@example.org"), body: text)
    }

    private static func said(_ line: String) -> @Sendable ([String]) -> Bool {
        { lines in lines.contains { $0.hasSuffix(line) } }
    }

    @Test("what is typed is sent and shown; what comes is shown above the line that is being written, which stays")
    func talk() async throws {
        try await run("romeo@example.org") { server, screen in
            try await screen.wait(for: "the prompt") { $0.last == "romeo>" }
            try await screen.type("grüße, Romeo")
            try await screen.press("Enter")
            _ = try await server.firstElement(from: "juliet") { element in
                element.children.contains { $0.localName == "body" && $0.text == "grüße, Romeo" }
            }
            try await screen.wait(for: "the own line, and that the server has it") { lines in
                lines.contains { $0.hasSuffix("Me: grüße, Romeo") } && lines.last == "romeo ✓>"
            }
            try await screen.type("half a li")
            try await screen.wait(for: "what is typed") { $0.last == "romeo ✓> half a li" }
            try await server.send(try Self.message("/me waves"), as: "romeo")
            try await screen.wait(for: "the message above the line") { lines in
                lines.last == "romeo ✓> half a li" && lines.dropLast().last?.hasSuffix("* romeo waves") == true
            }
            try await screen.type("ne")
            try await screen.press("Enter", "Up")
            try await screen.wait(for: "the earlier line again") { $0.last?.hasSuffix("> half a line") == true }
            try await screen.press("C-u", "C-d")
            try await screen.wait(for: "the end") { $0.suffix(2) == ["rc 0", "as before"] }
        }
    }

    @Test("a line that goes on below is kept together when something comes above it, also after a change of the window")
    func wrapped() async throws {
        try await run("romeo@example.org", columns: 30) { server, screen in
            try await screen.wait(for: "the prompt") { $0.last == "romeo>" }
            try await screen.type("1234567890 abcdefghij 1234567890 abc")
            let first = ["romeo> 1234567890 abcdefghij 1", "234567890 abc"]
            try await screen.wait(for: "two rows") { $0.suffix(2) == first }
            try await server.send(try Self.message("above"), as: "romeo")
            try await screen.wait(for: "the message above both") { lines in
                lines.suffix(2) == first && lines.dropLast(2).last?.hasSuffix("romeo: above") == true
                    && lines.count { $0.contains("1234567890") } == 1
            }
            try await screen.resize(columns: 60, rows: 20)
            try await screen.wait(for: "one row") { $0.last == "romeo> 1234567890 abcdefghij 1234567890 abc" }
            try await server.send(try Self.message("again"), as: "romeo")
            try await screen.wait(for: "the message above it") { lines in
                lines.last == "romeo> 1234567890 abcdefghij 1234567890 abc"
                    && lines.dropLast().last?.hasSuffix("romeo: again") == true
            }
        }
    }

    @Test("in a room names are completed, and the prompt counts who is there")
    func room() async throws {
        try await run("coven@rooms.example.org --nick jules") { server in
            await server.changeOptions { $0.storesOfflineMessages = false }
        } _: { server, screen in
            try await screen.wait(for: "the room") { $0.last == "coven (1)>" }
            let nurse = XMPPStream(try await server.configuration(for: "nurse", resource: "kitchen"))
            try await nurse.connect()
            try await nurse.goOnline()
            let room = try await nurse.join(JID("coven@rooms.example.org"), as: "Nurse")
            try await screen.wait(for: "who came") { lines in
                lines.last == "coven (2)>" && lines.dropLast().last?.hasSuffix("Nurse just joined") == true
            }
            var lines = room.messages.makeAsyncIterator()
            try await screen.type("nu")
            try await screen.press("Tab")
            try await screen.wait(for: "the name") { $0.last == "coven (2)> Nurse:" }
            try await screen.type("hello")
            try await screen.press("Enter")
            #expect(try await lines.next()?.message.body == "Nurse: hello")
            try await screen.wait(for: "the line as the room has it", Self.said("Me: Nurse: hello"))
            try await room.send("welcome")
            try await screen.wait(for: "the answer", Self.said("Nurse: welcome"))
            try await screen.type("/who")
            try await screen.press("Enter")
            try await screen.wait(for: "who is there", Self.said("2 in the room: Nurse, jules"))
            try await screen.type("/quit")
            try await screen.press("Enter")
            try await screen.wait(for: "the end") { $0.suffix(2) == ["rc 0", "as before"] }
            await nurse.disconnect()
        }
    }

    @Test(
        "the terminal is as it was before, whatever ends it",
        arguments: [("C-c", "rc 130"), ("TERM", "rc 143"), ("HUP", "rc 143"), ("KILL", "rc 70")])
    func ends(_ how: String, _ code: String) async throws {
        try await run("romeo@example.org") { _, screen in
            try await screen.wait(for: "the prompt") { $0.last == "romeo>" }
            if how == "C-c" {
                try await screen.press("C-c")
            } else {
                // The daemon is the tool's child; without it nothing can go on.
                let name = how == "KILL" ? "jabberctld" : "jabberctl"
                let script = """
                    for folder in /proc/[0-9]*; do
                        tr '\\0' '\\n' <$folder/environ 2>/dev/null | grep -qx "HOME=$HOME" || continue
                        [ "$(cat $folder/comm)" = \(name) ] && kill -\(how) "${folder#/proc/}"
                    done
                    """
                _ = try await TestFolder.shell(script, ProcessTests.program, folder.variables([:]))
            }
            try await screen.wait(for: "the end") { $0.suffix(2) == [code, "as before"] }
        }
    }

    @Test("without a terminal it says what there is for scripts")
    func noTerminal() async throws {
        let run = try await TestFolder.shell(
            #""$0" --jid a@b chat romeo@example.org"#, ProcessTests.program, folder.variables([:]))
        #expect(run.code == 64 && run.errors.contains("send --line"), "\(run)")
    }
}

/// Where a test that cannot run is a failure.
private let isCI = ProcessInfo.processInfo.environment["CI"] != nil
