// SPDX-License-Identifier: Apache-2.0

package import XMPPCore
package import XMPPXML

/// A `<success/>` of XEP-0388: who is logged in, and what became of the wishes that went along.
package struct SASL2Success: Sendable, Equatable {
    /// Why a success says nothing.
    enum Flaw: Error {
        /// It does not say who is logged in, or with something that is no address.
        case noIdentity
    }

    /// Who is logged in: a bare address, or the full one of the session.
    package let address: JID
    /// The answer to `<resume/>`: the session goes on.
    package let resumed: Element?
    /// The answer to `<resume/>`: the session is gone.
    package let failed: Element?
    /// The answer to `<bind/>`.
    package let bound: Element?
    /// A token in exchange for this login (XEP-0484 §3.3).
    package let token: Element?

    /// Reads a success.
    ///
    /// - Throws: ``Flaw``: XEP-0388 §2.6.1 requires the identity.
    init(_ element: Element) throws(Flaw) {
        let identity = element.firstChild("authorization-identifier", namespace: Namespace.sasl2)
        guard let text = identity?.text.trimmedOfXMLWhitespace, let address = try? JID(text) else {
            throw .noIdentity
        }
        self.address = address
        resumed = element.firstChild("resumed", namespace: Namespace.streamManagement)
        failed = element.firstChild("failed", namespace: Namespace.streamManagement)
        bound = element.firstChild("bound", namespace: Namespace.bind2)
        token = element.firstChild("token", namespace: Namespace.fast)
    }
}
