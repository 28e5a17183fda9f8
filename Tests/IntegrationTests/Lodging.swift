// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import JabberControl
import SocketIO
import XMPPTestSupport

/// A user's folder with the settings of juliet at a server.
struct Lodging {
    let folder: String

    init(domain: String, host: String, port: UInt16, authorityFile: String) throws {
        folder = FileManager.default.temporaryDirectory.path + "/lodging-\(UUID().uuidString.prefix(8))"
        var account = AccountConfiguration(name: "juliet", jid: "juliet@\(domain)")
        account.host = host
        account.port = Int(port)
        account.ca = authorityFile
        account.password = "secret"
        try PrivateFile.write(
            JSONValue.object(account.json).encodedPretty(), to: folder + "/config/jabberctl/accounts/juliet.json")
        try PrivateFile.makeFolder(folder + "/run")
    }

    private var variables: [String: String] {
        [
            "PATH": "/usr/sbin:/usr/bin:/bin", "HOME": folder, "XDG_CONFIG_HOME": folder + "/config",
            "XDG_STATE_HOME": folder + "/state", "XDG_RUNTIME_DIR": folder + "/run",
        ]
    }

    /// A daemon in the foreground.
    func daemon() throws -> ChildProcess {
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(null) }
        return try ChildProcess(
            ["\(ProgramCommand.folder)/jabberctld"], environment: variables,
            descriptors: [(null, 0), (null, 1), (null, 2)])
    }

    /// Waits until a daemon answers.
    func awaitDaemon() async {
        let socket = folder + "/run/jabberctl/control.sock"
        await BlockingWork.run { while !SocketPlace(socket).answers { sched_yield() } }
    }

    /// Runs a command.
    func run(_ words: String...) async throws -> Tool.Outcome {
        let errors = folder + "/errors-\(UUID().uuidString)"
        let variables = variables
        return try await BlockingWork.run {
            Result {
                let process = Process()
                process.executableURL = URL(filePath: "\(ProgramCommand.folder)/jabberctl")
                process.arguments = words
                process.environment = variables
                let output = Pipe()
                process.standardOutput = output
                _ = FileManager.default.createFile(atPath: errors, contents: nil)
                process.standardError = FileHandle(forWritingAtPath: errors)
                process.standardInput = FileHandle.nullDevice
                try process.run()
                let text = output.fileHandleForReading.readDataToEndOfFile()
                process.waitUntilExit()
                return Tool.Outcome(
                    code: process.terminationStatus, output: String(decoding: text, as: UTF8.self),
                    errors: (try? String(contentsOfFile: errors, encoding: .utf8)) ?? "")
            }
        }.get()
    }
}
