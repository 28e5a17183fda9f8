// SPDX-License-Identifier: Apache-2.0

import ExampleSupport
import XMPP
import XMPPTestSupport

/// Sends Romeo a message on a server of our own, and looks whether it came.
func demonstrate() async throws {
    let server = try await LoopbackServer.start(accounts: ["juliet": "secret"])
    try await server.add(LoopbackBuddy("romeo"))

    let text = "Wherefore art thou?"
    try await sendOneMessage(text, to: try JID("romeo@localhost"), as: try await server.configuration(for: "juliet"))

    let bodies = try await server.stanzas(for: "romeo").compactMap { try? Message($0).body }
    try expect(bodies == [text], "Romeo has the message, once")
    say("Romeo got: \(text)")
    await server.stop()
}
