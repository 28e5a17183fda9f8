// SPDX-License-Identifier: Apache-2.0

extension MethodTable {
    /// `account ...`, as far as a server makes, invites and watches accounts.
    static var enrolment: [CommandSpec] { [register, invite, devices, revoke] }

    static let generate = OptionSpec.flag("generate", nil, "make a password up, of 120 bits", isParameter: false)
    static let answer = OptionSpec.value(
        "field", nil, "NAME=VALUE", "answer a question of the server's, without being asked; repeatable",
        isRepeatable: true)

    private static var register: CommandSpec {
        var command = CommandSpec("account register", .accounts, "make an account at a server")
        command.details = [
            "The server is asked what it wants to know (XEP-0077), inside verified TLS. On a terminal what is missing is asked; "
                + "with --no-ask it is named, with exit code 65, and goes into --field. A picture to read (CAPTCHA) is put into "
                + "a file, or its address is shown.",
            "TARGET is the address that you want, a domain, or an invitation: xmpp:example.org?register;preauth=..., or "
                + "xmpp:romeo@example.org?roster;preauth=...;ibr=y. Put an invitation in quotation marks.",
            "The password is read from --password-fd, from JABBERCTL_PASSWORD or from the terminal, or made up with --generate. "
                + "The account is stored as by account add, with --host, --port, --tls, --proxy, --host-meta, --ca, --trust and "
                + "--pin.",
        ]
        command.arguments = [ArgumentSpec("TARGET", "address, domain or invitation")]
        command.options = [
            answer, generate,
            .value("name", nil, "NAME", "name of the account", default: "the address", isParameter: false),
            .flag("default", nil, "make it the default account", isParameter: false),
        ]
        command.parameters = [
            FieldSpec("registration", "string", "which one the answers are for; without it, another one is begun"),
            FieldSpec("submit", "boolean", "whether to answer; otherwise the questions are given"),
            FieldSpec("password", "string", "the password of the account"),
        ]
        command.result = [
            api, FieldSpec("status", "string", "registered; asking, while the server waits for answers"),
            FieldSpec("domain", "string", "where"), FieldSpec("jid", "string", "the address of the account"),
            FieldSpec("registration", "string", "what the answers are to name"),
            FieldSpec("username", "string", "the name of the account, when it is decided"),
            FieldSpec("instructions", "string", "what the server tells people"),
            FieldSpec("page", "string", "a page of the web to register at instead"),
            FieldSpec(
                "form", "object",
                "the questions, as in adhoc run; fields[].media: what is to be looked at first: uri, type, and file, or "
                    + "problem: why what ought to have come along is in none"),
            FieldSpec("name", "string", "name of the account as it is stored"),
            FieldSpec("passwordSource", "string", "where its password is"),
        ]
        command.takesNewPassword = true
        command.exits = [.refused, .notFound, .badData, .hostNotFound, .unavailable, .temporary, .protocolFailure]
        command.examples = [
            "jabberctl account register you@example.org",
            "jabberctl account register 'xmpp:example.org?register;preauth=T' --generate",
        ]
        return command
    }

    private static var invite: CommandSpec {
        var command = CommandSpec("account invite", .accounts, "make an invitation to hand on")
        command.details = [
            "Whoever opens it becomes a contact, with an account at the same server where the server allows that (XEP-0401). "
                + "Where the server makes no invitations, and with --for or --expire, it is made here (XEP-0379): a daemon "
                + "that stays then approves the request of who was invited. It is good once.",
            "Who is invited to be a contact takes it with: jabberctl sub request URI; to an account with: "
                + "jabberctl account register URI",
        ]
        command.options = [
            .flag("new-account", nil, "invite to an account, for those who may"),
            .value("username", nil, "NAME", "the name of that account"),
            .value("for", nil, "JID", .jid, "good for this contact alone"),
            .value("expire", nil, "SECONDS", .seconds, "for how long it is good", default: "a week"),
        ]
        command.result = [
            api, account, FieldSpec("uri", "string", "the invitation"),
            FieldSpec("page", "string", "a page of the web that says the same, when the server has one"),
            FieldSpec("expires", "time", "until when it is good; absent for ever"),
            FieldSpec("by", "string", "server or client: who made it, and who approves"),
        ]
        command.exits = [.refused]
        command.examples = ["jabberctl account invite -g uri", "jabberctl account invite --for romeo@example.net"]
        return command
    }

    private static var devices: CommandSpec {
        var command = CommandSpec("account devices", .accounts, "list the programs that have access to an account")
        command.arguments = [name]
        command.result = [
            api, account, FieldSpec("devices", "array", "the programs"),
            FieldSpec("devices[].id", "string", "what account revoke takes"),
            FieldSpec("devices[].type", "string", "session when it has logged in, else access"),
            FieldSpec("devices[].connected", "boolean", "whether it has a session"),
            FieldSpec("devices[].software", "string", "the program, as it says"),
            FieldSpec("devices[].device", "string", "the machine, as it says"),
            FieldSpec("devices[].uri", "string", "more about the program"),
            FieldSpec("devices[].firstSeen", "time", "when it was given access"),
            FieldSpec("devices[].lastSeen", "time", "when it last used that"),
            FieldSpec("devices[].authentication", "array of strings", "password, grant, fast"),
            FieldSpec("devices[].permission", "string", "unrestricted, normal or restricted"),
        ]
        command.recordKey = "devices"
        command.exits = [.refused, .notFound]
        return command
    }

    private static var revoke: CommandSpec {
        var command = CommandSpec("account revoke", .accounts, "take a program's access to the account away")
        command.details = [
            "The ids are those of account devices. A program that knows the password keeps its access until there is another "
                + "one: jabberctl account passwd --at-server"
        ]
        command.arguments = [ArgumentSpec("ID", repeatable: true, "which programs")]
        command.result = [api, account, FieldSpec("revoked", "array of strings", "the ids")]
        command.exits = [.refused, .notFound]
        return command
    }
}
