// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import XMPP

/// `account invite`, and what becomes of invitations.
enum InvitationMethods {
    /// `account invite`: lets the server make an invitation (XEP-0401), or makes one that this side keeps (XEP-0379).
    static func invite(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        let username = try call.parameters.string("username")
        let isForAccount = try call.parameters.flag("newAccount") || username != nil
        let invitee = try call.parameters.jid("for")?.bare
        let lifetime = try call.parameters.seconds("expire")
        let session = try await call.session
        let stream = try await session.established()
        if isForAccount {
            guard invitee == nil, lifetime == nil else {
                throw ControlError(.badParameters, "\"for\" and \"expire\" are for invitations of contacts")
            }
            let link = try await session.step { () throws(XMPPError) in
                try await stream.createAccountInvitation(username: username)
            }
            return document(link, by: "server", session)
        }
        // The server knows no such wishes (XEP-0401 §4.1).
        if invitee == nil, lifetime == nil, let link = try await ask(stream, session) {
            return document(link, by: "server", session)
        }
        return document(try await issue(to: invitee, for: lifetime, session), by: "client", session)
    }

    /// - Returns: `nil` where the server makes none (XEP-0401 §5.1).
    private static func ask(
        _ stream: XMPPStream, _ session: AccountSession
    ) async throws(ControlError) -> InvitationLink? {
        do throws(XMPPError) {
            return try await stream.createInvitation()
        } catch {
            let conditions: [StanzaError.Condition] = [
                .itemNotFound, .serviceUnavailable, .featureNotImplemented, .forbidden, .notAllowed,
            ]
            guard let condition = error.stanzaError?.condition, conditions.contains(condition) else {
                throw ControlError(error, account: session.name)
            }
            return nil
        }
    }

    private static func issue(
        to invitee: JID?, for lifetime: Duration?, _ session: AccountSession
    ) async throws(ControlError) -> InvitationLink {
        guard let invitations = session.invitations else {
            throw ControlError(
                .configuration, "invitations are kept with an account of the settings; see: jabberctl help account add",
                account: session.name)
        }
        if let lifetime, lifetime > InvitationLedger.maximumLifetime {
            throw ControlError(.badParameters, "\"expire\" must be 366 days at most")
        }
        let made = try await invitations.change {
            $0.issue(at: .now, for: lifetime ?? InvitationLedger.usualLifetime, to: invitee)
        }
        guard let made else {
            throw ControlError(
                .temporary, "\(InvitationLedger.maximumOpen) invitations are open", account: session.name)
        }
        let uri = XMPPURI(session.jid, .roster, [.init("preauth", made.token.text)])
        return InvitationLink(uri, expiry: made.expiry)
    }

    private static func document(_ link: InvitationLink, by maker: String, _ session: AccountSession) -> JSONObject {
        var result = session.heading
        result["uri"] = .string(link.uri.description)
        if let page = link.page { result["page"] = .string(page) }
        if let expiry = link.expiry { result["expires"] = .string(expiry.description) }
        result["by"] = .string(maker)
        return result
    }

    /// `sub request` with an invitation: takes it (XEP-0379 §3.3).
    static func accept(
        _ text: String, _ session: AccountSession, _ stream: XMPPStream
    ) async throws(ControlError) -> JID {
        guard let uri = XMPPURI(text), case .contact(let jid, let name, let token, _)? = Invitation(uri) else {
            throw ControlError(
                .badData, "the address invites no contact; one looks like xmpp:romeo@example.org?roster;preauth=…")
        }
        let isRemembered = try await session.step { () throws(XMPPError) in
            try await stream.acceptInvitation(of: jid, name: name, token: token)
        }
        if !isRemembered, let invitations = session.invitations {
            try await invitations.change { $0.expect(jid, at: .now) }
        }
        return jid
    }
}
