// SPDX-License-Identifier: Apache-2.0

import JabberControl
import SocketIO
import Testing
import XMPP
import XMPPTestSupport

@testable import JabberDaemon

@Suite("A daemon whose server is killed again and again", .timeLimit(.minutes(3)))
struct CrashingServerTests {
    private static let crashes = 200

    @Test(
        "After 200 times, at any moment, all that was accepted on either side has arrived, once and in order (XEP-0198 §5, XEP-0313)"
    )
    func killed() async throws {
        var options = LoopbackOptions()
        options.mechanisms = ["PLAIN"]
        options.resumption = .kept(for: .seconds(60))
        options.offersArchive = true
        try await LastingHarness.run(options: options, buddies: [LoopbackBuddy("romeo", behaviors: [])]) { daemon in
            let collected = Events()
            try await daemon.call("connect")
            let listener = try await daemon.client()
            let listening = Task {
                _ = try? await listener.call(
                    "listen", ["kind": ["message"], "session": ["account": "juliet"]], onEvent: collected.sink)
            }
            var generator = SeededGenerator(seed: 5)
            for number in 0...Self.crashes {
                try await daemon.call(
                    "send",
                    ["to": ["romeo@example.org"], "text": "x", "id": .string("out-\(number)"), "until": "none"])
                try await daemon.server.send(
                    Message(to: try JID("juliet@example.org"), body: "in-\(number)", id: "in-\(number)"), as: "romeo")
                // The first is there before anything breaks: an archive is read from something that is known.
                if number == 0 { _ = await collected.first(1) }
                guard number < Self.crashes else { continue }
                for _ in 0..<Int.random(in: 0..<60, using: &generator) { await Task.yield() }
                let before = await daemon.server.acceptedConnections
                await daemon.server.crash()
                let isWhole = Bool.random(using: &generator)
                try await Patience.wait(for: "the daemon to come back") {
                    await daemon.changeNetwork()
                    guard await daemon.server.acceptedConnections > before else { return false }
                    if !isWhole { return true }
                    return try await daemon.status("juliet").string("connection") == "connected"
                }
            }
            try await Patience.wait(for: "the last message") {
                await daemon.changeNetwork()
                return try await daemon.server.stanzas(for: "romeo").contains {
                    $0["id"] == "out-\(Self.crashes)"
                }
            }
            let out = try await daemon.server.stanzas(for: "romeo").compactMap { $0["id"] }
            #expect(out.filter { $0.hasPrefix("out-") } == (0...Self.crashes).map { "out-\($0)" })
            let bodies = await collected.first(Self.crashes + 1).map { $0.string("body") }
            #expect(bodies == (0...Self.crashes).map { "in-\($0)" })
            await listener.close()
            await listening.value
        }
    }
}
