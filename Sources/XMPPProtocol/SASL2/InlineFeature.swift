// SPDX-License-Identifier: Apache-2.0

package import XMPPCore
package import XMPPXML

/// Something that can be switched on together with the binding of a resource (XEP-0386 §3.2).
package struct InlineFeature: Sendable, Hashable {
    /// Its name in service discovery, under which a server offers it.
    package var name: String
    /// What asks for it.
    package var request: Element

    /// Makes one.
    package init(name: String, request: Element) {
        self.name = name
        self.request = request
    }
}

/// A session that was bound together with the authentication; the features of the stream are still to come.
package struct InlineSession: Sendable, Equatable {
    /// The full address.
    package let jid: JID
    /// What the server says about Stream Management: `<enabled/>` or `<failed/>`; `nil` when it says nothing.
    package let management: Element?
    /// What was switched on.
    package let features: Set<String>
}
