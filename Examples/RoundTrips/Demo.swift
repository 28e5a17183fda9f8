// SPDX-License-Identifier: Apache-2.0

import ExampleSupport
import XMPP
import XMPPTestSupport

/// Counts on a server of our own, over STARTTLS and over direct TLS.
func demonstrate() async throws {
    let server = try await LoopbackServer.start(accounts: ["juliet": "secret"], options: .modern)
    for usesDirectTLS in [false, true] {
        say(usesDirectTLS ? "direct TLS:" : "STARTTLS:")
        let account = try await server.configuration(for: "juliet", directTLS: usesDirectTLS)
        let logins = try await logins(as: account)
        for login in logins { say("  \(login)") }
        let expected = usesDirectTLS ? [6, 4, 4, 3, 2] : [8, 5, 6, 4, 3]
        try expect(logins.map(\.roundTrips) == expected, "\(expected) round trips")
    }
    say("two round trips where everybody is known")
    await server.stop()
}
