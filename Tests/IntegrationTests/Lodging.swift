// SPDX-License-Identifier: Apache-2.0

import Foundation
import JabberControl
import SocketIO
import XMPPTestSupport

/// A user's folder with the settings of accounts at a server; the first one is juliet's.
struct Lodging {
    let folder: String
    private let domain: String
    private let host: String
    private let port: UInt16
    private let authorityFile: String

    var socket: String { folder + "/run/jabberctl/control.sock" }

    init(domain: String, host: String, port: UInt16, authorityFile: String) throws {
        folder = FileManager.default.temporaryDirectory.path + "/lodging-\(UUID().uuidString.prefix(8))"
        self.domain = domain
        self.host = host
        self.port = port
        self.authorityFile = authorityFile
        try write("juliet")
        try PrivateFile.write(
            Array("{defaultAccount: 'juliet'}".utf8), to: folder + "/config/jabberctl/config.json")
        try PrivateFile.makeFolder(folder + "/run")
    }

    /// Writes the settings of an account.
    func write(_ name: String) throws {
        var account = AccountConfiguration(name: name, jid: "\(name)@\(domain)")
        account.host = host
        account.port = Int(port)
        account.ca = authorityFile
        account.password = "secret"
        try PrivateFile.write(
            JSONValue.object(account.json).encodedPretty(), to: folder + "/config/jabberctl/accounts/\(name).json")
    }

    private var variables: [String: String] {
        [
            "PATH": "/usr/sbin:/usr/bin:/bin", "HOME": folder, "XDG_CONFIG_HOME": folder + "/config",
            "XDG_STATE_HOME": folder + "/state", "XDG_RUNTIME_DIR": folder + "/run",
        ]
    }

    /// A daemon in the foreground, whose child this process is not told of by others.
    func daemon() throws -> ChildProcess {
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(null) }
        return try ChildProcess(
            [OwnProgram.neighbour("jabberctld")], environment: variables,
            descriptors: [(null, 0), (null, 1), (null, 2)])
    }

    /// Waits until a daemon answers.
    func awaitDaemon() async throws {
        try await Patience.wait(for: "the daemon to listen") { SocketPlace(socket).answers }
    }

    /// Runs a command to its end.
    func run(_ words: String...) async throws -> FinishedProgram {
        try await FinishedProgram.run([OwnProgram.neighbour("jabberctl")] + words, environment: variables)
    }

    /// Runs a script in which `$0` is the tool.
    func shell(_ script: String) async throws -> FinishedProgram {
        try await FinishedProgram.run(
            ["/bin/bash", "-c", script, OwnProgram.neighbour("jabberctl")], environment: variables)
    }

    /// Removes the folder.
    func remove() {
        try? FileManager.default.removeItem(atPath: folder)
    }
}
