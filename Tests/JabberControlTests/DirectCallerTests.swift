// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import JabberControl
import SocketIO
import Testing

@Suite("A call in the thread that asks", .timeLimit(.minutes(2)))
struct DirectCallerTests {
    /// Answers in the ways that there are.
    private struct Service: ControlService {
        func respond(to request: ControlRequest, in session: ControlSession) async throws(ControlError) -> JSONValue {
            switch request.method {
            case "echo":
                session.notify("an event that nobody asked for", of: request.id)
                return .object(request.params)
            case "long": return .string(String(repeating: "ü", count: 1_500_000))
            case "goodbye":
                session.close(saying: ControlError(.daemonEnding, "the daemon is ending"))
            case "silence": break
            default: throw ControlError(.notFound, "there is no \(request.method)")
            }
            for await _ in AsyncStream<Void>.makeStream().stream {}
            throw ControlError(.cancelled, "cancelled")
        }
    }

    /// Listens at a socket while `body` runs on a thread of its own; each connection is given to `serve`.
    private func listening(
        _ serve: @escaping @Sendable (SocketTransport) -> Void, _ body: @escaping @Sendable (String) throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.path + "/direct-\(UUID().uuidString.prefix(8))"
        try PrivateFile.makeFolder(folder)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let executor = StreamExecutor(label: "test.server")
        let socket = try ListeningSocket(try #require(SocketAddress(unixPath: folder + "/s")), on: executor)
        executor.queue.sync { socket.start(serve) }
        defer { executor.queue.sync { socket.close() } }
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            DispatchQueue(label: "test.direct").async { continuation.resume(with: Result { try body(folder + "/s") }) }
        }
    }

    /// On a busy machine a greeting may take longer than a command waits for it before it asks in the other way.
    private static func connect(to path: String) -> DirectCaller? {
        for _ in 0..<100 {
            if let caller = DirectCaller.connect(to: path) { return caller }
        }
        return nil
    }

    private func calling(_ body: @escaping @Sendable (inout DirectCaller) throws -> Void) async throws {
        try await listening { transport in
            let session = ControlSession(
                over: transport, greeting: ControlGreeting(instance: "x"), service: Service())
            Task { await session.run() }
        } _: { path in
            var caller = try #require(Self.connect(to: path))
            #expect(caller.greeting.instance == "x")
            try body(&caller)
        }
    }

    private static let lateness = ControlError(.timedOut, "late")

    @Test("has its answer, behind what it has not asked for, and however long it is")
    func answers() async throws {
        try await calling { caller in
            let params: JSONObject = ["text": "hällo"]
            let answer = try caller.call("echo", params, within: .seconds(60), or: Self.lateness)
            #expect(answer == .object(params))
        }
        try await calling { caller in
            let answer = try caller.call("long", [:], within: .seconds(60), or: Self.lateness)
            #expect(answer.stringValue?.utf8.count == 3_000_000)
        }
    }

    @Test(
        "ends as the daemon says, or when it says nothing for too long",
        arguments: [("nothing", "not-found"), ("goodbye", "daemon-ending"), ("silence", "timed-out")])
    func failures(_ method: String, _ code: String) async throws {
        try await calling { caller in
            let limit: Duration = method == "silence" ? .milliseconds(50) : .seconds(60)
            do throws(ControlError) {
                _ = try caller.call(method, [:], within: limit, or: Self.lateness)
                Issue.record("an answer")
            } catch {
                #expect(error.code.rawValue == code)
            }
        }
    }

    @Test("is not made where nobody listens, where somebody says nothing, or something else than a greeting")
    func nobody() async throws {
        #expect(DirectCaller.connect(to: "/nonexistent/s") == nil)
        #expect(DirectCaller.connect(to: String(repeating: "x", count: 200)) == nil)
        let words: [ControlMessage?] = [
            nil, .notification(.goodbye(ControlError(.busy, "busy"))),
            .notification(ControlNotification(method: "hello", params: ["product": "x"])),
        ]
        for word in words {
            let line = try word.map { try ControlFrame.encode($0) }
            try await listening { transport in
                transport.start { _ in }
                if let line { transport.send(line) }
            } _: { path in
                #expect(DirectCaller.connect(to: path) == nil)
            }
        }
    }

    @Test("to a daemon that ends without a word says so")
    func ends() async throws {
        let greeting = try ControlFrame.encode(.notification(ControlGreeting(instance: "x").notification))
        try await listening { transport in
            transport.start { event in if case .received = event { transport.abort() } }
            transport.send(greeting)
        } _: { path in
            var caller = try #require(Self.connect(to: path))
            let error = #expect(throws: ControlError.self) {
                try caller.call("echo", [:], within: .seconds(60), or: Self.lateness)
            }
            #expect(error?.code == .daemonEnded)
        }
    }
}
