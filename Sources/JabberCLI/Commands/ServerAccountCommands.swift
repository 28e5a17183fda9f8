// SPDX-License-Identifier: Apache-2.0

internal import JabberControl

/// `account passwd --at-server` and `account remove --from-server`: first the server, then the settings.
enum ServerAccountCommands {
    /// Whether a command line is one of them.
    static func concern(_ command: CommandSpec, _ line: CommandLine) -> Bool {
        switch command.method {
        case "account.passwd": line.has("at-server")
        case "account.remove": line.has("from-server")
        default: false
        }
    }

    static func run(_ context: CommandContext, _ command: CommandSpec) async throws(ControlError) -> ExitCode {
        var accounts = try AccountCommands(context, mayBeNew: false)
        let account = try accounts.named()
        let context = context.with(account: account.name)
        if command.method == "account.passwd" {
            try await changePassword(account, &accounts, context)
        } else {
            try await remove(account, &accounts, context)
        }
        accounts.tellDaemon(command)
        return .done
    }

    private static func answers(_ context: CommandContext) throws(ControlError) -> JSONObject {
        let lines = context.line.options["field"] ?? []
        try RegistrationAnswers.refuseSecrets(lines)
        return lines.isEmpty ? [:] : ["field": .strings(lines)]
    }

    private static func changePassword(
        _ account: AccountConfiguration, _ accounts: inout AccountCommands, _ context: CommandContext
    ) async throws(ControlError) {
        guard !context.line.has("password-command") else {
            throw ControlError(
                .usage,
                "--at-server sets a password, and --password-command prints one: change them one after the other")
        }
        guard account.passwordCommand == nil || !context.line.has("generate") else {
            throw ControlError(
                .usage, "the password of \(account.name) comes from a command, so none can be made up here")
        }
        var params = try answers(context)
        if try context.showRequest(MethodTable.changePasswordMethod, params) { return }
        let password = try NewPassword.require(context, of: account.jid)
        params["password"] = .string(password)
        _ = try await context.request(MethodTable.changePasswordMethod, params)
        if account.passwordCommand != nil {
            context.output.note("the command that prints the password of \(account.name) has to print the new one now")
        } else {
            var changed = account
            changed.password = password
            try accounts.save(passwordOf: changed)
        }
        try accounts.show(try accounts.named())
    }

    private static func remove(
        _ account: AccountConfiguration, _ accounts: inout AccountCommands, _ context: CommandContext
    ) async throws(ControlError) {
        let params = try answers(context)
        if try context.showRequest(MethodTable.unregisterMethod, params) { return }
        if context.options.mayAsk {
            let jid = TerminalText.line(account.jid)
            let prompt = "This removes \(jid) and all that its server has of it, for good. Type the address: "
            guard let typed = try context.environment.ask(prompt) else {
                throw ControlError(.usage, "nothing was removed; without a terminal, say --no-ask")
            }
            guard typed == account.jid else {
                throw ControlError(.badData, "that is another address; nothing was removed")
            }
        }
        _ = try await context.request(MethodTable.unregisterMethod, params)
        try accounts.remove()
    }
}
