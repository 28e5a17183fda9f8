// SPDX-License-Identifier: Apache-2.0

import Dispatch
import SocketIO
import Testing

@testable import JabberControl

@Suite("Control sessions", .timeLimit(.minutes(5)))
struct ControlSessionTests {
    /// A daemon with three methods: `echo` answers its parameters, `fail` fails, `count` sends numbers until cancelled.
    struct Service: ControlService {
        func respond(
            to request: ControlRequest, in session: ControlSession
        ) async throws(ControlError) -> JSONValue {
            switch request.method {
            case "echo":
                return .object(request.params)
            case "fail":
                throw ControlError(.accountNotFound, "no account \"x\"", account: "x")
            case "end":
                await session.whenAnswered(request.id) { session.close(saying: ControlError(.daemonNotRunning, "bye")) }
                return "ends"
            case "large":
                let length = request.params.int("length") ?? 0
                session.notify(.string(Self.text(length)), of: request.id)
                session.notify("short", of: request.id)
                return .string(Self.text(length))
            case "count":
                for number in 1...3 { session.notify(.integer(Int64(number)), of: request.id) }
                let wait = AsyncStream<Void> { _ in }
                for await _ in wait {}
                throw ControlError(.cancelled, "cancelled")
            default:
                throw ControlError(.unknownMethod, "no method \(request.method)")
            }
        }

        /// A text of so many bytes at least: characters of one, two and four bytes, quotes among them.
        static func text(_ length: Int) -> String { String(repeating: "\"éx😀\\", count: length / 9 + 1) }
    }

    /// A client and the task that serves it.
    static func connect(pieceSize: Int = .max) -> (ControlCaller, Task<Void, Never>) {
        let (near, far) = PipeTransport.pair(pieceSize: pieceSize)
        let session = ControlSession(over: far, greeting: ControlGreeting(instance: "test"), service: Service())
        let server = Task {
            await session.run()
            withExtendedLifetime((near, far)) {}
        }
        return (ControlCaller(over: near), server)
    }

    @Test("greeting, answer and error cross the wire in pieces of any size", arguments: [1, 2, 7, Int.max])
    func answers(pieceSize: Int) async throws {
        let (client, server) = Self.connect(pieceSize: pieceSize)
        #expect(try await client.hello() == ControlGreeting(instance: "test"))
        #expect(try await client.call("echo", ["a": "é"]) == ["a": "é"])
        await #expect(throws: ControlError(.accountNotFound, "no account \"x\"", account: "x")) {
            _ = try await client.call("fail")
        }
        await client.close()
        await server.value
    }

    @Test("what ends the connection comes after the answer to the request that asked for it")
    func endAfterAnswer() async throws {
        for _ in 0..<20 {
            let (client, server) = Self.connect()
            #expect(try await client.call("end") == "ends")
            await #expect(throws: ControlError(.daemonNotRunning, "bye")) {
                while true { _ = try await client.call("echo") }
            }
            await client.close()
            await server.value
        }
    }

    @Test(
        "an answer and an event that are too long for a line come whole, in pieces, and in their order",
        arguments: [(ControlFrame.maximumBytes, 4_097), (2 * ControlFrame.maximumBytes + 1, Int.max)])
    func long(length: Int, pieceSize: Int) async throws {
        let (client, server) = Self.connect(pieceSize: pieceSize)
        let events = Locked<[JSONValue]>([])
        let answer = try await client.call("large", ["length": .integer(Int64(length))]) { event in
            events.withLock { $0.append(event) }
            return true
        }
        let text = JSONValue.string(Service.text(length))
        #expect(answer == text)
        #expect(events.withLock { $0 == [text, "short"] })
        #expect(try await client.call("echo") == [:])
        await client.close()
        await server.value
    }

    @Test("an answer that is longer than any may be fails, and the connection goes on")
    func tooLongAnswer() async throws {
        let answer = ControlResponse(id: 1, result: .success(.string(Service.text(2_000))))
        let (near, far) = PipeTransport.pair()
        let connection = ControlConnection(over: far, maximumBytes: 2_000)
        let failure = Handover<ControlError?>()
        let client = ControlConnection(over: near, takesPieces: true)
        near.executor.queue.async {
            connection.start { _ in }
            client.start { event in
                guard case .message(.response(let response)) = event else { return }
                if case .failure(let error) = response.result { failure.give(error) } else { failure.give(nil) }
            }
            connection.send(.response(answer))
        }
        #expect(await failure.value() == ControlConnection.tooLongAnswer)
    }

    @Test(
        "pieces that are none, and ones that never end, are an error of the daemon",
        arguments: [[:], ["text": 1], ["text": "nonsense", "last": true]] as [JSONObject])
    func oddPieces(params: JSONObject) async throws {
        let piece = ControlMessage.notification(ControlNotification(method: "piece", params: params))
        let (near, far) = PipeTransport.pair()
        let client = ControlCaller(over: near)
        let daemon = ControlConnection(over: far)
        daemon.send(.notification(ControlGreeting(instance: "test").notification))
        daemon.send(piece)
        await #expect(throws: ControlError.self) { while true { _ = try await client.call("echo") } }
        await client.close()
        var reader = ControlPieceReader()
        let much = ControlNotification(method: "piece", params: ["text": .string(Service.text(1 << 20))])
        #expect(throws: ControlFrameError.tooLong) { for _ in 0..<64 { _ = try reader.take(much) } }
    }

    @Test("events reach their call until it has enough, then the daemon's task is cancelled")
    func events() async throws {
        let (client, server) = Self.connect()
        let seen = Locked<[JSONValue]>([])
        let answer = try await client.call("count") { event in
            seen.withLock { $0.append(event) }
            return event != 2
        }
        #expect(answer == .null)
        #expect(seen.withLock { $0 } == [1, 2])
        await client.close()
        await server.value
    }

    @Test("time being up ends every call, and closing cancels what the daemon still does")
    func timeIsUp() async throws {
        let (client, server) = Self.connect()
        await #expect(throws: ControlError(.timedOut, "time is up")) {
            _ = try await client.call("count") { event in
                if event == 3 { Task { await client.fail(ControlError(.timedOut, "time is up")) } }
                return true
            }
        }
        await #expect(throws: ControlError(.timedOut, "time is up")) { _ = try await client.call("echo") }
        await client.close()
        await server.value
    }

    @Test("a daemon that ends before it answers is an error, not a hang")
    func daemonEnds() async throws {
        let (near, far) = PipeTransport.pair()
        let client = ControlCaller(over: near)
        far.executor.queue.async { far.close() }
        await #expect(throws: ControlError.self) { _ = try await client.hello() }
        await #expect(throws: ControlError.self) { _ = try await client.call("echo") }
        await client.close()
    }

    @Test(
        "a daemon that talks nonsense is an error",
        arguments: ["nonsense\n", "{\"jsonrpc\":\"2.0\",\"method\":\"hello\"}\n"])
    func nonsense(_ text: String) async throws {
        let (near, far) = PipeTransport.pair()
        let client = ControlCaller(over: near)
        far.executor.queue.async { far.send(Array(text.utf8)) }
        await #expect(throws: ControlError.self) { _ = try await client.hello() }
        await client.close()
    }

    @Test("a client that talks nonsense is answered and closed")
    func malformedClient() async throws {
        let (near, far) = PipeTransport.pair()
        let session = ControlSession(over: far, greeting: ControlGreeting(instance: "test"), service: Service())
        let server = Task { await session.run() }
        let received = Locked<[UInt8]>([])
        let end = Handover<Void>()
        near.executor.queue.async {
            near.start { event in
                switch event {
                case .received(let bytes): received.withLock { $0 += bytes }
                case .endOfInput: near.close()
                case .closed: end.give(())
                case .drained: break
                }
            }
            near.send(Array("{\"jsonrpc\":\n".utf8))
        }
        await end.value()
        await server.value
        let lines = String(decoding: received.withLock { $0 }, as: UTF8.self).split(separator: "\n")
        #expect(lines.count == 2 && lines.last?.contains("\"bad-frame\"") == true)
    }

    @Test("a reader that never reads is dropped once 4 MiB wait for it")
    func slowReader() async throws {
        let (near, far) = PipeTransport.pair()
        let connection = ControlConnection(over: far)
        let closed = Handover<Void>()
        far.executor.queue.async {
            far.isStalled = true
            connection.start { event in
                if case .closed = event { closed.give(()) }
            }
            let text = JSONValue.string(String(repeating: "x", count: 1 << 19))
            for _ in 0..<9 { connection.send(.notification(.event(text, of: 1))) }
        }
        await closed.value()
        #expect(far.pendingBytes < ControlConnection.maximumPendingBytes + 2 << 19)
        withExtendedLifetime(near) {}
    }

    @Test("an id that is in use and too many requests are refused")
    func tooMany() async throws {
        let (client, server) = Self.connect()
        let failures = await withTaskGroup(of: ControlErrorCode?.self) { group in
            for _ in 0..<(ControlSession.maximumRequests + 1) {
                group.addTask {
                    do throws(ControlError) {
                        _ = try await client.call("count") { _ in true }
                        return nil
                    } catch {
                        return error.code
                    }
                }
            }
            let first = await group.next()
            await client.fail(ControlError(.interrupted, "stop"))
            return first
        }
        #expect(failures == .temporary)
        await client.close()
        await server.value
    }
}
