// SPDX-License-Identifier: Apache-2.0

internal import XMPP
internal import XMPPCore
internal import XMPPCrypto
internal import XMPPXML

/// What an account asks its server about itself: its password (XEP-0077 §3.3), its end (§3.2), its clients (XEP-0494),
/// and invitations (XEP-0401).
extension LoopbackRouter {
    /// The answer; `nil` for requests about something else.
    func answerAboutAccount(_ iq: IQ, to: JID, from sender: any LoopbackEndpoint) -> Result<Element?, StanzaError>? {
        guard let payload = iq.payload, let account = account(sender.jid), to == domain || to == account.jid else {
            return nil
        }
        do throws(StanzaError) {
            switch (payload.name, iq.kind) {
            case (RegistrationForm.elementName, _):
                guard options.registration != nil else { return nil }
                return .success(try answerRegistration(payload, iq.kind, account))
            case (ElementName("list", namespace: AccountClients.namespace), .get):
                guard options.managesClients else { return nil }
                return .success(AccountClients(account.clients).element)
            case (ElementName("revoke", namespace: AccountClients.namespace), .set):
                guard options.managesClients else { return nil }
                try revoke(payload["id"], of: account)
                return .success(nil)
            case (AdHocCommand.elementName, .set) where to == domain:
                guard options.makesInvitations, let step = AdHocCommand(payload) else { return nil }
                return .success(try invite(step, account).element)
            default: return nil
            }
        } catch {
            return .failure(error)
        }
    }

    private func answerRegistration(
        _ query: Element, _ kind: IQ.Kind, _ account: LoopbackAccount
    ) throws(StanzaError) -> Element? {
        if kind == .get {
            var form = RegistrationForm()
            form.isRegistered = true
            form.oldFields = [.init("username", account.jid.localpart ?? ""), .init("password")]
            return form.element
        }
        if let refusal = options.registrationRefusal { throw refusal }
        if query.firstChild("remove", namespace: RegistrationForm.namespace) != nil {
            guard query.children.count == 1 else { throw .badRequest }
            // Once it is answered: XEP-0077 §3.2 has the stream end with `not-authorized`.
            leaving.insert(account.jid)
            return nil
        }
        guard let name = query.firstChild("username", namespace: RegistrationForm.namespace)?.text,
            let password = query.firstChild("password", namespace: RegistrationForm.namespace)?.text,
            name == account.jid.localpart, !password.isEmpty
        else { throw .badRequest }
        account.change(password: password)
        return nil
    }

    /// Those who have asked for it are gone.
    func removeLeaving() {
        for jid in leaving {
            guard let account = account(jid) else { continue }
            for contact in account.roster.items.keys { removeContact(contact, of: account) }
            for endpoint in account.endpoints.values { endpoint.end(StreamError(.notAuthorized)) }
            removeAccount(jid)
        }
        leaving = []
    }

    private func revoke(_ id: String?, of account: LoopbackAccount) throws(StanzaError) {
        guard let place = account.clients.firstIndex(where: { $0.id == id }) else {
            throw StanzaError(.itemNotFound, kind: .cancel)
        }
        guard !account.clients[place].authentication.contains("password") else {
            throw StanzaError(
                .serviceUnavailable, kind: .cancel,
                applicationCondition: Element("password-reset-required", namespace: AccountClients.namespace))
        }
        account.clients.remove(at: place)
    }

    private func invite(_ step: AdHocCommand, _ account: LoopbackAccount) throws(StanzaError) -> AdHocCommand {
        var invitation = LoopbackInvitation(
            expiry: DateTime(millisecondsSinceEpoch: wallClock().millisecondsSinceEpoch + 7 * 86_400_000))
        switch step.node {
        case "urn:xmpp:invite#invite":
            invitation.inviter = account.jid
            invitation.mayRegister = options.takesInvitations
        case "urn:xmpp:invite#create-account":
            guard step.form?.kind == .submit else {
                let form = DataForm(
                    .form, fields: [.init("username"), .init("roster-subscription", .boolean)])
                return AdHocCommand(
                    step.node, sessionID: "s", status: .executing, actions: [.complete], defaultAction: .complete,
                    form: form)
            }
            invitation.username = step.form?["username"]?.values.first
        default:
            throw StanzaError(.itemNotFound, kind: .cancel)
        }
        let token = SecureRandom().identifier()
        guard let uri = invitation.uri(token, domain: domain) else { throw StanzaError(.notAcceptable, kind: .modify) }
        invitations[token] = invitation
        let result = DataForm(
            .result,
            fields: [
                .init("FORM_TYPE", .hidden, values: ["urn:xmpp:invite#invitation"]),
                .init("uri", values: [uri.description]),
                .init("landing-url", values: ["https://\(domain)/invite/#\(token)"]),
                .init("expire", values: [invitation.expiry.description]),
            ])
        return AdHocCommand(step.node, sessionID: "s", status: .completed, form: result)
    }

    /// Whether a request for a subscription proves an invitation of this server; it is used up then (XEP-0379 §6.2).
    func redeems(_ request: Presence, invitationOf account: LoopbackAccount) -> Bool {
        guard let token = request.invitationToken?.text, let known = invitations[token], known.inviter == account.jid,
            known.expiry > wallClock()
        else { return false }
        invitations[token] = nil
        return true
    }
}
