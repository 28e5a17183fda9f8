// SPDX-License-Identifier: Apache-2.0

import ExampleSupport
import XMPP
import XMPPTestSupport

/// Takes Juliet into a room of a server of our own, where Romeo and the Nurse talk; the server goes away and comes
/// back.
func demonstrate() async throws {
    let server = try await LoopbackServer.start(accounts: ["juliet": "secret"])
    let room = try JID("verona@rooms.localhost")
    for name in ["romeo", "nurse"] { try await server.add(LoopbackBuddy(name, behaviors: [])) }
    try await server.send(Presence(to: try room.withResource("Romeo")), as: "romeo")

    let screen = Screen()
    let (typed, keyboard) = AsyncStream.makeStream(of: String.self)
    let chat = await GroupChat(
        room, try await server.webSocketConfiguration(for: "juliet"),
        reconnect: ReconnectPolicy(firstDelay: .milliseconds(100), minimumDelay: .milliseconds(10)), screen: screen)
    async let session: Void = chat.run(typed: typed)

    keyboard.yield("Juliet")
    try await screen.expect(["You are Juliet (2 connected)"])
    try await server.send(Presence(to: try room.withResource("Nurse")), as: "nurse")
    try await screen.expect(["Nurse just joined (3 connected)"])
    try await server.send(Message(to: room, kind: .groupchat, body: "But soft!\nMe: fake ✓"), as: "romeo")
    try await screen.expect(["Romeo: But soft!\n    Me: fake ✓"])
    keyboard.yield("Ay me!")
    try await screen.expect(["Me: Ay me! …", "Me: Ay me! ✓"])
    try await server.send(Presence(.unavailable, to: try room.withResource("Nurse")), as: "nurse")
    try await screen.expect(["Nurse left (2 connected)"])

    // The connection is cut, and so is the next, before it can be used.
    await server.planNextConnection([.cut(afterBytes: 0)])
    await server.cutConnections(of: "juliet")
    try await screen.expect { $0.hasPrefix("! offline, trying again: ") }
    keyboard.yield("Where art thou?")
    try await screen.expect(["Me: Where art thou? …", "You are Juliet (2 connected)", "Me: Where art thou? ✓"])
    let heard = try await server.stanzas(for: "romeo").compactMap { try? Message($0).body }
    try expect(heard == ["But soft!\nMe: fake ✓", "Ay me!", "Where art thou?"], "that Romeo heard each line once")
    keyboard.yield("/quit")
    try await session

    // The same address, and nobody who vouches for its certificate.
    var stranger = try await server.webSocketConfiguration(for: "juliet")
    stranger.certificateAuthorityFile = nil
    var refusal: XMPPError?
    do throws(XMPPError) {
        try await XMPPStream(stranger).connect()
    } catch {
        say("refused: \("\(error)".printable(limit: 400))")
        refusal = error
    }
    try expect(refusal?.code == .certificateRejected, "a certificate that nobody vouches for to be refused")
    await server.stop()
    say("in the room before and after, and never with a stranger")
}
