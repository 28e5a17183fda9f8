// SPDX-License-Identifier: Apache-2.0

import Foundation
import XMPPTestSupport

/// A folder that is gone after the test.
final class TestFolder: Sendable {
    let path: String

    init() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "jabberctl-cli-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        path = url.path
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Writes a file with these permissions.
    func write(_ text: String, to name: String, mode: Int = 0o600) throws {
        let file = URL(filePath: path + "/" + name)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
        if mode & 0o111 != 0 { waitUntilNobodyWrites(file.path) }
    }

    /// A child that another test forks just now may hold our descriptor until it executes its own program; until then
    /// the file cannot be executed. The system grants a read lease once nobody has the file open for writing.
    private func waitUntilNobodyWrites(_ path: String) {
        let setLease: Int32 = 1_024  // F_SETLEASE of <fcntl.h>, hidden behind _GNU_SOURCE
        let descriptor = open(path, O_RDONLY)
        defer { close(descriptor) }
        while fcntl(descriptor, setLease, F_RDLCK) != 0, errno == EAGAIN { sched_yield() }
        _ = fcntl(descriptor, setLease, F_UNLCK)
    }

    /// The variables of a program whose home is the folder. Under a sanitizer its options go along: the thread
    /// sanitizer lets every program sleep for a second at its end, unless it is told otherwise.
    func variables(_ more: [String: String] = [:]) -> [String: String] {
        var variables = ["HOME": path, "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"]
        variables["TSAN_OPTIONS"] = ProcessInfo.processInfo.environment["TSAN_OPTIONS"]
        return variables.merging(more) { _, new in new }
    }

    /// Runs a script of the shell in which `$0` is a program; other tests go on meanwhile.
    ///
    /// - Returns: Its exit code, or 128 and the signal that ended it, and what it wrote.
    static func shell(
        _ script: String, _ program: String, _ variables: [String: String]
    ) async throws -> FinishedProgram {
        try await FinishedProgram.run(["/bin/bash", "-c", script, program], environment: variables)
    }

    /// Writes more behind what a file holds.
    func append(_ text: String, to name: String) throws {
        let file = try FileHandle(forWritingTo: URL(filePath: path + "/" + name))
        try file.seekToEnd()
        try file.write(contentsOf: Data(text.utf8))
        try file.close()
    }

    /// Puts a file aside, and another one in its place.
    func replace(_ name: String, by text: String) throws {
        try FileManager.default.moveItem(atPath: path + "/" + name, toPath: path + "/" + name + ".old")
        try write(text, to: name)
    }

    /// The text of a file; empty when there is none.
    func text(_ name: String) -> String {
        (try? String(contentsOfFile: path + "/" + name, encoding: .utf8)) ?? ""
    }

    /// The permissions of a file.
    func mode(_ name: String) -> Int {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path + "/" + name)
        return (attributes?[.posixPermissions] as? NSNumber)?.intValue ?? 0
    }
}
