// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPP
import XMPPTestSupport

@Suite("Testing your code")
struct TestingYourCodeTests {
    @Test("a message comes back from an echo")
    func echo() async throws {
        let server = try await LoopbackServer.start(domain: "example.org", accounts: ["juliet": "secret"])
        try await server.add(LoopbackBuddy("romeo", name: "Romeo"))

        let client = XMPPClient(try await server.configuration(for: "juliet"))
        var messages = client.messages.makeAsyncIterator()
        try await client.start()
        try await client.send(Message(to: try JID("romeo@example.org"), body: "hello"))
        #expect(try await messages.next()?.body == "hello")

        await client.stop()
        await server.stop()
    }

    @Test("buddies speak and leave when told, and what was said can be read")
    func buddies() async throws {
        let server = try await LoopbackServer.start(domain: "example.org", accounts: ["juliet": "secret"])
        try await server.add(LoopbackBuddy("romeo", name: "Romeo"))
        let juliet = try JID("juliet@example.org")
        let client = XMPPClient(try await server.configuration(for: "juliet"))
        var events = client.events.makeAsyncIterator()
        try await client.start()
        while case .some(let event) = try await events.next() {
            if case .buddyCameOnline(let buddy) = event, buddy.displayName == "Romeo" { break }
        }

        try await server.send(Message(to: juliet, body: "Good morrow"), as: "romeo")
        while case .some(let event) = try await events.next() {
            if case .message(let message) = event, message.body == "Good morrow" { break }
        }
        try await server.set(Presence(.unavailable), of: "romeo")
        while case .some(let event) = try await events.next() {
            if case .buddyWentOffline(let buddy) = event, buddy.displayName == "Romeo" { break }
        }

        try await client.send(Message(to: try JID("romeo@example.org"), body: "Gone?"))
        let sent = try await server.firstElement(from: "juliet") { $0.name.localName == "message" }
        #expect(sent["to"] == "romeo@example.org")
        await client.stop()
        await server.stop()
    }

    @Test("faults happen on demand")
    func faults() async throws {
        let server = try await LoopbackServer.start(domain: "example.org", accounts: ["juliet": "secret"])
        await server.planNextConnection([.cut(afterBytes: 2_000, .toClient, .reset)])
        let cut = XMPPStream(try await server.configuration(for: "juliet"))
        await #expect(throws: XMPPError.self) { try await cut.connect() }

        await server.planEveryConnection([.slice(bytes: 7)])
        let sliced = XMPPStream(try await server.configuration(for: "juliet"))
        try await sliced.connect()
        await server.cutConnections(of: "juliet")
        await sliced.disconnect()
        await server.crash()

        await server.changeOptions { $0.authenticationFailure = .temporaryAuthFailure }
        let refused = XMPPStream(try await server.configuration(for: "juliet"))
        do {
            try await refused.connect()
            Issue.record("the server should have refused")
        } catch {
            #expect(error.code == .authenticationDeferred)
        }
        await server.stop()
    }

    @Test("a server does what its script says")
    func script() async throws {
        let server = try ScriptedServer()
        let script = """
            #! prelude online
            <message from='romeo@example.net' type='shout'><body>hi</body></message>
            #! await Good even
            """
        async let played: Void = server.play(try StreamScript(text: script))
        let client = XMPPClient(server.configuration)
        var messages = client.messages.makeAsyncIterator()
        try await client.start()
        try await client.send(Message(to: try JID("romeo@example.net"), body: "Good even"))
        try await played
        let odd = try await messages.next()
        #expect(odd?.body == "hi" && odd?.kind == .normal)
        await client.stop()
    }
}
