// SPDX-License-Identifier: Apache-2.0

import Glibc
import JabberControl
import SocketIO
import Testing
import XMPP
import XMPPTestSupport

@testable import JabberDaemon

@Suite("A control socket to which anything comes", .timeLimit(.minutes(3)))
struct ControlFloodTests {
    /// A connection to the socket that says nothing by itself.
    private static func connect(_ path: String) throws -> Descriptor {
        let address = try #require(SocketAddress(unixPath: path))
        let number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        try #require(number >= 0, "no more descriptors")
        let connection = Descriptor(owning: number)
        try #require(address.withSockaddr { Glibc.connect(number, $0, $1) } == 0, "error \(errno)")
        return connection
    }

    /// Sends bytes as far as they are taken.
    private static func send(_ bytes: [UInt8], over connection: Descriptor) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(connection.number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// The messages that come until there are so many, or the other side has closed.
    private static func messages(_ count: Int = .max, from connection: Descriptor) throws -> [ControlMessage] {
        var reader = ControlLineReader()
        var messages: [ControlMessage] = []
        while messages.count < count, let bytes = try? FileDescriptor(connection.number).readSome(name: "the socket") {
            messages += try reader.feed(bytes).lines.map { try ControlFrame.decode($0) }
        }
        return messages
    }

    /// Why a message is the last one; `nil` where it is not.
    private static func reason(_ message: ControlMessage?) -> ControlErrorCode? {
        switch message {
        case .notification(let word) where word.method == "goodbye":
            ControlError(json: word.params["error"]?.objectValue ?? [:]).code
        case .response(let response):
            if case .failure(let error) = response.result { error.code } else { nil }
        case .notification, .request, nil: nil
        }
    }

    @Test(
        "A million bytes that are no message, and a line that is longer than one may be, end that one connection",
        arguments: [
            (0xFF, 1_000_000, true), (0, 1_000_000, true), (0x5B, 1_000_000, true), (0x31, 1_000_000, true),
            (0x78, ControlFrame.maximumBytes + 1, false), (0x20, 4 * ControlFrame.maximumBytes, false),
        ] as [(UInt8, Int, Bool)])
    func garbage(_ byte: UInt8, _ count: Int, isEnded: Bool) async throws {
        try await LastingHarness.run([:]) { daemon in
            let path = daemon.socket
            let bytes = [UInt8](repeating: byte, count: count)
            let messages = try await BlockingWork.run {
                let connection = try Self.connect(path)
                Self.send(bytes + (isEnded ? [0x0A] : []), over: connection)
                return try Self.messages(from: connection)
            }
            #expect(messages.count >= 2 && Self.reason(messages[1]) == .badFrame, "\(messages)")
            try await daemon.call("status", account: nil)
        }
    }

    @Test("A request of a million bytes is one: it is answered, and its connection goes on")
    func longRequest() async throws {
        try await LastingHarness.run([:]) { daemon in
            let client = try await daemon.client()
            let error = await #expect(throws: ControlError.self) {
                _ = try await client.call(String(repeating: "x", count: 1_000_000))
            }
            #expect(error?.code == .unknownMethod)
            _ = try await client.call("status")
            await client.close()
        }
    }

    @Test("Of a thousand that connect 64 are served; each other one is told why not and let go, and the daemon goes on")
    func crowd() async throws {
        // Time stands still: nobody is silent for too long.
        try await LastingHarness.run([:], clock: TestClock()) { daemon in
            let path = daemon.socket
            let (connections, words) = try await BlockingWork.run {
                let connections = try (0..<1_000).map { _ in try Self.connect(path) }
                return (connections, try connections.map { try Self.messages(1, from: $0).first })
            }
            let served = words.count { message in
                if case .notification(let word) = message { word.method == "hello" } else { false }
            }
            #expect(served == ControlServer.maximumClients)
            #expect(words.count { Self.reason($0) == .busy } == 1_000 - served)
            let ends = try await BlockingWork.run {
                try zip(connections, words).count { connection, word in
                    guard Self.reason(word) == .busy else { return false }
                    return try Self.messages(from: connection).isEmpty
                }
            }
            #expect(ends == 1_000 - served, "they are closed, and hear nothing more")
            #expect(await daemon.failure("status", account: nil)?.code == .busy)
            withExtendedLifetime(connections) {}
        }
    }

    // MARK: Halves of requests, and who does not read

    private static let romeo = LoopbackBuddy("romeo", name: "Romeo", behaviors: [])

    private static func line(_ id: Int64, _ method: String, _ params: JSONObject) throws -> [UInt8] {
        var params = params
        params["session"] = ["account": "juliet"]
        return try ControlFrame.encode(.request(ControlRequest(id: .number(id), method: method, params: params)))
    }

    @Test("Of a request whose line does not end nothing is done, wherever it was cut; one that is whole is done once")
    func halves() async throws {
        try await LastingHarness.run(buddies: [Self.romeo]) { daemon in
            try await daemon.call("connect")
            let line = try Self.line(
                1, "send", ["to": ["romeo@example.org"], "text": "whole", "id": "half", "until": "none"])
            let path = daemon.socket
            let answers = try await BlockingWork.run {
                try (Array(stride(from: 1, to: line.count - 1, by: 7)) + [line.count - 1]).map { count in
                    let connection = try Self.connect(path)
                    Self.send(Array(line[..<count]), over: connection)
                    shutdown(connection.number, Int32(SHUT_WR))
                    // The daemon has seen the end when it has closed.
                    return try Self.messages(from: connection)
                }
            }
            #expect(answers.allSatisfy { $0.count == 1 }, "nothing but the greeting")
            let send: JSONObject = ["to": ["romeo@example.org"], "text": "last", "id": "last"]
            try await daemon.call("send", send)
            #expect(try await arrived(daemon) == ["last"])
            // Who has asked need not stay.
            try await BlockingWork.run {
                let connection = try Self.connect(path)
                Self.send(line, over: connection)
                _ = try Self.messages(2, from: connection)
            }
            let again: JSONObject = ["to": ["romeo@example.org"], "text": "whole", "id": "half"]
            try await daemon.call("send", again)
            #expect(try await arrived(daemon) == ["last", "half"])
        }
    }

    private func arrived(_ daemon: LastingHarness) async throws -> [String] {
        try await daemon.server.stanzas(for: "romeo").compactMap { $0["id"] }.filter { ["last", "half"].contains($0) }
    }

    /// Sends juliet messages of 30,000 bytes.
    private func flood(_ daemon: LastingHarness, _ numbers: Range<Int>) async throws {
        let text = String(repeating: "x", count: 30_000)
        for number in numbers {
            let message = Message(to: try JID("juliet@example.org"), body: "\(number) \(text)", id: "f\(number)")
            try await daemon.server.send(message, as: "romeo")
        }
    }

    /// The numbers of the messages in events, as far as there are any.
    private static func numbers(_ messages: [ControlMessage]) -> [Int] {
        messages.compactMap { message in
            guard case .notification(let word) = message, word.method == "event" else { return nil }
            let body = word.params["event"]?.objectValue?.string("body")
            return body.flatMap { Int($0.prefix { $0 != " " }) }
        }
    }

    @Test("Who listens and does not read holds nobody up, and has every message in order when it reads")
    func deaf() async throws {
        let count = 400
        try await LastingHarness.run(buddies: [Self.romeo]) { daemon in
            try await daemon.call("connect")
            let path = daemon.socket
            let order = try Self.line(1, "listen", ["since": "1"])
            let deaf = try await BlockingWork.run {
                let connection = try Self.connect(path)
                Self.send(order, over: connection)
                return connection
            }
            try await flood(daemon, 0..<count)
            // Three times what may wait for somebody: it waits in the journal instead.
            let client = try await daemon.client()
            let heard = Locked(0)
            _ = try await client.call(
                "listen", ["since": "1", "count": .integer(Int64(count)), "session": ["account": "juliet"]]
            ) { event in
                if event["type"] == "message" { heard.withLock { $0 += 1 } }
                return true
            }
            await client.close()
            #expect(heard.withLock { $0 } == count)
            #expect(try await daemon.status("juliet").string("connection") == "connected")
            let numbers = try await BlockingWork.run {
                var reader = ControlLineReader()
                var numbers: [Int] = []
                while numbers.count < count,
                    let bytes = try FileDescriptor(deaf.number).readSome(name: "the socket")
                {
                    numbers += Self.numbers(try reader.feed(bytes).lines.map { try ControlFrame.decode($0) })
                }
                return numbers
            }
            #expect(numbers == Array(0..<count))
        }
    }

    @Test("Who asks and does not read the answers is let go when 4 MiB wait for it, and the daemon goes on")
    func mute() async throws {
        try await LastingHarness.run(buddies: [Self.romeo]) { daemon in
            try await daemon.call("connect")
            try await flood(daemon, 0..<15)
            try await Patience.wait(for: "the messages") {
                let said = try await daemon.call("history", ["jid": "romeo@example.org", "limit": 15])
                return said.objects("messages").count == 15
            }
            let path = daemon.socket
            // Some 450,000 bytes each.
            let orders = try (1...20).map { try Self.line($0, "history", ["jid": "romeo@example.org", "limit": 15]) }
            let mute = try await BlockingWork.run {
                let connection = try Self.connect(path)
                for order in orders { Self.send(order, over: connection) }
                return connection
            }
            try await Patience.wait(for: "the end") { Self.isEnded(mute) }
            try await daemon.call("status", account: nil)
            // What the system had taken for it.
            let messages = try await BlockingWork.run { try Self.messages(from: mute) }
            #expect(messages.count < orders.count, "\(messages.count)")
        }
    }

    /// Whether the other side sends nothing more, seen without reading.
    private static func isEnded(_ connection: Descriptor) -> Bool {
        // POLLRDHUP of <poll.h>, hidden behind _GNU_SOURCE.
        let end: Int16 = 0x2000
        var state = pollfd(fd: connection.number, events: end, revents: 0)
        return poll(&state, 1, 0) > 0 && state.revents & (end | Int16(POLLHUP)) != 0
    }
}
