// SPDX-License-Identifier: Apache-2.0

import XMPP

extension XMPPStream {
    /// The contact's best resource; waits until the contact comes online.
    ///
    /// - Parameter contact: The contact. A full address is taken as it is.
    func onlineResource(of contact: JID) async throws -> JID {
        guard contact.isBare else { return contact }
        // Subscribed before looking, so that nobody slips in between.
        let events = events
        if let resource = buddy(contact).best { return resource.jid }
        for try await case .buddyCameOnline(let buddy) in events where buddy.jid == contact {
            if let resource = buddy.best { return resource.jid }
        }
        throw XMPPError(.notConnected, "The stream ended before \(contact) came online.")
    }
}
