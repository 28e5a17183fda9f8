// SPDX-License-Identifier: Apache-2.0

import Glibc
import JabberControl
import SocketIO
import Testing
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
}
