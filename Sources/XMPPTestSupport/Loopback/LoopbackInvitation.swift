// SPDX-License-Identifier: Apache-2.0

internal import XMPP
internal import XMPPCore

/// An invitation that a ``LoopbackServer`` has made (XEP-0401, XEP-0445), good for one person.
struct LoopbackInvitation {
    /// Who invites; `nil` for the server itself.
    var inviter: JID?
    /// The name of the account, where that is decided.
    var username: String?
    /// Whether an account can be made with it.
    var mayRegister = true
    /// Until when it is good.
    var expiry: DateTime

    /// The address that somebody opens.
    func uri(_ token: String, domain: JID) -> XMPPURI? {
        if let inviter {
            let permission = mayRegister ? [XMPPURI.Parameter("ibr", "y")] : []
            return XMPPURI(inviter, .roster, [.init("preauth", token)] + permission)
        }
        guard let jid = try? JID(localpart: username, domainpart: domain.domainpart) else { return nil }
        return XMPPURI(jid, .register, [.init("preauth", token)])
    }
}
