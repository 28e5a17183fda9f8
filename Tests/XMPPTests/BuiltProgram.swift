// SPDX-License-Identifier: Apache-2.0

import Foundation
import XMPPTestSupport

/// A program of this package, built beside the tests.
struct BuiltProgram {
    private let url: URL

    init(_ name: String) {
        url = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appending(path: name)
    }

    /// Runs it to its end.
    ///
    /// - Returns: Its exit code and what it printed.
    func run(_ arguments: [String]) async throws -> (status: Int32, text: String) {
        try await BlockingWork.run { [url] in
            let process = Process()
            process.executableURL = url
            process.arguments = arguments
            let output = Pipe()
            process.standardOutput = output
            process.standardInput = FileHandle.nullDevice
            try process.run()
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            return (process.terminationStatus, text)
        }
    }
}
