// SPDX-License-Identifier: Apache-2.0

import XMPP

/// Keeps a bot online until `end` returns.
///
/// - Throws: ``XMPPError`` when something happens that trying again cannot mend, and whatever `end` throws.
func keepOnline(
    _ client: XMPPClient, _ bot: EchoBot, until end: @escaping @Sendable () async throws -> Void
) async throws {
    // Delegates are held weakly: `bot` lives as long as this call does.
    client.add(chatDelegate: bot)
    client.add(messageDelegate: bot)
    try await withThrowingTaskGroup(of: Void.self) { group in
        // Connects again and again; cancelled, it ends the session properly before it returns.
        group.addTask { try await client.run() }
        group.addTask { try await end() }
        try await group.next()
        group.cancelAll()
        try await group.next()
    }
}
