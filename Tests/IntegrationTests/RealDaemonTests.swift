// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import JabberControl
import SocketIO
import Testing
import XMPP
import XMPPTestSupport

/// The real `jabberctl` and the real `jabberctld`, at the servers that people run.
@Suite("The daemon that stays, at real servers", .timeLimit(.minutes(5)), .serialized)
struct RealDaemonTests {
    @Test(
        "What a killed daemon had accepted arrives once and in order, and so does what comes while there is none",
        arguments: Place.Kind.expected.filter { $0 != .loopback })
    func killed(_ kind: Place.Kind) async throws {
        try await Place.with(kind) { place in
            let home = try Lodging(at: place)
            defer { try? FileManager.default.removeItem(atPath: home.folder) }
            let arrived = Locked<[String]>([])
            var configuration = XMPPConfiguration(
                jid: try JID("romeo@\(place.domain)").withResource("orchard"), password: "secret")
            configuration.host = place.host
            configuration.port = place.port
            configuration.certificateAuthorityFile = place.authorityFile
            configuration.observer = StreamObserver(event: { event in
                if case .message(let message) = event, let body = message.body {
                    arrived.withLock { $0.append(body) }
                }
            })
            try await XMPPStream.withSession(configuration) { romeo in
                try await romeo.send(Presence())
                var sent: [String] = []
                for number in 0..<4 {
                    let daemon = try home.daemon()
                    await home.awaitDaemon()
                    // Before it is connected, or after: what was accepted is accepted.
                    if number % 2 == 0 { #expect(try await home.run("connect").code == 0) }
                    let text = "out-\(number)"
                    #expect(try await home.run("send", "romeo@\(place.domain)", text, "--until", "none").code == 0)
                    sent.append(text)
                    daemon.kill(SIGKILL)
                    #expect(await Lodging.apart { daemon.wait() } == 128 + SIGKILL)
                    try await romeo.send(Message(to: try JID("juliet@\(place.domain)"), body: "in-\(number)"))
                    try await romeo.waitUntilHandled()
                }
                let daemon = try home.daemon()
                await home.awaitDaemon()
                #expect(try await home.run("connect").code == 0)
                #expect(try await home.run("send", "romeo@\(place.domain)", "end", "-g", "state").output == "server\n")
                try await romeo.ping()
                #expect(arrived.withLock { $0 } == sent + ["end"])
                let heard = try await home.run("listen", "--since", "1", "--count", "4", "-g", "body")
                #expect(
                    heard.output.split(separator: "\n").map(String.init).filter { !$0.isEmpty }
                        == (0..<4).map { "in-\($0)" })
                daemon.kill(SIGTERM)
                #expect(await Lodging.apart { daemon.wait(milliseconds: 10_000) } == 0)
            }
        }
    }
}

/// A user's folder with the settings of juliet at a server.
private struct Lodging {
    let folder: String

    init(at place: Place) throws {
        folder = FileManager.default.temporaryDirectory.path + "/lodging-\(UUID().uuidString.prefix(8))"
        var account = AccountConfiguration(name: "juliet", jid: "juliet@\(place.domain)")
        account.host = place.host
        account.port = Int(place.port)
        account.ca = place.authorityFile
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
        await Self.apart { while !SocketPlace(socket).answers { sched_yield() } }
    }

    /// Waits away from the threads that tasks share.
    static func apart<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            DispatchQueue(label: "test.wait").async { continuation.resume(returning: work()) }
        }
    }

    /// Runs a command.
    func run(_ words: String...) async throws -> Tool.Outcome {
        let variables = variables
        return try await Self.apart {
            Result {
                let process = Process()
                process.executableURL = URL(filePath: "\(ProgramCommand.folder)/jabberctl")
                process.arguments = words
                process.environment = variables
                let output = Pipe()
                process.standardOutput = output
                process.standardError = FileHandle(forWritingAtPath: "/dev/null")
                process.standardInput = FileHandle.nullDevice
                try process.run()
                let text = output.fileHandleForReading.readDataToEndOfFile()
                process.waitUntilExit()
                return Tool.Outcome(
                    code: process.terminationStatus, output: String(decoding: text, as: UTF8.self), errors: "")
            }
        }.get()
    }
}
