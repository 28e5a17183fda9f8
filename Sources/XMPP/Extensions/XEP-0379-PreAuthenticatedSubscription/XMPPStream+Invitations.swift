// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
internal import XMPPXML

extension Presence {
    /// What a request for a subscription proves an invitation with (XEP-0379 §3.3); `nil` where there is nothing, or
    /// nothing that can be a token.
    public var invitationToken: InvitationToken? {
        element.firstChild(InvitationToken.elementName.localName, namespace: InvitationToken.namespace)
            .flatMap { InvitationToken($0) }
    }
}

extension XMPPStream {
    /// Takes the invitation of somebody: they become a contact, are asked for their presence, and may see the user's
    /// where the server can remember that (XEP-0379 §3.3). They may approve later, or never (§4.2).
    ///
    /// - Parameters:
    ///   - inviter: Who invites.
    ///   - name: What to call them; `nil` leaves a contact's name as it is.
    ///   - token: What makes them approve at once.
    /// - Returns: Whether the server has been told to approve their own request. Otherwise it is to be approved when it
    ///   comes: see ``InvitationLedger/expect(_:at:for:)``.
    /// - Throws: ``XMPPError`` as ``request(_:timeout:)``.
    @discardableResult
    public func acceptInvitation(
        of inviter: JID, name: String? = nil, token: InvitationToken?
    ) async throws(XMPPError) -> Bool {
        if let name { try await setRosterItem(inviter, name: name, groups: contact(inviter.bare)?.groups ?? []) }
        let approves = features?.offersPreApproval == true
        // First, so that it holds when the other side's request comes.
        if approves { try await approveSubscription(of: inviter) }
        try await requestSubscription(to: inviter, invitation: token)
        return approves
    }

    /// Approves the request of somebody who was invited, takes them as a contact without a name that they could have
    /// chosen, and asks for their presence (XEP-0379 §3.4, §6.4).
    ///
    /// - Throws: ``XMPPError`` as ``request(_:timeout:)``.
    public func welcome(_ jid: JID) async throws(XMPPError) {
        try await approveSubscription(of: jid)
        guard contact(jid.bare)?.subscription.includesTo != true else { return }
        if contact(jid.bare) == nil { try await setRosterItem(jid, name: nil) }
        try await requestSubscription(to: jid)
    }
}
