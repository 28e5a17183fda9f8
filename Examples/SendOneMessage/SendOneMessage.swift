// SPDX-License-Identifier: Apache-2.0

import XMPP

/// Sends one message, and returns when the server has taken it over.
func sendOneMessage(_ text: String, to recipient: JID, as account: XMPPConfiguration) async throws {
    let stream = XMPPStream(account)
    try await stream.connect()
    try await stream.send(Message(to: recipient, body: text))
    try await stream.waitUntilHandled()
    await stream.disconnect()
}
