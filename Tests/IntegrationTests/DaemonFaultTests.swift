// SPDX-License-Identifier: Apache-2.0

import Foundation
import JabberControl
import SocketIO
import Testing
import XMPP
import XMPPTestSupport

/// The real `jabberctld`, whose system calls fail for a while (strace), and whose file is damaged while it is away.
@Suite("A daemon whose disk or system fails", .timeLimit(.minutes(4)), .serialized)
struct DaemonFaultTests {
    /// What fails, how, and whether a message is refused meanwhile.
    struct Fault: Sendable, CustomTestStringConvertible {
        let calls: String
        let error: String
        /// Which of the calls fail, as strace takes it.
        var when = "1+"
        /// With what a command ends meanwhile; `nil` where it may go either way.
        var exit: Int32?

        var testDescription: String { "\(error) of \(calls)" }

        /// What strace is told.
        var options: [String] { ["-e", "trace=\(calls)", "-e", "inject=\(calls):error=\(error):when=\(when)"] }
    }

    private static let faults = [
        Fault(calls: "fsync,fdatasync", error: "EIO", exit: 74), Fault(calls: "pwrite64", error: "EIO", exit: 74),
        Fault(calls: "pwrite64", error: "ENOSPC", exit: 74),
        Fault(calls: "fsync,fdatasync,pwrite64", error: "EIO", when: "2+3"),
        Fault(calls: "accept4,openat,socket", error: "EMFILE"),
        Fault(calls: "pwrite64,fsync,fdatasync,sendto,recvfrom,read,write,accept4,openat", error: "EINTR", when: "1+3"),
    ]

    /// A server with juliet's account and romeo on it, and a daemon for her.
    private func scene(
        _ body: (LoopbackServer, Lodging) async throws -> Void
    ) async throws {
        var options = LoopbackOptions()
        options.resumption = .kept(for: .seconds(120))
        options.offersArchive = true
        let server = try await LoopbackServer.start(
            domain: "example.org", accounts: ["juliet": "secret"], options: options)
        try await server.add(LoopbackBuddy("romeo", behaviors: []))
        let home = try Lodging(
            domain: "example.org", host: server.host, port: server.port,
            authorityFile: server.certificateAuthorityFile)
        defer { home.remove() }
        do {
            try await body(server, home)
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    private func say(_ text: String, _ server: LoopbackServer) async throws {
        try await server.send(Message(to: try JID("juliet@example.org"), body: text, id: text), as: "romeo")
    }

    /// The texts that a daemon has kept.
    private func kept(_ home: Lodging, _ count: Int) async throws -> [String] {
        let heard = try await home.run("listen", "--since", "1", "--count", String(count), "-g", "body")
        return heard.output.split(separator: "\n").map(String.init).filter { !$0.isEmpty }
    }

    @Test(
        "While calls fail nothing is lost that was accepted, and nothing counted that is not kept; it says what is wrong, and goes on by itself afterwards",
        .enabled(if: Trace.isPossible, "takes strace and root"), arguments: faults)
    func fails(_ fault: Fault) async throws {
        try await scene { server, home in
            let daemon = try home.daemon()
            try await home.awaitDaemon()
            #expect(try await home.run("connect").code == 0)
            #expect(try await home.run("send", "romeo@example.org", "before", "--id", "before").code == 0)
            try await say("in-1", server)
            #expect(try await kept(home, 1) == ["in-1"])

            let trace = try Trace(of: daemon.processID, fault.options)
            guard await trace.isOn() else {
                return print("strace cannot attach here: the daemon's faults are left out")
            }
            try await say("in-2", server)
            var accepted: [String] = []
            for id in ["a", "b", "c"] {
                let outcome = try await home.run(
                    "send", "romeo@example.org", id, "--id", id, "--until", "none", "--timeout", "2")
                if outcome.code == 0 { accepted.append(id) }
                guard let exit = fault.exit else { continue }
                #expect(outcome.code == exit && outcome.errors.contains("juliet.db"), "\(outcome)")
            }
            if fault.exit != nil {
                let status = try await home.run("status", "--json")
                #expect(status.output.contains("juliet.db"), "\(status.output)")
            }
            await trace.end()

            var last: FinishedProgram?
            try await Patience.wait(for: "the daemon to go on") {
                last = try await home.run("send", "romeo@example.org", "after", "--id", "after", "--timeout", "5")
                return last?.code == 0
            }
            try await say("in-3", server)
            #expect(try await kept(home, 3) == ["in-1", "in-2", "in-3"])
            let arrived = try await server.stanzas(for: "romeo").compactMap { $0["id"] }.filter {
                ["before", "a", "b", "c", "after"].contains($0)
            }
            #expect(Set(arrived).count == arrived.count, "\(arrived)")
            #expect(Set(arrived).isSuperset(of: accepted + ["before", "after"]), "\(arrived) of \(accepted)")
            let status = try await home.run("status", "--json")
            #expect(!status.output.contains("juliet.db"), "\(status.output)")
            daemon.kill(SIGTERM)
            #expect(await BlockingWork.run { daemon.wait(milliseconds: 10_000) } == 0)
        }
    }

    @Test(
        "With bytes of its file flipped, or pages cut off, a daemon begins, says so, and keeps what was there under another name",
        arguments: [1, 2, 3, 4, 5, 6])
    func damaged(_ seed: UInt64) async throws {
        try await scene { server, home in
            let first = try home.daemon()
            try await home.awaitDaemon()
            #expect(try await home.run("connect").code == 0)
            for number in 0..<3 { try await say("in-\(number)", server) }
            #expect(try await kept(home, 3).count == 3)
            first.kill(SIGTERM)
            #expect(await BlockingWork.run { first.wait(milliseconds: 10_000) } == 0)
            let folder = home.folder + "/state/jabberctl/accounts"
            let file = URL(filePath: folder + "/juliet.db")
            var bytes = try [UInt8](Data(contentsOf: file))
            #expect(bytes.count > 8_192)
            var generator = SeededGenerator(seed: seed)
            if seed % 2 == 0 {
                bytes.removeLast(bytes.count - 4_096 * Int.random(in: 1..<bytes.count / 4_096, using: &generator))
            } else {
                for _ in 0..<64 {
                    let place = Int.random(in: 0..<bytes.count, using: &generator)
                    bytes[place] ^= UInt8.random(in: 1...255, using: &generator)
                }
            }
            try Data(bytes).write(to: file)

            let second = try home.daemon()
            try await home.awaitDaemon()
            // It may be that nothing is damaged that anybody reads; it may not be that the daemon ends, or hangs.
            let connected = try await home.run("connect")
            #expect(connected.code == 0, "\(connected)")
            #expect(try await home.run("send", "romeo@example.org", "x", "--id", "x").code == 0)
            let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            for name in names where name.contains(".damaged-") && !name.hasSuffix("-wal") && !name.hasSuffix("-shm") {
                let aside = try [UInt8](Data(contentsOf: URL(filePath: folder + "/" + name)))
                #expect(aside == bytes, "what was there is kept as it was")
            }
            second.kill(SIGTERM)
            #expect(await BlockingWork.run { second.wait(milliseconds: 10_000) } == 0)
        }
    }
}
