// SPDX-License-Identifier: Apache-2.0

import JabberControl
import SocketIO
import Testing
import XMPP
import XMPPTestSupport

@testable import JabberDaemon

@Suite("Stanzas that are too large, in a daemon that stays", .timeLimit(.minutes(5)))
struct OversizedStanzaTests {
    private static let romeo = LoopbackBuddy("romeo", name: "Romeo", behaviors: [])

    /// Sends a message that is past a limit, and another one behind it.
    private func poison(_ daemon: LastingHarness, _ id: String) async throws {
        let juliet = try JID("juliet@example.org")
        var message = Message(to: juliet, body: "x", id: id)
        var content = Element("x", namespace: "urn:x")
        for _ in 0..<20_001 { content.append(Element("a", namespace: "urn:x")) }
        message.append(content)
        try await daemon.server.send(message, as: "romeo")
        try await daemon.server.send(Message(to: juliet, body: "behind \(id)", id: "b-\(id)"), as: "romeo")
    }

    @Test(
        "A message that the server sends again and again is told as a gap and costs one connection, restarts or not"
    )
    func gap() async throws {
        var options = LoopbackOptions()
        options.resumption = .kept(for: .seconds(300))
        try await LastingHarness.run(options: options, buddies: [Self.romeo]) { daemon in
            try await daemon.call("connect")
            try await poison(daemon, "one")
            try await Patience.wait(for: "the daemon to be back") {
                await daemon.changeNetwork()
                let status = try await daemon.status("juliet").string("connection")
                return await daemon.server.acceptedConnections == 2 && status == "connected"
            }
            // Another process, which has met none yet.
            try await daemon.anew(.restart)
            try await daemon.call("connect")
            let connections = await daemon.server.acceptedConnections
            try await poison(daemon, "two")
            let next = try await daemon.client()
            let told = Events()
            _ = try await next.call(
                "listen", ["kind": ["message"], "since": "1", "count": 2, "session": ["account": "juliet"]],
                onEvent: told.sink)
            let all = await told.first(5)
            #expect(await daemon.server.acceptedConnections == connections)
            let unread = all.filter { $0["bytes"] != nil }
            #expect(unread.map { $0.string("id") } == ["one", "two"], "\(all)")
            for event in unread {
                #expect(event.string("type") == "gap" && event.string("stanza") == "message")
                #expect(event.string("from") == "romeo@example.org/\(Self.romeo.resource)")
                #expect(event.int("bytes") ?? 0 > 80_000 && event.string("cursor") != nil)
            }
            let bodies = all.compactMap { $0.string("body") }
            #expect(bodies == ["behind one", "behind two"])
            await next.close()
        }
    }
}
