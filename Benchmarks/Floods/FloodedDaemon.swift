// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import JabberControl
internal import SocketIO
internal import XMPPTestSupport
internal import XMPPXML

/// The daemon while the session of an account is flooded: how long somebody who asks for its status has to wait.
enum FloodedDaemon {
    private static let account = "romeo"

    /// Floods the daemon and prints a line of ``Row``: the time is that of the slowest answer.
    ///
    /// - Returns: Whether that is as it must be, and the daemon ended well.
    static func run(divisor: Int) async throws -> Bool {
        let server = try await LoopbackServer.start(domain: "example.net", accounts: [account: "secret"])
        let folder = try TemporaryFolder(prefix: "floods")
        let daemon = try await start(in: folder, server)
        let socket = folder.file("run/jabberctl/control.sock")
        while !SocketPlace(socket).answers { try await Task.sleep(for: .milliseconds(10)) }
        guard let address = SocketAddress(unixPath: socket) else { return false }
        let transport = try await SocketTransport.connect(
            to: address, on: StreamExecutor(label: "floods.control"), timeout: .seconds(5))
        let client = ControlCaller(over: transport)
        _ = try await client.hello()
        _ = try await client.call("connect")
        let before = Memory.read("VmRSS", of: "\(daemon.processID)")
        let slowest = try await slowestAnswer(of: client, while: { try await flood(server, divisor: divisor) })
        let growth = max(0, Memory.read("VmHWM", of: "\(daemon.processID)") - before)
        let told = Row(
            flood: .status, outcome: Flood.Expectation.delivered.rawValue, growth: growth, milliseconds: slowest,
            slowdown: nil
        ).tell(divisor: divisor)
        await client.close()
        daemon.kill(SIGTERM)
        let status = await Task.detached { daemon.wait() }.value
        await server.stop()
        return status == 0 && told == 0
    }

    private static func start(in folder: TemporaryFolder, _ server: LoopbackServer) async throws -> ChildProcess {
        var settings = AccountConfiguration(name: account, jid: "\(account)@example.net")
        settings.host = server.host
        settings.port = Int(server.port)
        settings.ca = server.certificateAuthorityFile
        settings.password = "secret"
        try PrivateFile.write(
            JSONValue.object(settings.json).encodedPretty(),
            to: folder.file("config/jabberctl/accounts/\(account).json"))
        try folder.makeFolder("run")
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(null) }
        return try ChildProcess(
            [OwnProgram.neighbour("jabberctld")],
            environment: [
                "HOME": folder.path, "XDG_CONFIG_HOME": folder.file("config"), "XDG_STATE_HOME": folder.file("state"),
                "XDG_DATA_HOME": folder.file("data"), "XDG_RUNTIME_DIR": folder.file("run"),
            ],
            descriptors: [(null, 0), (null, 1), (null, 2)])
    }

    /// Sends the messages, and returns when the session answers what comes after them.
    @Sendable private static func flood(_ server: LoopbackServer, divisor: Int) async throws {
        let portions = Locked(Flood.status.portions(dividedBy: divisor))
        _ = await server.flood(account) { portions.withLock { $0.next() } }
        await server.inject(
            "<iq type='get' id='after-the-flood' from='example.net'><ping xmlns='urn:xmpp:ping'/></iq>", into: account)
        _ = try await server.firstElement(from: account, within: .seconds(120)) { $0["id"] == "after-the-flood" }
    }

    /// Asks for the status, again and again.
    ///
    /// - Returns: The longest time that an answer took, in milliseconds.
    private static func slowestAnswer(
        of client: ControlCaller, while work: @escaping @Sendable () async throws -> Void
    ) async throws -> Double {
        let isDone = Locked(false)
        return try await withThrowingTaskGroup(of: Double.self) { group in
            group.addTask {
                defer { isDone.withLock { $0 = true } }
                try await work()
                return 0
            }
            group.addTask {
                var slowest = 0.0
                while !isDone.withLock({ $0 }) {
                    let start = Memory.milliseconds()
                    _ = try await client.call("status")
                    slowest = max(slowest, Memory.milliseconds() - start)
                }
                return slowest
            }
            return try await group.reduce(0, max)
        }
    }
}
