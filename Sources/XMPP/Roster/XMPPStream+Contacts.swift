// SPDX-License-Identifier: Apache-2.0

package import XMPPCore

extension XMPPStream {
    /// The roster as every push so far has left it; `nil` before it was asked for. In no order.
    package var contacts: [RosterItem]? { tracker.items }

    /// One contact of the roster; `nil` when there is none with this address.
    package func contact(_ jid: JID) -> RosterItem? { tracker.contact(jid) }
}
