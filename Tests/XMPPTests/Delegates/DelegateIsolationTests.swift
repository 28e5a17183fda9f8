// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPP
import XMPPTestSupport

/// A delegate as an app with windows has it: its state belongs to the main actor, and no method says so again.
@MainActor
private final class MainActorDelegate: ChatDelegate, MessageDelegate {
    let waiter: AsyncStream<String>.Continuation
    var heard: [String] = []

    init(_ waiter: AsyncStream<String>.Continuation) { self.waiter = waiter }

    func stream(_ stream: XMPPStream, buddyCameOnline buddy: Buddy) async { hear(buddy.displayName) }

    func stream(_ stream: XMPPStream, didReceive message: Message) async { hear(message.body ?? "") }

    private func hear(_ text: String) {
        heard.append(text)
        waiter.yield(text)
    }
}

/// The same as an actor of its own.
private actor ActorDelegate: MessageDelegate {
    let waiter: AsyncStream<String>.Continuation

    init(_ waiter: AsyncStream<String>.Continuation) { self.waiter = waiter }

    func stream(_ stream: XMPPStream, didReceive message: Message) async {
        assertIsolated()
        waiter.yield(message.body ?? "")
    }
}

@Suite("Where delegates are called")
struct DelegateIsolationTests {
    @Test("a delegate marked @MainActor is called on the main actor, an actor on itself")
    func isolation() async throws {
        let server = try await LoopbackServer.start(accounts: ["romeo": "secret"])
        try await server.add(LoopbackBuddy("juliet", name: "Juliet"))
        let stream = XMPPStream(try await server.configuration(for: "romeo"))
        let (mainEvents, main) = AsyncStream.makeStream(of: String.self)
        let (actorEvents, own) = AsyncStream.makeStream(of: String.self)
        let delegate = await MainActorDelegate(main)
        let actor = ActorDelegate(own)
        stream.add(chatDelegate: delegate)
        stream.add(messageDelegate: delegate)
        stream.add(messageDelegate: actor)

        try await stream.connect()
        try await stream.requestRoster()
        try await stream.send(Presence())
        try await stream.send(Message(to: try JID("juliet@localhost"), body: "Good even"))
        #expect(await actorEvents.first { _ in true } == "Good even")
        var heard: [String] = []
        for await text in mainEvents {
            heard.append(text)
            if heard.count == 2 { break }
        }
        #expect(heard.sorted() == ["Good even", "Juliet"])
        #expect(await delegate.heard == heard)
        await stream.disconnect()
        await server.stop()
    }
}
