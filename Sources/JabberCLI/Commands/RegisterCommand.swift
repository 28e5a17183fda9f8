// SPDX-License-Identifier: Apache-2.0

internal import JabberControl

/// `account register`: asks what a server wants to know, of the person at the terminal as far as the options do not say
/// it, and stores the account that it makes.
enum RegisterCommand {
    /// How often a person may answer again what the server did not take; 5.
    private static let maximumTries = 5

    static func run(_ context: CommandContext, _ command: CommandSpec) async throws(ControlError) -> ExitCode {
        if try context.showRequest(command.method, context.parameters(of: command)) { return .done }
        let lines = context.line.options["field"] ?? []
        try RegistrationAnswers.refuseSecrets(lines)
        var accounts = try AccountCommands(context, mayBeNew: true)
        if let name = context.line.value("name") { try accounts.requireNew(name) }
        let (target, book) = (context.line.arguments[0], accounts)
        let (result, password) = try await DaemonSession.run(context, limit: context.limit) {
            session throws(ControlError) in
            var conversation = Conversation(session: session, accounts: book, answers: RegistrationAnswers(lines))
            return try await conversation.run(target)
        }
        var account = AccountConfiguration(
            name: context.line.value("name") ?? result.string("jid") ?? "", jid: result.string("jid") ?? "")
        guard !account.jid.isEmpty else { throw ControlError(.internalError, "the daemon's answer has no address") }
        accounts.takeWay(&account)
        account.password = password
        try accounts.save(new: account)
        var shown = result
        shown["name"] = .string(account.name)
        shown["passwordSource"] = account.publicJSON["passwordSource"]
        try context.output.show(
            shown,
            Records(
                rows: [shown], [Column("STATUS", "status"), Column("JID", "jid"), Column("NAME", "name")]))
        if context.options.form == .human { context.output.note(fate(of: password, context, account)) }
        return .done
    }

    /// What became of the password, for people.
    private static func fate(
        of password: String?, _ context: CommandContext, _ account: AccountConfiguration
    ) -> String {
        guard password != nil else {
            return "the server asked for no password, and none is stored; where you have one: "
                + "jabberctl account passwd \(account.name)"
        }
        let made = context.line.has("generate") ? "a password was made up, and" : "the password"
        return "\(made) is stored with the account; jabberctl config path says where"
    }

    /// One registration, from the first question to the account.
    private struct Conversation {
        let session: DaemonSession
        let accounts: AccountCommands
        var answers: RegistrationAnswers
        var password: String?
        var mayAsk: Bool { session.context.options.mayAsk }
        private var environment: CLIEnvironment { session.context.environment }

        init(session: DaemonSession, accounts: AccountCommands, answers: RegistrationAnswers) {
            self.session = session
            self.accounts = accounts
            self.answers = answers
        }

        mutating func run(_ target: String) async throws(ControlError) -> (JSONObject, password: String?) {
            var result = try await ask(["target": .string(target)])
            for attempt in 1... {
                try answer(result, isAgain: attempt > 1)
                var params: JSONObject = [
                    "target": .string(target), "submit": true, "field": .strings(answers.lines),
                    "registration": result["registration"] ?? .null,
                ]
                if let password { params["password"] = .string(password) }
                do throws(ControlError) {
                    let done = try CommandContext.object(try await session.call("account.register", params))
                    guard done.string("status") == "registered" else { throw Self.strange(done) }
                    return (done, password)
                } catch {
                    guard error.stanza != nil, mayAsk, attempt < RegisterCommand.maximumTries,
                        answers.forget(after: error)
                    else { throw error }
                    session.context.output.report(error)
                    result = try await ask(["target": .string(target), "registration": result["registration"] ?? .null])
                }
            }
            throw ControlError(.internalError, "the registration has no end")
        }

        private func ask(_ params: JSONObject) async throws(ControlError) -> JSONObject {
            let result = try CommandContext.object(try await session.call("account.register", params))
            guard result.string("status") == "asking" else { throw Self.strange(result) }
            return result
        }

        private static func strange(_ result: JSONObject) -> ControlError {
            ControlError(
                .internalError, "the daemon's answer has the status \"\(result.string("status") ?? "")\"")
        }

        /// Has an answer to everything that has to be answered.
        private mutating func answer(_ result: JSONObject, isAgain: Bool) throws(ControlError) {
            let username = result.string("username")
            let fields = RegistrationQuestion.all(in: result, username: username)
            // Each riddle is good for one answer, whatever else was wrong.
            if isAgain { for field in fields where field.isRiddle { answers[field.name] = nil } }
            for field in fields {
                guard let problem = field.problem else { continue }
                session.context.output.note(
                    "warning: what is to be looked at for \"\(field.name)\" cannot be shown: \(problem)")
            }
            var missing = fields.filter { $0.isAsked && answers[$0.name] == nil }
            if !missing.isEmpty, mayAsk {
                show(result)
                for field in missing {
                    let given = try session.unhurried { () throws(ControlError) in try environment.ask(field.prompt) }
                    if let given { answers[field.name] = given }
                }
                missing = missing.filter { $0.isRequired && answers[$0.name] == nil }
            }
            if let first = missing.first(where: \.isRequired) {
                for field in missing { session.context.output.note("missing: \(field.description)") }
                throw ControlError(
                    .badData, "the server wants to know more; answer with --field \(first.name)=VALUE")
            }
            let domain = result.string("domain") ?? ""
            let jid = (username ?? answers["username"]).map { "\($0)@\(domain)" } ?? domain
            if session.context.line.value("name") == nil { try accounts.requireNew(try ShallowAddress(jid).bare) }
            guard password == nil, RegistrationQuestion.asksForPassword(result) else { return }
            let context = session.context
            password = try session.unhurried { () throws(ControlError) in try NewPassword.require(context, of: jid) }
        }

        /// What the server tells people, and what they look at first.
        private func show(_ result: JSONObject) {
            let form = result["form"]
            let texts = [form?["title"]?.stringValue].compactMap { $0 } + (form?["instructions"]?.stringsValue ?? [])
            for text in texts { session.context.output.note(text) }
        }
    }
}
