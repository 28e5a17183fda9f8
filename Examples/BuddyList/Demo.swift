// SPDX-License-Identifier: Apache-2.0

import ExampleSupport
import XMPP
import XMPPTestSupport

/// Plays a user on a server of our own: two buddies are there, one of them is talked to and leaves.
func demonstrate() async throws {
    let server = try await LoopbackServer.start(accounts: ["romeo": "secret"])
    try await server.add(
        LoopbackBuddy(
            "juliet", name: "Juliet", presence: Presence(show: .away, status: "on the \u{1B}[31mbalcony"),
            behaviors: [.echoes, .leavesWhenTold("good night")]))
    try await server.add(LoopbackBuddy("nurse", name: "Nurse"))

    let screen = Screen()
    let (typed, keyboard) = AsyncStream.makeStream(of: String.self)
    let app = await AppDelegate(try await server.configuration(for: "romeo"), screen: screen)
    async let session: Void = app.run(typed: typed)

    /// Types a line, if any, and reads the screen until all of these lines have been there, in any order.
    func type(_ line: String? = nil, expecting expected: String...) async throws {
        if let line { keyboard.yield(line) }
        try await screen.expect(expected)
    }
    try await type(expecting: "+ Juliet  away  “on the \u{FFFD}[31mbalcony”", "+ Nurse  online")
    try await type("/list", expecting: "1  Juliet  away  “on the \u{FFFD}[31mbalcony”", "2  Nurse  online")
    try await type("1", expecting: "Chat with Juliet, juliet@localhost; /close ends it.")
    try await type("Good even", expecting: "you: Good even", "Juliet: Good even")
    try await type("good night", expecting: "you: good night", "- Juliet")
    try await type("/list", expecting: "1  Nurse  online")
    keyboard.yield("/quit")
    try await session
    await server.stop()
}
