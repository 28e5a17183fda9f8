// SPDX-License-Identifier: Apache-2.0

import XMPP

/// What one login took.
struct Login: CustomStringConvertible {
    var kind: String
    var roundTrips: Int
    var mechanism: String
    var channelBinding: String?
    /// How they are spread over the parts of the way.
    var phases: [LoginPhase]

    var description: String {
        let binding = channelBinding.map { ", bound to \($0)" } ?? ""
        let flights = phases.filter { $0.roundTrips > 0 }.map { "\($0.name.rawValue) \($0.roundTrips)" }
        return "\(roundTrips)  \(kind): \(mechanism)\(binding) (\(flights.joined(separator: ", ")))"
    }
}

/// Logs in to an account in the classic way and in that of today, each for the first time and then again.
///
/// - Returns: What each login took.
func logins(as account: XMPPConfiguration) async throws -> [Login] {
    var logins: [Login] = []

    // As RFC 6120 has it: TLS, login and session one after another.
    var classic = account
    classic.usesSASL2 = false
    classic.loginMemory = InMemoryLoginMemoryStore()
    logins.append(try await login("classic, at first", classic))
    logins.append(try await login("classic, to a known server", classic))

    // Where the server can do it, all in one exchange (XEP-0388, XEP-0386) …
    var modern = account
    modern.usesTokens = false
    modern.loginMemory = InMemoryLoginMemoryStore()
    logins.append(try await login("of today, at first", modern))
    logins.append(try await login("of today, to a known server", modern))

    // … and with a token in place of the password (XEP-0484), which the login before has brought.
    modern.usesTokens = true
    modern.loginMemory = InMemoryLoginMemoryStore()
    _ = try await login("for a token", modern)
    logins.append(try await login("of today, again", modern))
    return logins
}

private func login(_ kind: String, _ account: XMPPConfiguration) async throws -> Login {
    let stream = XMPPStream(account)
    try await stream.connect()
    let login = Login(
        kind: kind, roundTrips: await stream.loginRoundTrips ?? 0, mechanism: await stream.mechanism ?? "none",
        channelBinding: await stream.channelBinding, phases: await stream.loginPhases)
    await stream.disconnect()
    return login
}
