// SPDX-License-Identifier: Apache-2.0

import XMPP
import XMPPCore

/// Makes an account with these answers to what the server asks, as somebody who has none.
func register(
    with visitor: XMPPConfiguration, _ answers: [String: [String]], invitation: InvitationToken? = nil
) async throws {
    let registration = try await AccountRegistration.begin(visitor, invitation: invitation)
    do {
        try await registration.submit(try await registration.form().submission(answers))
    } catch {
        await registration.end()
        throw error
    }
    await registration.end()
}

/// The condition of the stanza error that a body ends with; `nil` where it ends well, or with something else.
func refusal(_ body: () async throws -> Void) async -> StanzaError.Condition? {
    do {
        try await body()
        return nil
    } catch {
        return (error as? XMPPError)?.stanzaError?.condition
    }
}
