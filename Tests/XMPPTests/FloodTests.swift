// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import XMPPTestSupport

/// The program that `Benchmarks/run` measures with, with smaller floods and wider margins: tests are built for debugging.
@Suite("A client under floods")
struct FloodTests {
    /// How much smaller the floods are that are to be delivered.
    private static let divisor = 50

    private static let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        .appending(path: "xmpp-floods")

    /// Runs the program.
    private func run(_ arguments: String...) throws -> (text: String, status: Int32) { try run(arguments) }

    private func run(_ arguments: [String]) throws -> (text: String, status: Int32) {
        let process = Process()
        process.executableURL = Self.program
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (text, process.terminationStatus)
    }

    /// The row of one flood: name, outcome, expected outcome, growth, its bound, milliseconds, slow-down.
    private func row(_ flood: String) throws -> [String] {
        let (text, status) = try run(String(Self.divisor), flood)
        let lines = text.split(separator: "\n")
        #expect(status == 0 && lines.count == 2, "\(text)")
        return (lines.last ?? "").split(separator: "\t").map(String.init)
    }

    @Test(
        "a flood that there is none of is not taken for all of them",
        arguments: [["1", "mesages"], ["1", "messages", "x"], ["messages"], ["0"]])
    func unknown(_ arguments: [String]) throws {
        let (text, status) = try run(arguments)
        #expect(status == 64 && text.isEmpty, "\(text)")
    }

    @Test("a flood with another outcome than it must have is a failure of the program")
    func outcome() throws {
        // Nobody listens there: nothing is delivered, and nothing refused either.
        for flood in ["messages", "stanza"] {
            let (text, status) = try run("--client", flood, String(Self.divisor), "1", "")
            #expect(status == 1 && text.hasPrefix("\(flood)\t"), "\(text)")
        }
    }

    @Test(
        "is told of everything that is legal, refuses what is too large with policy-violation, and stays small (RFC 6120 §13.12)",
        .timeLimit(.minutes(5)),
        arguments: [
            "messages", "presences", "capabilities", "subscriptions", "whitespace", "names", "stanza", "depth",
            "attributes", "elements", "header", "prefixes", "buddies", "churn",
        ])
    func flood(_ name: String) throws {
        let row = try row(name)
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
    func status() throws {
        let row = try row("status")
        try #require(row.count == 7, "\(row)")
        #expect(row[1] == "delivered", "\(row)")
        // Built for release it is a tenth of a second at most, beside other work; see Benchmarks/README.md.
        #expect(Int(row[5]) ?? .max < (Patience.isSanitized ? 10_000 : 1_000), "\(row)")
    }
}
