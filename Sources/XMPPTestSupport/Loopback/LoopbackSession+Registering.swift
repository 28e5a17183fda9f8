// SPDX-License-Identifier: Apache-2.0

internal import XMPP
internal import XMPPCore
internal import XMPPXML

/// Accounts that are made before a login (XEP-0077 §3.1.1, XEP-0445).
extension LoopbackSession {
    /// What is offered for it now.
    var registrationFeatures: [Element] {
        let options = router.options
        guard isSecure || options.registersInTheClear else { return [] }
        let offers = [
            (options.registration != nil, Namespace.registrationFeature),
            (options.takesInvitations, Namespace.invitedRegistration),
        ]
        return offers.filter(\.0).map { Element("register", namespace: $0.1) }
    }

    /// Takes a request that comes before a login; `false` when it is none that is taken here.
    func register(_ element: Element) -> Bool {
        guard !registrationFeatures.isEmpty, let iq = try? IQ(element), iq.kind.isRequest, iq.id != nil,
            let payload = iq.payload, iq.to == nil || iq.to == router.domain
        else { return false }
        var answer: IQ
        do throws(StanzaError) {
            switch (payload.name, iq.kind) {
            case (InvitationToken.elementName, .set):
                invitation = try present(payload)
                answer = iq.result()
            case (RegistrationForm.elementName, .get):
                guard let form = router.options.registration else { throw StanzaError.serviceUnavailable }
                answer = iq.result(form.element)
            case (RegistrationForm.elementName, .set):
                try makeAccount(payload)
                answer = iq.result()
            default: return false
            }
        } catch {
            answer = iq.failure(error)
        }
        answer.from = router.domain
        send(answer.element)
        return true
    }

    /// XEP-0445 §4: whether it is good is looked at here, and it is used up by the account alone.
    private func present(_ payload: Element) throws(StanzaError) -> String {
        guard router.options.takesInvitations else { throw .serviceUnavailable }
        guard let token = payload["token"], let known = router.invitations[token], known.mayRegister,
            known.expiry > router.wallClock()
        else {
            throw StanzaError(.itemNotFound, kind: .cancel, text: "The provided token is invalid or expired")
        }
        return token
    }

    private func makeAccount(_ query: Element) throws(StanzaError) {
        let options = router.options
        if let refusal = options.registrationRefusal { throw refusal }
        guard let form = options.registration else { throw .serviceUnavailable }
        let known = invitation.flatMap { router.invitations[$0] }
        if options.registersInvitedOnly, known == nil {
            throw StanzaError(.notAllowed, kind: .cancel, text: "Registration is through invitation only")
        }
        let answers = try Self.answers(query, to: form)
        for (name, right) in options.riddles where answers[name] != right {
            throw StanzaError(.notAllowed, kind: .cancel, text: "The CAPTCHA verification has failed")
        }
        guard let username = answers["username"], let password = answers["password"], !password.isEmpty,
            let jid = try? JID(localpart: username, domainpart: router.domain.domainpart), jid.localpart != nil
        else { throw StanzaError(.notAcceptable, kind: .modify) }
        if let reserved = known?.username, reserved != jid.localpart {
            throw StanzaError(.notAllowed, kind: .cancel, text: "The invitation is for another name")
        }
        guard router.account(jid) == nil else { throw StanzaError(.conflict, kind: .cancel) }
        guard let account = try? router.addAccount(jid.localpart ?? "", password: password) else {
            throw StanzaError(.notAcceptable, kind: .modify)
        }
        if let invitation { router.invitations[invitation] = nil }
        if let inviter = known?.inviter.flatMap({ router.account($0) }) { router.befriend(inviter, account) }
    }

    /// The answers by name; a required one may not be missing (XEP-0077 §3.1), and where a form was asked with, a form
    /// answers.
    private static func answers(_ query: Element, to form: RegistrationForm) throws(StanzaError) -> [String: String] {
        var answers: [String: String] = [:]
        if form.form != nil {
            guard let filled = query.children.lazy.compactMap(DataForm.init).first, filled.kind == .submit,
                query.children.count == 1
            else { throw .badRequest }
            for field in filled.fields { if let name = field.name { answers[name] = field.values.first } }
        } else {
            for child in query.children where child.namespace == RegistrationForm.namespace {
                answers[child.localName] = child.text
            }
        }
        for field in form.questions.fields where field.isRequired {
            guard let name = field.name, answers[name]?.isEmpty == false else {
                throw StanzaError(.notAcceptable, kind: .modify)
            }
        }
        return answers
    }
}
