// SPDX-License-Identifier: Apache-2.0

import Foundation
import JabberControl
import SocketIO
import Testing
import XMPP
import XMPPTestSupport

/// The real `jabberctl` and the real `jabberctld` that stays.
@Suite("The daemon that stays, as programs", .timeLimit(.minutes(3)), .serialized)
struct LastingProgramTests {
    /// A server with romeo on it, and the home of juliet, who has an account there; whatever runs there is stopped
    /// afterwards.
    private func scene(
        _ options: LoopbackOptions = LoopbackOptions(), _ body: (LoopbackServer, Lodging) async throws -> Void
    ) async throws {
        let server = try await LoopbackServer.start(
            domain: "example.org", accounts: ["juliet": "secret", "nurse": "secret"], options: options)
        try await server.add(LoopbackBuddy("romeo", name: "Romeo", behaviors: []))
        let home = try Lodging(
            domain: "example.org", host: server.host, port: server.port,
            authorityFile: server.certificateAuthorityFile)
        do {
            try await body(server, home)
        } catch {
            _ = try? await home.run("daemon", "stop")
            await server.stop()
            throw error
        }
        _ = try? await home.run("daemon", "stop")
        await server.stop()
        home.remove()
    }

    @Test("Started, asked, started anew and stopped, as a person does it")
    func life() async throws {
        try await scene { server, home async throws in
            #expect(try await home.run("status").code == 3)
            #expect(try await home.run("daemon", "start", "-g", "started").output == "true\n")
            #expect(try await home.run("daemon", "start", "-g", "started").output == "false\n")
            #expect(try await home.run("connect").code == 0)
            let status = try await home.run("status", "--json")
            #expect(status.output.contains("\"connection\":\"connected\""), "\(status)")
            #expect(try await home.run("online", "-g", "jid").output == "romeo@example.org\n")
            #expect(try await home.run("send", "romeo@example.org", "hi", "-g", "state").output == "server\n")
            let first = try await home.run("daemon", "info", "-g", "instance").output
            let pid = try await home.run("daemon", "info", "-g", "pid").output
            #expect(try await home.run("daemon", "restart").code == 0)
            #expect(try await home.run("daemon", "info", "-g", "instance").output != first)
            #expect(try await home.run("daemon", "info", "-g", "pid").output == pid, "the process stays the same")
            #expect(try await home.run("connect").code == 0)
            #expect(try await home.run("daemon", "stop").code == 0)
            #expect(await server.openConnections == 0)
            #expect(!FileManager.default.fileExists(atPath: home.socket))
            #expect(try await home.run("daemon", "stop").code == 3)
        }
    }

    /// The exit codes of daemons, once all but one have ended; `nil` of the one that has not.
    private static func codes(of daemons: [ChildProcess]) -> [Int32?] {
        var codes = [Int32?](repeating: nil, count: daemons.count)
        for _ in 0..<1_000 where codes.count(where: { $0 == nil }) > 1 {
            for (index, daemon) in daemons.enumerated() where codes[index] == nil {
                codes[index] = daemon.wait(milliseconds: 5)
            }
        }
        return codes
    }

    @Test("Of a hundred daemons, four at once, one survives each time, also where one was killed before")
    func race() async throws {
        try await scene { _, home async throws in
            for round in 0..<25 {
                let daemons = try (0..<4).map { _ in try home.daemon() }
                let codes = await BlockingWork.run { Self.codes(of: daemons) }
                #expect(codes.count { $0 == 75 } == 3 && codes.contains(nil), "\(codes)")
                #expect(try await home.run("daemon", "info").code == 0)
                // What a killed one has left is taken over by the next.
                let signal = round % 5 == 4 ? SIGTERM : SIGKILL
                for (daemon, code) in zip(daemons, codes) where code == nil {
                    daemon.kill(signal)
                    let end = await BlockingWork.run { daemon.wait(milliseconds: 6_000) }
                    #expect(end == (signal == SIGTERM ? 0 : 128 + SIGKILL))
                }
            }
        }
    }

    @Test("What a killed daemon has left is taken over")
    func takeover() async throws {
        try await scene { _, home async throws in
            let daemon = try home.daemon()
            try await home.awaitDaemon()
            daemon.kill(SIGKILL)
            #expect(await BlockingWork.run { daemon.wait() } == 128 + SIGKILL)
            #expect(FileManager.default.fileExists(atPath: home.socket))
            let start = ContinuousClock.now
            #expect(try await home.run("daemon", "start").code == 0)
            #expect(ContinuousClock.now - start < .seconds(5))
            #expect(try await home.run("connect").code == 0)
            #expect(try await home.run("daemon", "stop").code == 0)
        }
    }

    @Test("A daemon that cannot begin says why to whoever starts it, and leaves no process behind")
    func failedStart() async throws {
        try await scene { _, home async throws in
            let script = """
                touch "$HOME/file"
                "$0" daemon start --socket "$HOME/file/s" 2>&1; echo "exit code $?"
                grep -alz "HOME=$HOME" /proc/[0-9]*/environ | xargs -r ps -o args= -p | grep -c [j]abberctld
                """
            let output = try await home.shell(script).output
            let lines = output.split(separator: "\n").map(String.init)
            #expect(lines.count >= 3 && lines[0].hasPrefix("jabberctl: ") && lines[0].contains("/file"), "\(output)")
            #expect(lines.contains("exit code 78") && lines.last == "0", "\(output)")
        }
    }

    @Test("A killed daemon loses nothing: what it had accepted arrives once and in order, as does what comes then")
    func killed() async throws {
        var options = LoopbackOptions()
        options.resumption = .kept(for: .seconds(300))
        try await scene(options) { server, home async throws in
            let ids = (1...8).map { "k\($0)" }
            for (number, id) in ids.enumerated() {
                let daemon = try home.daemon()
                try await home.awaitDaemon()
                // Before it is connected, or after: what was accepted is accepted.
                if number % 2 == 0 { #expect(try await home.run("connect").code == 0) }
                #expect(
                    try await home.run("send", "romeo@example.org", id, "--id", id, "--until", "none").code == 0)
                daemon.kill(SIGKILL)
                #expect(await BlockingWork.run { daemon.wait() } == 128 + SIGKILL)
                try await server.send(
                    Message(to: try JID("juliet@example.org"), body: "m\(number)"), as: "romeo")
            }
            let daemon = try home.daemon()
            try await home.awaitDaemon()
            #expect(try await home.run("connect").code == 0)
            let last = try await home.run("send", "romeo@example.org", "k8", "--id", "k8", "-g", "state")
            #expect(last.output == "server\n")
            let arrived = try await server.stanzas(for: "romeo").compactMap { $0["id"] }
            #expect(arrived.filter(ids.contains) == ids)
            let heard = try await home.run("listen", "--since", "1", "--count", "8", "-g", "body")
            #expect(heard.output.split(separator: "\n").filter { !$0.isEmpty } == (0..<8).map { "m\($0)" })
            daemon.kill(SIGTERM)
            #expect(await BlockingWork.run { daemon.wait(milliseconds: 6_000) } == 0)
        }
    }

    @Test("Who asked for a subscription is listed by the daemon after a killed one, until there is an answer")
    func killedWithRequests() async throws {
        var options = LoopbackOptions()
        options.resumption = .kept(for: .seconds(300))
        try await scene(options) { server, home async throws in
            /// What a daemon lists in its life, and after an answer that is given in it.
            func life(_ signal: Int32, _ work: () async throws -> Void = {}) async throws -> [String] {
                let daemon = try home.daemon()
                try await home.awaitDaemon()
                #expect(try await home.run("connect").code == 0)
                try await work()
                let listed = try await home.run("sub", "pending").output
                daemon.kill(signal)
                let end = await BlockingWork.run { daemon.wait(milliseconds: 6_000) }
                #expect(end == (signal == SIGKILL ? 128 + SIGKILL : 0))
                return listed.split(separator: "\n").map { $0.split(separator: "\t").prefix(2).joined(separator: "\t") }
            }
            let both = ["tybalt@example.com\ta word with one of you", "paris@example.com\ta man of wax"]
            let first = try await life(SIGKILL) {
                for line in both {
                    // Said once, and not again when the account becomes available.
                    let words = line.split(separator: "\t").map(String.init)
                    var request = Presence(.subscribe, status: words[1])
                    request.from = try JID(words[0])
                    await server.push(request.element, to: "juliet")
                }
            }
            #expect(first == both)
            // What the first had not acknowledged comes again to the second; to the third nobody says it again.
            for _ in 0..<2 { #expect(try await life(SIGKILL) == both) }
            let answered = try await life(SIGKILL) {
                let denied = try await home.run("sub", "deny", "tybalt@example.com")
                #expect(denied.code == 0)
            }
            #expect(answered == [both[1]])
            #expect(try await life(SIGTERM) == [both[1]])
            // A new session is told of all who wait, and this server knows of nobody.
            #expect(try await life(SIGTERM) == [])
        }
    }

    @Test("SIGHUP makes it read its settings, SIGTERM ends its streams in good order: exit code 0")
    func signals() async throws {
        try await scene { server, home async throws in
            let daemon = try home.daemon()
            try await home.awaitDaemon()
            #expect(try await home.run("connect").code == 0)
            try home.write("nurse")
            daemon.kill(SIGHUP)
            try await Patience.wait(for: "the daemon to know nurse") {
                try await home.run("connect", "nurse").code != 4
            }
            #expect(try await home.run("status", "-q").code == 0)
            daemon.kill(SIGTERM)
            #expect(await BlockingWork.run { daemon.wait(milliseconds: 6_000) } == 0)
            #expect(await server.openConnections == 0)
        }
    }

    @Test("A hundred commands at once: no answer is lost or goes to another")
    func parallel() async throws {
        try await scene { _, home async throws in
            #expect(try await home.run("daemon", "start").code == 0)
            #expect(try await home.run("connect").code == 0)
            let script = """
                for i in $(seq 100); do
                    (got=$("$0" send romeo@example.org "$i" --id "m$i" -g id); echo "m$i=$got") &
                done; wait
                """
            let lines = Set(try await home.shell(script).output.split(separator: "\n").map(String.init))
            #expect(lines == Set((1...100).map { "m\($0)=m\($0)" }))
            #expect(try await home.run("daemon", "stop").code == 0)
        }
    }

    @Test(
        "A signal ends a command that waits for the daemon's answer, and not what it has asked for",
        arguments: [("INT", "130"), ("TERM", "143"), ("HUP", "143")])
    func interrupted(_ signal: String, _ code: String) async throws {
        try await scene { server, home async throws in
            #expect(try await home.run("daemon", "start").code == 0)
            #expect(try await home.run("connect").code == 0)
            // Romeo sends no receipts. Without job control the shell would let it ignore SIGINT.
            let script = """
                set -m; "$0" send romeo@example.org hi --id waits --until device & echo $! >"$HOME/pid"; wait $!; echo "rc $?"
                """
            async let run = home.shell(script)
            _ = try await server.firstElement(from: "juliet") { $0["id"] == "waits" }
            let kill = #"until [ -s "$HOME/pid" ]; do :; done; kill -\#(signal) "$(cat "$HOME/pid")""#
            #expect(try await home.shell(kill).code == 0)
            #expect(try await run.output.split(separator: "\n").last == "rc \(code)")
            let again = try await home.run("send", "romeo@example.org", "hi", "--id", "waits", "-g", "state")
            #expect(again.output == "server\n")
            #expect(try await home.run("daemon", "stop").code == 0)
        }
    }

    @Test("Another user gets nothing, even where the file would let it in", .enabled(if: geteuid() == 0))
    func foreignUser() async throws {
        try await scene { server, home async throws in
            #expect(try await home.run("daemon", "start").code == 0)
            let script = """
                chmod 755 "$HOME" "$HOME/run" "$HOME/run/jabberctl"; chmod 777 "$HOME/run/jabberctl/control.sock"
                runuser -u nobody -- perl -MIO::Socket::UNIX -e '
                    my $s = IO::Socket::UNIX->new(Peer => $ARGV[0]) or die "cannot connect";
                    print "got: ", join("", <$s>), "\n"' "$HOME/run/jabberctl/control.sock"
                """
            #expect(try await home.shell(script).output == "got: \n")
            #expect(try await home.run("daemon", "stop").code == 0)
        }
    }
}
