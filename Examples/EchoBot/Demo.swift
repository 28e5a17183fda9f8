// SPDX-License-Identifier: Apache-2.0

import ExampleSupport
import XMPP
import XMPPTestSupport

/// Talks to the bot on a server of our own, cuts its connection, and talks to it again when it is back.
func demonstrate() async throws {
    let server = try await LoopbackServer.start(accounts: ["echo": "secret"])
    try await server.add(LoopbackBuddy("juliet", behaviors: []))
    let client = XMPPClient(
        try await server.configuration(for: "echo"),
        reconnect: ReconnectPolicy(firstDelay: .milliseconds(10), minimumDelay: .milliseconds(10)))

    try await keepOnline(client, EchoBot()) {
        // The server keeps what comes while the bot is away.
        try await expectEcho(of: "hello", on: server)
        await server.cutConnections(of: "echo")
        try await expectEcho(of: "are you back?", on: server)
    }
    say("echoed before and after the connection was cut")
    await server.stop()
}

/// Says something in Juliet's name and waits until the bot has said the same.
private func expectEcho(of text: String, on server: LoopbackServer) async throws {
    try await server.send(Message(to: try JID("echo@localhost"), body: text), as: "juliet")
    _ = try await server.firstElement(from: "echo") { (try? Message($0))?.body == text }
}
