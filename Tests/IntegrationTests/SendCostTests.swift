// SPDX-License-Identifier: Apache-2.0

import Foundation
import JabberControl
import SocketIO
import Testing
import XMPPTestSupport

/// What the real `jabberctld` does between a request and its answer (strace).
@Suite("What sending costs", .timeLimit(.minutes(3)))
struct SendCostTests {
    /// What happens on the way of one message.
    private struct Cost {
        /// How often something is waited for to be on the disk.
        var syncs = 0
        /// How often the server is waited for: something comes after something went.
        var roundTrips = 0

        /// Reads what strace has told, from the request with this id to its answer.
        init(_ text: String, from id: String) {
            var isBetween = false
            var hasSent = false
            for line in text.split(separator: "\n") {
                if line.contains("recvfrom"), line.contains("\\\"method\\\":\\\"send\\\""), line.contains(id) {
                    isBetween = true
                    continue
                }
                guard isBetween else { continue }
                if line.contains("sendto"), line.contains("\\\"result\\\"") { return }
                if line.contains("sync"), line.hasSuffix(" = 0") { syncs += 1 }
                // Records of TLS with data begin so (RFC 8446 §5.1).
                guard line.contains("\"\\27\\3\\3") else { continue }
                if line.contains("sendto") { hasSent = true }
                if line.contains("recvfrom"), hasSent {
                    roundTrips += 1
                    hasSent = false
                }
            }
        }
    }

    @Test(
        "What waits for the server costs one round trip, and is kept before it is sent, when it is sent and when it has arrived",
        .enabled(if: Trace.isPossible, "takes strace and root"))
    func cost() async throws {
        let server = try await LoopbackServer.start(domain: "example.org", accounts: ["juliet": "secret"])
        try await server.add(LoopbackBuddy("romeo", behaviors: []))
        let home = try Lodging(
            domain: "example.org", host: server.host, port: server.port,
            authorityFile: server.certificateAuthorityFile)
        defer { home.remove() }
        let daemon = try home.daemon()
        try await home.awaitDaemon()
        #expect(try await home.run("connect").code == 0)
        #expect(try await home.run("send", "romeo@example.org", "warm", "--id", "warm").code == 0)
        let file = home.folder + "/trace"
        let trace = try Trace(
            of: daemon.processID, ["-s", "300", "-e", "trace=fsync,fdatasync,sendto,recvfrom"], to: file)
        if await trace.isOn() {
            #expect(try await home.run("send", "romeo@example.org", "x", "--id", "waits").code == 0)
            await trace.end()
            let cost = Cost(try String(contentsOfFile: file, encoding: .utf8), from: "waits")
            #expect(cost.roundTrips == 1 && (1...3).contains(cost.syncs), "\(cost)")
        } else {
            print("strace cannot attach here: what sending costs is left out")
            await trace.end()
        }
        daemon.kill(SIGTERM)
        #expect(await BlockingWork.run { daemon.wait(milliseconds: 10_000) } == 0)
        await server.stop()
    }
}
