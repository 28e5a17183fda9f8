// SPDX-License-Identifier: Apache-2.0

import SocketIO
import Testing
import XMPPTestSupport

/// The program that `Benchmarks/run` measures with, with smaller floods and wider margins: tests are built for
/// debugging.
@Suite("A client under floods", .serialized)
struct FloodTests {
    /// How much smaller the floods are that are to be delivered.
    private static let divisor = 50

    /// Runs the program.
    private func run(_ arguments: String...) async throws -> FinishedProgram { try await run(arguments) }

    private func run(_ arguments: [String]) async throws -> FinishedProgram {
        try await FinishedProgram.run([OwnProgram.neighbour("xmpp-floods")] + arguments)
    }

    /// The row of one flood: name, outcome, expected outcome, growth, its bound, milliseconds, slow-down.
    private func row(_ flood: String) async throws -> [String] {
        let run = try await run(String(Self.divisor), flood)
        let lines = run.output.split(separator: "\n")
        #expect(run.code == 0 && lines.count == 2, "\(run)")
        return (lines.last ?? "").split(separator: "\t").map(String.init)
    }

    @Test(
        "a flood that there is none of is not taken for all of them",
        arguments: [["1", "mesages"], ["1", "messages", "x"], ["messages"], ["0"]])
    func unknown(_ arguments: [String]) async throws {
        let run = try await run(arguments)
        #expect(run.code == 64 && run.output.isEmpty, "\(run)")
    }

    @Test("a flood with another outcome than it must have is a failure of the program")
    func outcome() async throws {
        // Nobody listens there: nothing is delivered, and nothing refused either.
        for flood in ["messages", "stanza"] {
            let run = try await run("--client", flood, String(Self.divisor), "1", "")
            #expect(run.code == 1 && run.output.hasPrefix("\(flood)\t"), "\(run)")
        }
    }

    @Test(
        "is told of everything that is legal, refuses what is too large with policy-violation, and stays small (RFC 6120 §13.12)",
        .timeLimit(.minutes(5)),
        arguments: [
            "messages", "presences", "capabilities", "subscriptions", "whitespace", "names", "namespaces", "stanza",
            "oversized",
            "depth",
            "attributes", "elements", "header", "prefixes", "buddies", "churn",
        ])
    func flood(_ name: String) async throws {
        let row = try await row(name)
        try #require(row.count == 7, "\(row)")
        #expect(row[0] == name && row[1] == row[2], "\(row)")
        let growth = try #require(Int(row[3]))
        let bound = try #require(Int(row[4]))
        // The thread sanitizer keeps four bytes and more of its own for each byte that was touched.
        #expect(growth <= (Patience.isSanitized ? 8 : 2) * bound, "\(growth) KiB")
        // As slow at the end as in the beginning, on a machine that does other things too.
        if let slowdown = Double(row[6]) { #expect(slowdown < 10, "\(row)") }
    }

    @Test("the daemon tells its status while the session of an account is flooded", .timeLimit(.minutes(5)))
    func status() async throws {
        let row = try await row("status")
        try #require(row.count == 7, "\(row)")
        #expect(row[1] == "delivered", "\(row)")
        // Built for release it is a tenth of a second at most, beside other work; see Benchmarks/README.md.
        #expect(Int(row[5]) ?? .max < (Patience.isSanitized ? 10_000 : 1_000), "\(row)")
    }
}
