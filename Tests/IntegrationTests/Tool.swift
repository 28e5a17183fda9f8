// SPDX-License-Identifier: Apache-2.0

import Foundation
import JabberCLI
import JabberControl
import JabberDaemon
import SocketIO
import Testing

/// `jabberctl` as a person uses it: the real programs, or both in this process.
struct Tool: Sendable {
    enum Way: String, Sendable, CaseIterable {
        case programs
        case inProcess
    }

    /// What a command left behind.
    struct Outcome: Sendable {
        var code: Int32
        var output: String
        var errors: String

        /// The document on standard output.
        var json: JSONObject { (try? JSONReader.read(output.utf8).objectValue) ?? [:] }
        /// The error on standard error.
        var error: JSONObject {
            let line = errors.split(separator: "\n").last.map(String.init) ?? ""
            return (try? JSONReader.read(line.utf8)["error"]?.objectValue) ?? [:]
        }
    }

    let way: Way
    let place: Place

    /// The options that lead to the server, for an account.
    private func options(_ user: String, directTLS: Bool = false) -> [String] {
        let jid = user.contains("@") ? user : "\(user)@\(place.domain)"
        return [
            "--no-daemon", "--no-ask", "--jid", jid, "--host", place.host, "--port",
            String(directTLS ? place.directTLSPort : place.port), "--tls", directTLS ? "direct" : "starttls", "--ca",
            place.authorityFile, "--password-fd", "0", "--timeout", "20",
        ]
    }

    /// Runs a command to its end.
    func run(
        as user: String, password: String = "secret", directTLS: Bool = false, _ words: String...
    ) async throws -> Outcome {
        try await start(options(user, directTLS: directTLS) + words, password: password).end()
    }

    /// Starts a command that goes on until it is stopped.
    func start(as user: String, _ words: String...) throws -> any RunningCommand {
        try start(options(user).filter { $0 != "--timeout" && $0 != "20" } + words, password: "secret")
    }

    private func start(_ arguments: [String], password: String) throws -> any RunningCommand {
        switch way {
        case .programs: try ProgramCommand(arguments, input: password + "\n")
        case .inProcess: InProcessCommand(arguments, input: password + "\n")
        }
    }
}

/// A command that runs.
protocol RunningCommand: Sendable {
    /// The lines that it has written so far, once there are so many.
    func lines(_ count: Int) async -> [String]
    /// Waits for its end.
    func end() async -> Tool.Outcome
    /// Interrupts it, and waits for its end.
    func interrupt() async -> Tool.Outcome
}

/// Standard output of a command, line by line.
final class Lines: Sendable {
    private struct State {
        var bytes: [UInt8] = []
        var hasEnded = false
        var waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

        var lines: [String] {
            let complete = bytes.lastIndex(of: 10).map { bytes[..<$0] } ?? []
            return bytes.contains(10) ? String(decoding: complete, as: UTF8.self).components(separatedBy: "\n") : []
        }
    }

    private let state = Locked(State())

    func append(_ more: [UInt8]) {
        change { $0.bytes += more }
    }

    func finish() {
        change { $0.hasEnded = true }
    }

    var text: String { state.withLock { String(decoding: $0.bytes, as: UTF8.self) } }

    func first(_ count: Int) async -> [String] {
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                guard state.lines.count < count, !state.hasEnded else { return true }
                state.waiters.append((count, continuation))
                return false
            }
            if isReady { continuation.resume() }
        }
        return Array(state.withLock { $0.lines }.prefix(count))
    }

    private func change(_ body: (inout State) -> Void) {
        let ready = state.withLock { state in
            body(&state)
            let there = state.hasEnded ? Int.max : state.lines.count
            let ready = state.waiters.filter { $0.count <= there }
            state.waiters.removeAll { $0.count <= there }
            return ready
        }
        for waiter in ready { waiter.continuation.resume() }
    }
}
