// SPDX-License-Identifier: Apache-2.0

import Foundation
import JabberControl
import SocketIO
import Testing
import XMPP
import XMPPTestSupport

/// A password that is found nowhere but where it was put: both programs against a server that takes it in the clear
/// inside TLS, at the highest verbosity.
@Suite("Where a password does not go", .serialized, .timeLimit(.minutes(5)))
struct SecretTests {
    private static let marker = "xyzzyMARKERplugh"

    /// The marker as it is, in hexadecimal, and the middle of its base64 at each of the three alignments.
    private static let forms: [String] = {
        let bytes = Array(marker.utf8)
        let hex = bytes.map { String($0, radix: 16) }.joined()
        let encoded = (0..<3).map { shift in
            Data([UInt8](repeating: 0, count: shift) + bytes).base64EncodedString().dropFirst(4).dropLast(4)
        }
        return [marker, hex] + encoded.map(String.init)
    }()

    private let folder: TestFolder

    init() throws {
        folder = try TestFolder()
    }

    /// Where the marker is found among texts.
    private func leaks(_ places: [String: String]) -> [String] {
        places.filter { place in Self.forms.contains { place.value.contains($0) } }.keys.sorted()
    }

    private func server() async throws -> LoopbackServer {
        var options = LoopbackOptions()
        options.mechanisms = ["PLAIN"]
        return try await LoopbackServer.start(
            domain: "example.org", accounts: ["juliet": Self.marker, "romeo": "other"], options: options)
    }

    /// The options that lead to the server.
    private func options(_ server: LoopbackServer, _ user: String = "juliet") -> [String] {
        [
            "-vvv", "--no-daemon", "--no-ask", "--jid", "\(user)@example.org", "--host", server.host, "--port",
            "\(server.port)", "--ca", server.certificateAuthorityFile,
        ]
    }

    /// The sources that a password may come from, as settings, variables and what descriptor 5 holds.
    enum Source: String, CaseIterable, Sendable {
        case descriptor, command, settings, variable
    }

    /// Starts the tool; its output and errors go to files of these names.
    private func start(
        _ words: [String], from source: Source, program: [String] = [ProcessTests.program]
    ) throws -> ChildProcess {
        var variables = folder.variables([
            "JABBERCTLD": OwnProgram.neighbour("jabberctld")
        ])
        var words = words
        let secret = folder.path + "/secret"
        try? FileManager.default.removeItem(atPath: secret)
        let settings = ".config/jabberctl/config.json"
        let account = #"{"accounts": {"test": {"jid": "juliet@example.org", "#
        switch source {
        case .descriptor:
            try folder.write(Self.marker + "\n", to: "secret")
            words = ["--password-fd", "5"] + words
        case .command:
            // Says what it was told, then the password.
            let script = "cat /proc/$$/environ /proc/$$/cmdline >$HOME/command; printf '%s%s%s' xyzzy MARKER plugh"
            try folder.write(account + #""passwordCommand": ["sh", "-c", "\#(script)"]}}}"#, to: settings)
        case .settings:
            try folder.write(account + #""password": "\#(Self.marker)"}}}"#, to: settings)
        case .variable:
            variables["JABBERCTL_PASSWORD"] = Self.marker
        }
        let open = { (name: String, flags: Int32) in Foundation.open(name, flags | O_CLOEXEC, 0o600) }
        let output = open(folder.path + "/output", O_WRONLY | O_CREAT | O_TRUNC)
        let errors = open(folder.path + "/errors", O_WRONLY | O_CREAT | O_TRUNC)
        let null = open("/dev/null", O_RDONLY)
        let input = source == .descriptor ? open(secret, O_RDONLY) : null
        defer { for number in Set([output, errors, null, input]) { close(number) } }
        return try ChildProcess(
            program + words, environment: variables, descriptors: [(null, 0), (output, 1), (errors, 2), (input, 5)])
    }

    /// What the kernel shows of a process and of its children.
    private func kernelView(_ processID: Int32, withVariables: Bool = true) -> [String: String] {
        var places: [String: String] = [:]
        for name in withVariables ? ["cmdline", "environ"] : ["cmdline"] {
            let bytes = FileManager.default.contents(atPath: "/proc/\(processID)/\(name)") ?? Data()
            places["/proc/\(name) of \(command(processID))"] = String(decoding: bytes, as: UTF8.self)
        }
        for child in children(processID) { places.merge(kernelView(child)) { $1 } }
        return places
    }

    private func children(_ processID: Int32) -> [Int32] {
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(processID)/task")) ?? []
        return tasks.flatMap { task in
            let text = FileManager.default.contents(atPath: "/proc/\(processID)/task/\(task)/children") ?? Data()
            return String(decoding: text, as: UTF8.self).split(separator: " ").compactMap { Int32($0) }
        }
    }

    private func command(_ processID: Int32) -> String {
        let bytes = FileManager.default.contents(atPath: "/proc/\(processID)/comm") ?? Data()
        return String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .newlines)
    }

    /// Every file below the folder but the one that the password was put in.
    private func files() -> [String: String] {
        var places: [String: String] = [:]
        for case let name as String in FileManager.default.enumerator(atPath: folder.path) ?? .init() {
            guard name != "secret", !name.hasSuffix("config.json"),
                let bytes = FileManager.default.contents(atPath: folder.path + "/" + name)
            else { continue }
            places[name] = String(decoding: bytes, as: UTF8.self)
        }
        return places
    }

    // MARK: Tests

    @Test(
        "no argument, variable of a child, log, output or file holds it while the programs run",
        arguments: Source.allCases)
    func running(_ source: Source) async throws {
        let server = try await server()
        let child = try start(options(server) + ["listen", "--kind", "account", "--json"], from: source)
        _ = try await server.firstElement(from: "juliet", within: .seconds(20)) { $0.localName == "iq" }
        // With the variable it is the user who shows it, and is warned; the tool passes it on to nobody.
        let view = kernelView(child.processID, withVariables: source != .variable)
        #expect(view.keys.contains("/proc/environ of jabberctld"), "\(view.keys)")
        #expect(leaks(view) == [])
        child.kill(SIGINT)
        #expect(child.wait() == 130)
        #expect(folder.text("errors").contains("jabberctld: sent <auth"), "the log is not as verbose as it can be")
        #expect(leaks(files()) == [])
        await server.stop()
    }

    @Test("nor does an error, when it is refused", arguments: Source.allCases)
    func refused(_ source: Source) async throws {
        let server = try await server()
        let settings = source == .command || source == .settings ? "juliet" : "romeo"
        if settings == "juliet" { await server.changeOptions { $0.authenticationFailure = .notAuthorized } }
        for form in [[], ["--json"]] {
            let child = try start(options(server, settings) + form + ["ping"], from: source)
            #expect(child.wait() == 77, "\(folder.text("errors"))")
            #expect(!folder.text("errors").isEmpty)
            #expect(leaks(files()) == [])
        }
        await server.stop()
    }

    @Test("no answer of the daemon holds it")
    func controlAnswers() async throws {
        let server = try await server()
        var ends: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
        let null = Foundation.open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { for number in [ends[0], null] { close(number) } }
        let program = OwnProgram.neighbour("jabberctld")
        let child = try ChildProcess(
            [program, "--private"], environment: ["HOME": folder.path],
            descriptors: [(null, 0), (null, 1), (null, 2), (ends[1], 3)])
        close(ends[1])
        let session: JSONValue = [
            "jid": "juliet@example.org", "host": .string(server.host), "port": .integer(Int64(server.port)),
            "ca": .string(server.certificateAuthorityFile),
        ]
        var requests: [(String, JSONObject)] = [("session.password", ["password": .string(Self.marker)])]
        requests += [("ping", [:]), ("online", [:]), ("diag", [:]), ("roster.list", [:])]
        // And what is wrong with a request that holds it.
        requests += [
            ("session.password", ["password": [.string(Self.marker)]]), ("ping", ["password": .string(Self.marker)]),
        ]
        let tool = FileDescriptor(ends[0])
        var seen: [UInt8] = []
        func readLines(_ count: Int) throws {
            while seen.count(where: { $0 == 10 }) < count, let piece = try tool.readSome(name: "the socket") {
                seen += piece
            }
        }
        for (number, request) in requests.enumerated() {
            var params = request.1
            params["session"] = session
            let line: JSONValue = [
                "jsonrpc": "2.0", "id": .integer(Int64(number)), "method": .string(request.0),
                "params": .object(params),
            ]
            try tool.writeAll(Array((line.text + "\n").utf8), name: "the control socket")
            // Requests are worked at side by side: the password has to be there before those that need it.
            if number == 0 { try readLines(2) }
        }
        try readLines(requests.count + 1)
        let text = String(decoding: seen, as: UTF8.self)
        #expect(text.contains("roundTrips"), "\(text)")
        #expect(leaks(["answers": text]) == [])
        child.kill(SIGTERM)
        _ = child.wait()
        await server.stop()
    }

    @Test("a crash leaves no core file and shows none of it", arguments: ["jabberctl", "jabberctld"])
    func crash(_ program: String) async throws {
        let server = try await server()
        let child = try start(options(server) + ["listen", "--kind", "account"], from: .descriptor)
        _ = try await server.firstElement(from: "juliet", within: .seconds(20)) { $0.localName == "iq" }
        let daemon = try #require(children(child.processID).first { command($0) == "jabberctld" })
        for number in [child.processID, daemon] {
            let limits = FileManager.default.contents(atPath: "/proc/\(number)/limits") ?? Data()
            let core = String(decoding: limits, as: UTF8.self).split(separator: "\n")
                .first { $0.hasPrefix("Max core file size") }?.split(separator: " ").filter { $0 == "0" }
            #expect(core?.count == 2, "\(command(number))")
        }
        kill(program == "jabberctl" ? child.processID : daemon, SIGABRT)
        var status: Int32 = 0
        #expect(waitpid(child.processID, &status, 0) == child.processID)
        // The bit 0x80 says that a core was dumped (wait(2)).
        #expect(status & 0x80 == 0)
        #expect(program == "jabberctld" || status & 0x7F == SIGABRT)
        #expect(leaks(files()) == [])
        #expect(!folder.text("errors").contains("Backtrace"))
        #expect(files().keys.filter { $0.contains("core") } == [])
        await server.stop()
    }

    @Test("other programs of the same user can look into neither program")
    func undumpable() async throws {
        let server = try await server()
        // What may look at everything learns nothing: as root the programs run as somebody else.
        let other: [String] =
            geteuid() == 0 ? ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : []
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
        let authority = try String(contentsOfFile: server.certificateAuthorityFile, encoding: .utf8)
        try folder.write(authority, to: "ca.pem", mode: 0o644)
        var words = options(server)
        words[words.count - 1] = folder.path + "/ca.pem"
        let child = try start(
            words + ["listen", "--kind", "account"], from: .descriptor, program: other + [ProcessTests.program])
        _ = try await server.firstElement(from: "juliet", within: .seconds(20)) { $0.localName == "iq" }
        let daemon = try #require(children(child.processID).first { command($0) == "jabberctld" })
        for number in [child.processID, daemon] {
            // A process that cannot be dumped has root's files in /proc (proc(5)), whoever it belongs to.
            let owner = try FileManager.default.attributesOfItem(atPath: "/proc/\(number)/mem")[.ownerAccountID]
            #expect((owner as? NSNumber)?.intValue == 0, "\(command(number))")
            #expect(!status(number).contains("Uid:\t0\t"), "\(command(number))")
        }
        child.kill(SIGINT)
        _ = child.wait()
        await server.stop()
    }

    @Test("what the daemon may ever make, libraries' files included, is for nobody else")
    func creationMask() async throws {
        let server = try await server()
        let child = try start(options(server) + ["listen", "--kind", "account"], from: .descriptor)
        _ = try await server.firstElement(from: "juliet", within: .seconds(20)) { $0.localName == "iq" }
        let daemon = try #require(children(child.processID).first { command($0) == "jabberctld" })
        #expect(status(daemon).contains("Umask:\t0077\n"))
        child.kill(SIGINT)
        _ = child.wait()
        await server.stop()
    }

    /// What the system tells of a process (proc(5)).
    private func status(_ process: pid_t) -> String {
        String(decoding: FileManager.default.contents(atPath: "/proc/\(process)/status") ?? Data(), as: UTF8.self)
    }
}
