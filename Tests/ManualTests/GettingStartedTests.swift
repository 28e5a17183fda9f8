// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPP
import XMPPTestSupport

/// The code of the articles and of the README, compiled and run. Their text asks DNS for `example.org`; here the
/// configuration is that of a server in the same process.
@Suite("Getting started")
struct GettingStartedTests {
    @Test("a stream sends one message")
    func oneMessage() async throws {
        let server = try await LoopbackServer.start(domain: "example.org", accounts: ["juliet": "secret"])
        try await server.add(LoopbackBuddy("romeo"))
        let stream = XMPPStream(try await server.configuration(for: "juliet"))
        try await stream.connect()
        try await stream.send(Message(to: try JID("romeo@example.org"), body: "Wherefore art thou?"))
        try await stream.waitUntilHandled()
        await stream.disconnect()
        let bodies = try await server.stanzas(for: "romeo").compactMap { try? Message($0).body }
        #expect(bodies == ["Wherefore art thou?"])
        await server.stop()
    }

    /// The delegate of the article, with the simplest of windows.
    actor Rows {
        var names: [JID: String] = [:]
        func add(_ jid: JID, name: String) { names[jid] = name }
        func remove(_ jid: JID) { names[jid] = nil }
    }

    actor Chats {
        var lines: [String] = []
        func show(_ body: String, from jid: JID) { lines.append("\(jid): \(body)") }
    }

    final class Window: ChatDelegate, MessageDelegate {
        func stream(_ stream: XMPPStream, buddyCameOnline buddy: Buddy) async {
            await rows.add(buddy.jid, name: buddy.displayName)
        }

        func stream(_ stream: XMPPStream, buddyWentOffline buddy: Buddy) async {
            await rows.remove(buddy.jid)
        }

        func stream(_ stream: XMPPStream, didReceive message: Message) async {
            guard let body = message.body, let from = message.from else { return }
            await chats.show(body, from: from.bare)
        }

        func streamDidDisconnect(_ stream: XMPPStream, error: XMPPError?) async { ended.continuation.finish() }

        let rows = Rows()
        let chats = Chats()
        /// Ends with the session: the last call a delegate gets.
        let ended = AsyncStream.makeStream(of: Never.self)
    }

    @Test("delegates fill a window")
    func delegates() async throws {
        let server = try await LoopbackServer.start(domain: "example.org", accounts: ["juliet": "secret"])
        try await server.add(LoopbackBuddy("romeo", name: "Romeo"))
        let client = XMPPClient(try await server.configuration(for: "juliet"))
        let window = Window()
        client.add(chatDelegate: window)
        client.add(messageDelegate: window)
        let messages = client.messages
        try await client.start()
        try await client.send(Message(to: try JID("romeo@example.org"), body: "hello"))
        for try await message in messages where message.body == "hello" { break }
        await client.stop()
        for await _ in window.ended.stream {}
        #expect(await window.chats.lines == ["romeo@example.org: hello"])
        #expect(await window.rows.names.isEmpty, "who is shown after the end may be long gone")
        await server.stop()
    }
}
