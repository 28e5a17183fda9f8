// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The program of `make sweep`, at some of the points that it is run at there.
@Suite("A client that is killed at its system calls", .timeLimit(.minutes(5)))
struct KillSweepTests {
    private static let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        .appending(path: "xmpp-sweep")
    private static let hasStrace = FileManager.default.isExecutableFile(atPath: "/usr/bin/strace")

    @Test(
        "Killed with SIGKILL at a write, fsync or send, it loses nothing, doubles nothing and leaves an intact database",
        .enabled(if: hasStrace, "takes strace"))
    func sweep() throws {
        let process = Process()
        process.executableURL = Self.program
        process.arguments = ["9", "4"]
        let output = Pipe()
        process.standardOutput = output
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let last = try #require(text.split(separator: "\n").last)
        let match = try #require(last.wholeMatch(of: /cuts (\d+) lost 0 doubled 0/), "\(text)")
        #expect(Int(match.1) ?? 0 > 5)
        #expect(process.terminationStatus == 0, "\(text)")
    }
}
