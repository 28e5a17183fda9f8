// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import XMPP

/// `account register`: an account that is made in band (XEP-0077), with an invitation where there is one (XEP-0445).
///
/// Without `submit` the server is asked what it wants to know, and the connection stays open under the name
/// `registration`, so that the answers belong to the questions.
enum RegisterMethod {
    static func run(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        let desk = call.daemon.registrations
        let known = try call.parameters.string("registration")
        if let known, await desk.find(known) == nil {
            throw ControlError(.notFound, "there is no registration \"\(known)\" any more; begin anew")
        }
        let id = if let known { known } else { try await begin(call) }
        guard try call.parameters.flag("submit") else { return try await ask(id, call.daemon) }
        let jid: JID
        do throws(ControlError) {
            jid = try await submit(id, call)
        } catch {
            // Who was not told the name cannot try again.
            if known == nil { await desk.end(id) }
            throw error
        }
        await desk.end(id)
        return ["api": 1, "status": "registered", "domain": .string(jid.domainpart), "jid": .string(jid.description)]
    }

    /// Where an account is wanted, and how.
    private struct Target {
        let domain: JID
        let username: String?
        let token: InvitationToken?
    }

    private static func target(_ text: String) throws(ControlError) -> Target {
        guard text.lowercased().hasPrefix("xmpp:") else {
            let jid = try Parameters.jid(text)
            return Target(domain: jid.domain, username: jid.localpart, token: nil)
        }
        guard let uri = XMPPURI(text), let invitation = Invitation(uri) else {
            throw ControlError(
                .badData, "the address invites to nothing; one looks like xmpp:example.org?register;preauth=…")
        }
        guard !Invitation.hasOddToken(uri) else {
            throw ControlError(.badData, "the token of the invitation cannot be one; was the address cut off?")
        }
        switch invitation {
        case .account(let domain, let username, let token):
            return Target(domain: domain, username: username, token: token)
        case .contact(let jid, _, let token, mayRegister: true):
            return Target(domain: jid.domain, username: nil, token: token)
        case .contact(let jid, _, _, mayRegister: false):
            throw ControlError(
                .badData, "\(jid) invites contacts, and not to an account; see: jabberctl help sub request")
        }
    }

    private static func begin(_ call: MethodCall) async throws(ControlError) -> String {
        let target = try target(try call.parameters.required("target"))
        var account = AccountConfiguration(name: target.domain.domainpart, jid: target.domain.description)
        call.selection.override(&account)
        var configuration = try SessionSettings(account).configuration
        let progress = LoginProgress()
        progress.begin()
        configuration.observer = StreamObserver(milestone: { progress.reached($0) })
        call.delay.follow { progress.delay(at: target.domain.domainpart) }
        let registration: AccountRegistration
        do throws(XMPPError) {
            registration = try await AccountRegistration.begin(configuration, invitation: target.token)
        } catch {
            throw refusal(error, isInvited: target.token != nil)
        }
        do throws(XMPPError) {
            let form = try await registration.form()
            return await call.daemon.registrations.add(
                .init(registration: registration, form: form, username: target.username))
        } catch {
            await registration.end()
            throw ControlError(registering: error)
        }
    }

    /// Why there is no registration to begin. What a server answers to a token is about the token (XEP-0445 §4).
    private static func refusal(_ error: XMPPError, isInvited: Bool) -> ControlError {
        guard isInvited, let stanzaError = error.stanzaError, stanzaError != .serviceUnavailable else {
            return ControlError(registering: error)
        }
        var refusal = ControlError(error)
        refusal.code = .notFound
        refusal.exit = refusal.code.exit
        refusal.message =
            "the server does not know the invitation, or it is used up or too old"
            + (stanzaError.text.map { " (\($0))" } ?? "")
        return refusal
    }

    /// Shows what the server asks.
    private static func ask(_ id: String, _ daemon: Daemon) async throws(ControlError) -> JSONObject {
        let desk = daemon.registrations
        guard let open = await desk.find(id) else { throw ControlError(.notFound, "the registration is over") }
        let form = open.form
        do throws(ControlError) {
            try requireQuestions(form, open.registration.domain)
        } catch {
            await desk.end(id)
            throw error
        }
        var result: JSONObject = [
            "api": 1, "status": "asking", "domain": .string(open.registration.domain.description),
            "registration": .string(id),
        ]
        var document = FormDocument.form(form.questions)
        let folder = "\(daemon.environment.paths.state)/registrations"
        let files = await desk.lay(out: form, id, in: folder)
        if let fields = document["fields"]?.arrayValue {
            document["fields"] = .array(withMedia(fields, form, files))
        }
        result["form"] = .object(document)
        if let username = open.username { result["username"] = .string(username) }
        if let text = form.instructions { result["instructions"] = .string(text) }
        if let page = form.page?.url { result["page"] = .string(page) }
        return result
    }

    /// There is something to answer here, and not elsewhere (XEP-0077 §4).
    private static func requireQuestions(_ form: RegistrationForm, _ domain: JID) throws(ControlError) {
        if form.isElsewhere {
            let place = form.page.map { ": \($0.url)" } ?? ""
            let words = form.instructions.map { " It says: \($0)" } ?? ""
            throw ControlError(
                .refused, "\(domain) makes accounts elsewhere\(place)\(place.isEmpty ? "." : "")\(words)")
        }
        guard !form.questions.fields.isEmpty else {
            throw ControlError(
                .protocolFailure,
                "\(domain) asks for nothing that can be answered here"
                    + (form.hasUnreadableForm ? ": its form cannot be read" : ""))
        }
    }

    /// The fields, with what is to be looked at first.
    private static func withMedia(
        _ fields: [JSONValue], _ form: RegistrationForm, _ files: [String: String]
    ) -> [JSONValue] {
        fields.map { field in
            guard var object = field.objectValue, let name = object.string("name"),
                let media = form.questions[name]?.media
            else { return field }
            object["media"] = .array(
                media.places.map { place in
                    let file = form.data(of: FieldMedia([place])).flatMap { files[$0.id] }
                    return .object(
                        JSONObject(present: [
                            "uri": .string(place.uri), "type": .string(place.type), "file": file.map(JSONValue.string),
                            "problem": file == nil ? problem(place, form).map(JSONValue.string) : nil,
                        ]))
                })
            return .object(object)
        }
    }

    /// Why there is no file of something that ought to have come along with the questions.
    private static func problem(_ place: FieldMedia.Place, _ form: RegistrationForm) -> String? {
        guard place.uri.hasPrefix("cid:") else { return nil }
        let id = String(place.uri.dropFirst(4))
        if form.enclosed.contains(where: { $0.id == id }) { return "it cannot be written to a file" }
        guard form.leftOut.contains(id) else { return "it did not come along" }
        return "it has more than \(EnclosedData.maximumBytes / 1_024) KiB, or cannot be read"
    }

    private static func submit(_ id: String, _ call: MethodCall) async throws(ControlError) -> JID {
        let desk = call.daemon.registrations
        guard let open = await desk.find(id) else { throw ControlError(.notFound, "the registration is over") }
        try requireQuestions(open.form, open.registration.domain)
        var answers = try FormDocument.answers("field", in: call.parameters)
        let questions = open.form.questions
        if let username = open.username, questions["username"] != nil { answers["username"] = [username] }
        if let password = try call.parameters.string("password"), questions["password"] != nil {
            answers["password"] = [password]
        }
        let submission: Element
        do throws(DataFormError) {
            submission = try open.form.submission(answers)
        } catch {
            throw ControlError(.badData, "\(error)")
        }
        let username = answers["username"]?.first ?? questions["username"]?.values.first ?? open.username
        guard let username, let jid = try? JID(localpart: username, domainpart: open.registration.domain.domainpart)
        else {
            throw ControlError(.badJID, "\"\(username ?? "")\" cannot be the name of an account")
        }
        do throws(XMPPError) {
            try await open.registration.submit(submission)
            return jid
        } catch {
            // A riddle is good for one answer; what is asked next is there for the next try.
            if let form = try? await open.registration.form() { await desk.ask(form, id) }
            throw ControlError(registering: error, name: username)
        }
    }
}

extension ControlError {
    /// Why an account was not made, as a sentence that says what to do.
    ///
    /// - Parameter name: The name that was asked for.
    init(registering error: XMPPError, name: String? = nil) {
        self.init(error)
        guard let refusal = error.stanzaError else { return }
        let reason = refusal.text.map { " (\($0))" } ?? ""
        switch refusal.condition {
        case .conflict:
            message = "the name \"\(name ?? "")\" is taken; choose another\(reason)"
        case .notAcceptable, .badRequest:
            code = .badData
            message = "the server does not take these answers\(reason)"
        case .resourceConstraint, .policyViolation:
            code = .temporary
            message = "the server makes no more accounts just now; try again later\(reason)"
        case .notAllowed, .forbidden, .notAuthorized:
            message = "the server makes no account of this\(reason)"
        default:
            if refusal.kind == .wait { code = .temporary }
        }
        exit = code.exit
        retry = code.row.retry
    }
}
