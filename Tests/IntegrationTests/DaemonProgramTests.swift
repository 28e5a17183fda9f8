// SPDX-License-Identifier: Apache-2.0

import Glibc
import JabberControl
import SocketIO
import Testing
import XMPPTestSupport

/// The program `jabberctld` as `jabberctl` starts it.
@Suite("jabberctld")
struct DaemonProgramTests {
    @Test(
        "Without a control connection, or asked for what it cannot do, it says so: exit code 64",
        arguments: [
            ["--socket"], ["--socket", "control.sock"], ["--private", "--config", "/x"], ["--private"],
            ["--private", "--forever"], ["--listen"],
        ])
    func usage(_ arguments: [String]) throws {
        #expect(try Daemon.start(arguments, control: nil).wait(milliseconds: 5_000) == 64)
    }

    @Test("It greets first, dumps no core, and ends with its connection")
    func connection() async throws {
        let daemon = try Daemon()
        let greeting = try await daemon.client.hello()
        #expect(greeting.product == "jabberctld")
        #expect(greeting.api.contains(1))
        let limits = try String(contentsOf: "/proc/\(daemon.child.processID)/limits")
        let core = limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") }
        #expect(core?.split(separator: " ").filter { $0 == "0" }.count == 2)
        await daemon.client.close()
        #expect(daemon.child.wait(milliseconds: 5_000) == 0)
    }

    @Test("SIGTERM and SIGINT end the stream in good order, then the process", arguments: [SIGTERM, SIGINT])
    func signals(_ number: Int32) async throws {
        let server = try await LoopbackServer.start(domain: "example.org", accounts: ["juliet": "secret"])
        let daemon = try Daemon()
        let session: JSONValue = [
            "jid": "juliet@example.org", "host": "127.0.0.1", "port": .integer(Int64(server.port)),
            "ca": .string(server.certificateAuthorityFile),
        ]
        _ = try await daemon.client.call("session.password", ["session": session, "password": "secret"])
        _ = try await daemon.client.call("ping", ["session": session])
        #expect(await server.openConnections == 1)
        daemon.child.kill(number)
        #expect(daemon.child.wait(milliseconds: 10_000) == 128 + number)
        #expect(await server.openConnections == 0)
        await server.stop()
    }

    @Test("A tool that dies takes the daemon and its streams with it")
    func toolDies() async throws {
        let server = try await LoopbackServer.start(domain: "example.org", accounts: ["juliet": "secret"])
        let tool = Tool(
            way: .programs,
            place: Place(
                domain: "example.org", host: "127.0.0.1", port: server.port, directTLSPort: 0,
                authorityFile: server.certificateAuthorityFile, end: {}))
        let listening = try tool.start(as: "juliet", "listen", "--kind", "account", "--json")
        _ = await listening.lines(1)
        #expect(await server.openConnections == 1)
        (listening as? ProgramCommand)?.kill(SIGKILL)
        // Its outputs end when the daemon, which shares standard error, has ended too.
        _ = await listening.end()
        #expect(await server.openConnections == 0)
        await server.stop()
    }
}

/// A private daemon as a process of its own.
private struct Daemon {
    let child: ChildProcess
    let client: ControlCaller

    init() throws {
        let pair = try SocketPair()
        child = try Self.start(["--private"], control: pair.second.number)
        client = ControlCaller(over: try SocketTransport(pair.first, on: StreamExecutor(label: "test.control")))
    }

    static func start(_ arguments: [String], control: Int32?) throws -> ChildProcess {
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(null) }
        return try ChildProcess(
            [OwnProgram.neighbour("jabberctld")] + arguments,
            environment: ["HOME": "/nonexistent"],
            descriptors: [(null, 0), (null, 1), (null, 2)] + (control.map { [($0, Int32(3))] } ?? []))
    }
}

extension String {
    /// A file of the kernel's.
    fileprivate init(contentsOf path: String) throws {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        self.init(decoding: try FileDescriptor(descriptor).readAll(limit: 1 << 16, name: path), as: UTF8.self)
    }
}
