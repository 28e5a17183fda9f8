// SPDX-License-Identifier: Apache-2.0

import Foundation
import JabberControl
import SocketIO
import Testing
import XMPPTestSupport

@testable import JabberDaemon

/// A daemon that stays, in this process, with a folder of its own and a server to log in at.
final class LastingHarness: Sendable {
    let server: LoopbackServer
    let folder: String
    let socket: String
    private struct Life: Sendable {
        let daemon: LastingDaemon
        let end: Task<DaemonEnd, Never>
    }

    private let environment: DaemonEnvironment
    private let variables: [String: String]
    private let life: Locked<Life>

    /// - Parameter broken: Accounts that have no settings but these words.
    init(
        _ server: LoopbackServer, accounts: [String: String], broken: [String: String] = [:],
        variables: [String: String] = [:], clock: (any StreamClock)? = nil, runtimeFolder: String? = nil,
        _ change: (inout DaemonEnvironment) -> Void = { _ in }
    ) async throws {
        self.server = server
        folder = FileManager.default.temporaryDirectory.path + "/lasting-\(UUID().uuidString.prefix(8))"
        socket = folder + "/control.sock"
        try FileManager.default.createDirectory(
            atPath: folder + "/config/jabberctl/accounts", withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        var known = ["HOME": folder, "XDG_CONFIG_HOME": folder + "/config"]
        known["XDG_RUNTIME_DIR"] = runtimeFolder
        var environment = DaemonEnvironment(variables: known)
        environment.paths.system = folder + "/system"
        if let clock { environment.clock = clock }
        for (name, password) in accounts { try Self.write(name, password, server, folder) }
        for (name, text) in broken { try Self.write(name, text: text, folder) }
        change(&environment)
        self.environment = environment
        self.variables = variables
        life = Locked(try Self.begin(environment, variables, socket))
    }

    private static func begin(
        _ environment: DaemonEnvironment, _ variables: [String: String], _ socket: String
    ) throws -> Life {
        let listening = try ListeningSocket(
            try #require(SocketAddress(unixPath: socket)), on: StreamExecutor(label: "test.server"))
        let daemon = LastingDaemon(environment: environment, variables: variables, socket: listening)
        let configuration = try ConfigurationFile(paths: environment.paths)
        return Life(daemon: daemon, end: Task { await daemon.run(configuration) })
    }

    /// Ends the daemon, does something while there is none, and begins another one with the same folder.
    ///
    /// - Parameter end: Whether its sessions end as well.
    func anew(_ end: DaemonEnd, meanwhile: () async throws -> Void = {}) async throws {
        let old = life.withLock { $0 }
        old.daemon.end(end)
        _ = await old.end.value
        try await meanwhile()
        let new = try Self.begin(environment, variables, socket)
        life.withLock { $0 = new }
    }

    /// Runs `body` with a daemon for these accounts and their passwords, and ends it.
    static func run(
        _ accounts: [String: String] = ["juliet": "secret"], broken: [String: String] = [:],
        options: LoopbackOptions = LoopbackOptions(), buddies: [LoopbackBuddy] = [], variables: [String: String] = [:],
        clock: (any StreamClock)? = nil, runtimeFolder: String? = nil,
        _ body: (LastingHarness) async throws -> Void
    ) async throws {
        let server = try await LoopbackServer.start(
            domain: "example.org", accounts: ["juliet": "secret", "nurse": "secret"], options: options)
        for buddy in buddies { try await server.add(buddy) }
        let harness = try await LastingHarness(
            server, accounts: accounts, broken: broken, variables: variables, clock: clock,
            runtimeFolder: runtimeFolder)
        do {
            try await body(harness)
        } catch {
            await harness.end()
            throw error
        }
        await harness.end()
    }

    /// Writes the file of an account.
    func write(_ name: String, _ password: String) throws {
        try Self.write(name, password, server, folder)
    }

    /// Writes anything into the file of an account.
    func write(_ name: String, text: String) throws {
        try Self.write(name, text: text, folder)
    }

    private static func write(_ name: String, text: String, _ folder: String) throws {
        try PrivateFile.write(Array(text.utf8), to: "\(folder)/config/jabberctl/accounts/\(name).json")
    }

    private static func write(_ name: String, _ password: String, _ server: LoopbackServer, _ folder: String) throws {
        var account = AccountConfiguration(name: name, jid: "\(name)@example.org")
        account.host = server.host
        account.port = Int(server.port)
        account.ca = server.certificateAuthorityFile
        account.password = password
        try PrivateFile.write(
            JSONValue.object(account.json).encodedPretty(), to: "\(folder)/config/jabberctl/accounts/\(name).json")
    }

    /// A client of the control socket.
    func client() async throws -> ControlCaller {
        let address = try #require(SocketAddress(unixPath: socket))
        return ControlCaller(
            over: try await SocketTransport.connect(to: address, on: StreamExecutor(label: "test.client")))
    }

    /// Calls a method on a connection of its own; its result is as the protocol's schema says.
    @discardableResult
    func call(_ method: String, _ params: JSONObject = [:], account: String? = "juliet") async throws -> JSONObject {
        let client = try await client()
        var params = params
        params["timeout"] = params["timeout"] ?? 20
        if let account { params["session"] = ["account": .string(account)] }
        do throws(ControlError) {
            let answer = try await client.call(method, params)
            await client.close()
            Promise.check(answer, method + ".result")
            Promise.check(.object(params), method + ".params")
            return answer.objectValue ?? [:]
        } catch {
            await client.close()
            throw error
        }
    }

    /// Calls a method, again while the daemon has too many clients, as the tool does.
    func patientCall(_ method: String, _ params: JSONObject = [:]) async throws -> JSONObject {
        var result: JSONObject = [:]
        try await Patience.wait(for: "\(method), which the daemon is too busy for") {
            do {
                result = try await call(method, params)
                return true
            } catch let error as ControlError where error.code == .busy {
                return false
            }
        }
        return result
    }

    /// The error that a method ends with.
    func failure(_ method: String, _ params: JSONObject = [:], account: String? = "juliet") async -> ControlError? {
        do {
            try await call(method, params, account: account)
            return nil
        } catch {
            return error as? ControlError
        }
    }

    /// The status of an account.
    func status(_ account: String) async throws -> JSONObject {
        try await call("status", account: account).objects("accounts").first ?? [:]
    }

    /// Tells the daemon that the machine has got an address, or was asleep.
    func changeNetwork() async {
        await life.withLock { $0.daemon }.networkChanged()
    }

    /// Tells the daemon to end, and does not wait for that.
    func beginEnd() {
        life.withLock { $0.daemon }.end()
    }

    @discardableResult
    func end() async -> DaemonEnd {
        let life = life.withLock { $0 }
        life.daemon.end()
        let end = await life.end.value
        await server.stop()
        try? FileManager.default.removeItem(atPath: folder)
        return end
    }
}
