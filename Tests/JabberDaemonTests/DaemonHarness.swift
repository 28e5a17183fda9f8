// SPDX-License-Identifier: Apache-2.0

import Foundation
import JabberControl
import SocketIO
import Testing
import XMPP
import XMPPTestSupport

@testable import JabberDaemon

/// A private daemon in this process, with a control client at the other end of a socket pair, and a server to log in
/// at.
final class DaemonHarness: Sendable {
    let server: LoopbackServer
    let client: ControlCaller
    let daemon: PrivateDaemon
    let session: JSONObject
    private let serving: Task<Void, Never>

    /// - Parameters:
    ///   - account: Who the session is for; an account of the server.
    ///   - change: Changes the environment that the daemon sees.
    init(
        _ server: LoopbackServer, account: String = "juliet",
        _ change: (inout DaemonEnvironment) -> Void = { _ in }
    ) throws {
        self.server = server
        session = Self.session(server, account)
        var environment = DaemonEnvironment(variables: [
            "HOME": "/nonexistent", "XDG_CONFIG_HOME": "/nonexistent/config", "XDG_STATE_HOME": "/nonexistent/state",
        ])
        environment.paths.system = "/nonexistent/system"
        change(&environment)
        let daemon = PrivateDaemon(environment: environment)
        let (ours, theirs) = try SocketPair.transports(
            on: StreamExecutor(label: "test.client"), and: StreamExecutor(label: "test.daemon"))
        self.daemon = daemon
        client = ControlCaller(over: ours)
        serving = Task { await daemon.run(over: theirs) }
    }

    /// The selection of a one-off login at the server.
    static func session(_ server: LoopbackServer, _ account: String) -> JSONObject {
        [
            "jid": .string("\(account)@\(server.domain)"), "host": .string(server.host),
            "port": .integer(Int64(server.port)), "ca": .string(server.certificateAuthorityFile),
        ]
    }

    /// Runs `body` with a server and a daemon that knows juliet's password, and ends all of it.
    static func run(
        options: LoopbackOptions = LoopbackOptions(), buddies: [LoopbackBuddy] = [], password: String? = "secret",
        clock: (any StreamClock)? = nil, _ body: (DaemonHarness) async throws -> Void
    ) async throws {
        let server = try await LoopbackServer.start(
            domain: "example.org", accounts: ["juliet": "secret", "nurse": "secret"], options: options)
        for buddy in buddies { try await server.add(buddy) }
        let harness = try DaemonHarness(server) { environment in
            if let clock { environment.clock = clock }
        }
        if let password { try await harness.give(password: password) }
        do {
            try await body(harness)
        } catch {
            await harness.end()
            await server.stop()
            throw error
        }
        await harness.end()
        await server.stop()
    }

    /// Hands the daemon a password, as the tool does.
    func give(password: String) async throws {
        _ = try await client.call(
            MethodTable.passwordMethod, ["session": .object(session), "password": .string(password)])
    }

    /// Calls a method; its result and its events are as the protocol's schema says.
    @discardableResult
    func call(
        _ method: String, _ params: JSONObject = [:], timeout: Double? = 120,
        onEvent: (@Sendable (JSONValue) -> Bool)? = nil
    ) async throws(ControlError) -> JSONObject {
        var params = params
        if params["session"] == nil { params["session"] = .object(session) }
        if let timeout, onEvent == nil { params["timeout"] = .number(timeout) }
        let answer = try await client.call(method, params, onEvent: onEvent.map { Promise.checked($0, of: method) })
        if answer != .null { Promise.check(answer, method + ".result") }
        Promise.check(.object(params), method + ".params")
        return answer.objectValue ?? [:]
    }

    /// The error that a method ends with.
    func failure(_ method: String, _ params: JSONObject = [:], timeout: Double? = 120) async -> ControlError? {
        do throws(ControlError) {
            try await call(method, params, timeout: timeout)
            return nil
        } catch {
            return error
        }
    }

    /// The tool goes, and the daemon with it.
    func end() async {
        await client.close()
        await serving.value
    }
}

/// Collects the events of a call.
actor Events {
    private var events: [JSONObject] = []
    private var waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

    func add(_ event: JSONValue) {
        guard let object = event.objectValue else { return }
        events.append(object)
        let ready = waiters.filter { $0.count <= events.count }
        waiters.removeAll { $0.count <= events.count }
        for waiter in ready { waiter.continuation.resume() }
    }

    /// The first `count` events, once there are so many.
    func first(_ count: Int) async -> [JSONObject] {
        if events.count < count { await withCheckedContinuation { waiters.append((count, $0)) } }
        return Array(events.prefix(count))
    }

    /// What is called with each event, in order.
    nonisolated var sink: @Sendable (JSONValue) -> Bool {
        let (stream, continuation) = AsyncStream.makeStream(of: JSONValue.self)
        Task { for await event in stream { await add(event) } }
        return { event in
            continuation.yield(event)
            return true
        }
    }
}

extension JSONObject {
    /// The objects of a list.
    func objects(_ key: String) -> [JSONObject] {
        (self[key]?.arrayValue ?? []).compactMap(\.objectValue)
    }
}
