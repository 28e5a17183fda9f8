// SPDX-License-Identifier: Apache-2.0

import ExampleSupport
import XMPP
import XMPPTestSupport

/// Counts on a server of our own, and on a real one of today where there is one, over STARTTLS and over direct TLS.
func demonstrate() async throws {
    let server = try await LoopbackServer.start(accounts: ["juliet": "secret"], options: .modern)
    try await count(at: "a server in this process") { usesDirectTLS in
        try await server.configuration(for: "juliet", directTLS: usesDirectTLS)
    }
    await server.stop()
    if ServerKind.prosody13.isInstalled {
        let prosody = try await ServerKind.prosody13.start(accounts: ["juliet": "secret"])
        try await count(at: "Prosody 13") { usesDirectTLS in
            try prosody.configuration(for: "juliet", directTLS: usesDirectTLS)
        }
        await prosody.stop()
    } else {
        say("Prosody 13 is not there: Scripts/newer-servers puts it into a folder")
    }
    say("two round trips where everybody is known")
}

/// Logs in by both ways, and compares with what each login may cost.
private func count(
    at place: String, _ account: (_ usesDirectTLS: Bool) async throws -> XMPPConfiguration
) async throws {
    for usesDirectTLS in [false, true] {
        say("\(place), \(usesDirectTLS ? "direct TLS" : "STARTTLS"):")
        let logins = try await logins(as: try await account(usesDirectTLS))
        for login in logins { say("  \(login)") }
        let expected = usesDirectTLS ? [6, 4, 4, 3, 2] : [8, 5, 6, 4, 3]
        try expect(logins.map(\.roundTrips) == expected, "\(expected) round trips")
    }
}
