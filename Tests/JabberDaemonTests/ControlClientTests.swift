// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import JabberControl
import SocketIO
import Testing
import XMPP
import XMPPTestSupport

@testable import JabberDaemon

@Suite("Programs that drive the daemon", .timeLimit(.minutes(5)))
struct ControlClientTests {
    private static let romeo = LoopbackBuddy("romeo", name: "Romeo", behaviors: [])

    private static var keepingServer: LoopbackOptions {
        var options = LoopbackOptions()
        options.resumption = .kept(for: .seconds(300))
        return options
    }

    /// Runs `body` with a daemon that has juliet connected, and a client of it.
    private func run(_ body: (LastingHarness, ControlClient) async throws -> Void) async throws {
        try await LastingHarness.run(options: Self.keepingServer, buddies: [Self.romeo]) { daemon in
            try await daemon.call("connect")
            let client = ControlClient(socket: daemon.socket, account: "juliet")
            try await body(daemon, client)
            await client.close()
        }
    }

    private func say(_ texts: [String], _ daemon: LastingHarness) async throws {
        for text in texts {
            try await daemon.server.send(
                Message(to: try JID("juliet@example.org"), body: text, id: "in-\(text)"), as: "romeo")
        }
    }

    /// The cursor of the last event that is kept so far.
    private func now(_ client: ControlClient) async throws -> String {
        for try await event in client.events([.account], since: "1") {
            if let cursor = event.cursor { return cursor }
        }
        throw CancellationError()
    }

    @Test("The calls that are used most have types: who is online, the contacts, how a message fares, the accounts")
    func calls() async throws {
        try await run { daemon, client in
            #expect(try await client.connect().product == "jabberctld")
            let contacts = try await client.online()
            #expect(contacts.map(\.jid) == ["romeo@example.org"])
            #expect(contacts.first?.name == "Romeo" && contacts.first?.isOnline == true)
            #expect(contacts.first?.show == .available)
            #expect(try await client.roster().map(\.jid) == ["romeo@example.org"])
            try await client.setPresence(.away, status: "lunch")
            let account = try #require(try await client.status().first)
            #expect(account.isConnected && account.name == "juliet" && account.json.string("show") == "away")
            let sent = try await client.send("hello", to: ["romeo@example.org"], id: "h1")
            #expect(sent.map(\.state) == [.server] && sent.map(\.id) == ["h1"])
            let again = try await client.send("hello", to: ["romeo@example.org"], id: "h1")
            #expect(again.map(\.state) == [.server])
            #expect(try await daemon.server.stanzas(for: "romeo").filter { $0["id"] == "h1" }.count == 1)
        }
    }

    @Test("Any method can be called; what the daemon refuses is thrown as it says it")
    func anyMethod() async throws {
        try await run { _, client in
            let answer = try await client.call("ping")
            #expect(answer.string("account") == "juliet@example.org")
            let error = await #expect(throws: ControlError.self) { try await client.call("room.paint") }
            #expect(error?.code == .unknownMethod)
            let other = ControlClient(socket: client.socket, account: "nobody")
            let missing = await #expect(throws: ControlError.self) { try await other.online() }
            #expect(missing?.code == .accountNotFound)
            await other.close()
            let closed = await #expect(throws: ControlError.self) { try await other.online() }
            #expect(closed?.code == .cancelled)
        }
    }

    @Test("Where no daemon listens it is said at once, and a call that is cancelled ends")
    func nobody() async throws {
        let client = ControlClient(socket: "/nonexistent/control.sock")
        let error = await #expect(throws: ControlError.self) { try await client.status() }
        #expect(error?.code == .daemonNotRunning)
        await #expect(throws: ControlError.self) { for try await _ in client.events() {} }
        try await run { daemon, client in
            // Romeo sends no receipts.
            let call = Task { try await client.send("hello", to: ["romeo@example.org"], id: "h1", until: .device) }
            _ = try await daemon.server.firstElement(from: "juliet") { $0["id"] == "h1" }
            call.cancel()
            let error = await #expect(throws: ControlError.self) { try await call.value }
            #expect(error?.code == .cancelled)
        }
    }

    /// Serves a control socket in a folder of its own while `body` runs; gives its path.
    private func serve(
        _ greeting: ControlGreeting, _ service: some ControlService, _ body: (String) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.path + "/client-\(UUID().uuidString.prefix(8))"
        try PrivateFile.makeFolder(folder)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let executor = StreamExecutor(label: "test.server")
        let socket = try ListeningSocket(try #require(SocketAddress(unixPath: folder + "/s")), on: executor)
        executor.queue.sync {
            socket.start { transport in
                let session = ControlSession(over: transport, greeting: greeting, service: service)
                Task { await session.run() }
            }
        }
        defer { executor.queue.sync { socket.close() } }
        try await body(folder + "/s")
    }

    @Test("What a daemon that ends cannot do any more is asked of the next one, where twice is the same as once")
    func ending() async throws {
        struct Ending: ControlService {
            let count = Locked(0)
            func respond(to request: ControlRequest, in session: ControlSession) throws(ControlError) -> JSONValue {
                if request.method == "listen" {
                    session.notify(["type": "message", "cursor": "7"], of: request.id)
                    return [:]
                }
                let isFirst = count.withLock { count in
                    count += 1
                    return count == 1
                }
                guard !isFirst else { throw ControlError(.daemonNotRunning, "the daemon is ending") }
                return ["show": "away"]
            }
        }
        let greeting = ControlGreeting(api: ProductVersion.api, instance: "x")
        let service = Ending()
        try await serve(greeting, service) { path in
            let client = ControlClient(socket: path)
            try await client.setPresence(.away)
            #expect(service.count.withLock { $0 } == 2)
            var events = client.events(consumer: "bot", acknowledgement: .manual).makeAsyncIterator()
            let event = try #require(try await events.next())
            service.count.withLock { $0 = 0 }
            try await client.acknowledge(event, by: "bot")
            #expect(service.count.withLock { $0 } == 2)
            service.count.withLock { $0 = 0 }
            let error = await #expect(throws: ControlError.self) { try await client.call("raw") }
            #expect(error?.code == .daemonNotRunning)
            await client.close()
        }
    }

    @Test(
        "A daemon that speaks no version of ours is refused",
        arguments: [(2...3, "api-too-old"), (0...0, "api-too-new")])
    func versions(_ api: ClosedRange<Int>, _ code: String) async throws {
        struct Nothing: ControlService {
            func respond(to request: ControlRequest, in session: ControlSession) throws(ControlError) -> JSONValue {
                .object([:])
            }
        }
        try await serve(ControlGreeting(api: api, instance: "x"), Nothing()) { path in
            let error = await #expect(throws: ControlError.self) { try await ControlClient(socket: path).connect() }
            #expect(error?.code.rawValue == code)
        }
    }

    @Test("The status counts what goes over the connections of an account, and says how far its queues are")
    func counters() async throws {
        try await run { daemon, client in
            func counter(_ key: String) async throws -> Int {
                let account = try #require(try await client.status().first)
                #expect(account.json.int("unwritten") == 0 && account.queued == 0)
                return account.json.value(at: "counters." + key)?.intValue ?? -1
            }
            let keys = ["stanzasSent", "stanzasReceived", "bytesSent", "bytesReceived"]
            var before: [String: Int] = [:]
            for key in keys { before[key] = try await counter(key) }
            #expect(before.values.allSatisfy { $0 > 0 })
            _ = try await client.send("hello", to: ["romeo@example.org"])
            let start = try await now(client)
            try await say(["1"], daemon)
            for try await _ in client.events(since: start) { break }
            for key in keys { #expect(try await counter(key) > before[key] ?? .max, "\(key)") }
            _ = try await client.call("ping")
            _ = try await client.online()
            #expect(try await counter("roundTrips") > 0)
            let trip = try await client.status().first?.json.value(at: "counters.roundTripMilliseconds")
            #expect(try #require(trip?.doubleValue) > 0)
            try await daemon.call("reconnect")
            #expect(try await counter("bytesSent") > before["bytesSent"] ?? .max, "they go on over connections")
        }
    }

    @Test("A call after the daemon was started anew connects anew")
    func anew() async throws {
        try await run { daemon, client in
            let before = try await client.connect().instance
            try await daemon.anew(.restart)
            #expect(try await client.online().map(\.jid) == ["romeo@example.org"])
            #expect(try await client.connect().instance != before)
        }
    }

    @Test("Events go on over a restart of the daemon: none is missing and none comes twice")
    func events() async throws {
        try await run { daemon, client in
            let events = client.events(since: try await now(client))
            try await say(["1", "2"], daemon)
            var iterator = events.makeAsyncIterator()
            #expect(try await iterator.next()?.body == "1")
            try await daemon.anew(.restart) { try await say(["3"], daemon) }
            try await say(["4"], daemon)
            for text in ["2", "3", "4"] {
                let event = try await iterator.next()
                #expect(
                    event?.body == text && event?.kind == .message
                        && event?.from?.hasPrefix("romeo@example.org/") == true)
            }
        }
    }

    @Test("Who asks for what comes from now on loses nothing to a restart before the first event")
    func fromNow() async throws {
        try await run { daemon, client in
            let heard = Locked(false)
            let reader = Task {
                for try await event in client.events([.message, .presence]) {
                    heard.withLock { $0 = true }
                    if event.kind == .message { return event.body }
                }
                return nil
            }
            // Presence shows that it listens; it has no cursor to begin at again.
            var turn = 0
            try await Patience.wait(for: "a listener") {
                turn += 1
                var presence = Presence()
                presence.status = "turn \(turn)"
                try await daemon.server.set(presence, of: "romeo")
                return heard.withLock { $0 }
            }
            try await daemon.anew(.restart) { try await say(["meanwhile"], daemon) }
            #expect(try await reader.value == "meanwhile")
        }
    }

    @Test(
        "A consumer that goes away begins with the event that it had not dealt with",
        arguments: [true, false])
    func consumers(_ isAutomatic: Bool) async throws {
        try await run { daemon, client in
            let start = try await now(client)
            let how: ControlEvents.Acknowledgement = isAutomatic ? .automatic : .manual
            try await say(["1", "2", "3"], daemon)
            do {
                var first = client.events(since: start, consumer: "bot", acknowledgement: how).makeAsyncIterator()
                let one = try #require(try await first.next())
                #expect(one.body == "1")
                if !isAutomatic { try await client.acknowledge(one, by: "bot") }
                #expect(try await first.next()?.body == "2")
                if isAutomatic { #expect(try await first.next()?.body == "3") }
            }
            var second = client.events(consumer: "bot", acknowledgement: how).makeAsyncIterator()
            let rest = try await second.next()?.body
            // Noted when no other event waits: that was so at the third at the latest.
            #expect(isAutomatic ? ["1", "2", "3"].contains(rest) : rest == "2")
        }
    }

    @Test("An automatic consumer that has asked for the next event has dealt with the one before")
    func dealtWith() async throws {
        try await run { daemon, client in
            let start = try await now(client)
            try await say(["1"], daemon)
            let reading = Task {
                var iterator = client.events(since: start, consumer: "bot").makeAsyncIterator()
                _ = try await iterator.next()
                return try await iterator.next()
            }
            let first = try #require(Int(start))
            try await Patience.wait(for: "the mark of the consumer") {
                try await Self.position(of: "bot", client) > first
            }
            reading.cancel()
            #expect(try await reading.value == nil, "a cancelled task has no more events")
            var next = client.events(consumer: "bot").makeAsyncIterator()
            try await say(["2"], daemon)
            #expect(try await next.next()?.body == "2")
        }
    }

    /// How far a consumer is noted to have come; asked by moving it to where it is at least.
    private static func position(
        of consumer: String, _ client: ControlClient
    ) async throws -> Int {
        let result = try await client.call("ack", ["consumer": .string(consumer), "cursor": "0"])
        return Int(result.string("cursor") ?? "") ?? 0
    }

    @Test("What is asked for wrongly ends the events with the daemon's word")
    func wrong() async throws {
        try await run { _, client in
            let error = await #expect(throws: ControlError.self) {
                for try await _ in client.events([ControlEvent.Kind(rawValue: "weather")]) {}
            }
            #expect(error?.code == .badParameters)
        }
    }
}
