// SPDX-License-Identifier: Apache-2.0

import Foundation
import SocketIO
import Testing
import XMPPTestSupport

/// The program of `make sweep`, at some of the points that it is run at there.
@Suite("Sessions that break off at one point after another", .timeLimit(.minutes(5)), .serialized)
struct SweepTests {
    private static let hasStrace = FileManager.default.isExecutableFile(atPath: "/usr/bin/strace")

    /// Runs a sweep, in which nothing may be lost or doubled.
    ///
    /// - Returns: How many sessions broke off.
    private func sweep(_ arguments: String...) async throws -> Int {
        let run = try await FinishedProgram.run([OwnProgram.neighbour("xmpp-sweep")] + arguments)
        let last = try #require(run.output.split(separator: "\n").last, "\(run)")
        let match = try #require(last.wholeMatch(of: /cuts (\d+) lost 0 doubled 0/), "\(run)")
        #expect(run.code == 0, "\(run)")
        return Int(match.1) ?? 0
    }

    @Test(
        "Killed with SIGKILL at a write, fsync or send, a client loses nothing, doubles nothing and leaves an intact database",
        .enabled(if: hasStrace, "takes strace"))
    func kill() async throws {
        #expect(try await sweep("kill", "9", "4") > 5)
    }

    @Test(
        "Cut by RST, FIN or silence at the ends of stanzas, a byte before and after them, and every 64 bytes, a client loses and doubles nothing, resumed or refused (XEP-0198 §5)"
    )
    func cuts() async throws {
        #expect(try await sweep("cuts", "loopback", "library", "64", "5") > 500)
    }

    @Test("Nor does the daemon")
    func daemon() async throws {
        #expect(try await sweep("cuts", "loopback", "daemon", "256", "5") > 50)
    }

    @Test("Nor do both at servers that people run", arguments: ServerKind.expected, ["library", "daemon"])
    func real(_ kind: ServerKind, _ client: String) async throws {
        #expect(try await sweep("cuts", kind.rawValue, client, "512", "5") > 10)
    }
}
