// SPDX-License-Identifier: Apache-2.0

extension MethodTable {
    private static let jid = ArgumentSpec("JID", .jid, "the contact")

    /// `presence ...`, `roster ...`, `sub ...`, `block ...`.
    static var contacts: [CommandSpec] {
        presenceCommands + rosterCommands + subscriptionCommands + blocking
    }

    private static var presenceCommands: [CommandSpec] {
        var show = CommandSpec("presence show", .contacts, "show the presence of a contact, or your own")
        show.arguments = [ArgumentSpec("JID", .jid, optional: true, "the contact; without it, yourself")]
        show.details = [
            "Your own presence is that of your other sessions, such as a chat program's; the one that asks is not counted."
        ]
        show.options = [.flag("exit-code", nil, "exit code 1 when it is offline", isParameter: false)]
        show.result = [api, account, FieldSpec("jid", "string", "whose presence: a bare JID")] + presence("")
        show.exits = [.answerIsNo]

        var set = CommandSpec("presence set", .contacts, "set your presence")
        set.details = [
            "The presence lasts as long as the session. A command with a private daemon is a session of its own, which is "
                + "over when the command ends: to stay online, run jabberctl listen."
        ]
        set.arguments = [
            ArgumentSpec("SHOW", .choice(["available", "chat", "away", "xa", "dnd", "offline"]), "the state")
        ]
        set.options = [
            .value("status", "s", "TEXT", "status text"),
            .value("priority", "p", "N", .whole(-128...127), "priority", default: "the account's"),
            .value("to", nil, "JID", .jid, "show it to this address only"),
        ]
        set.result = [
            api, account, FieldSpec("show", "string", "the state"), FieldSpec("status", "string", "the status text"),
            FieldSpec("priority", "integer", "the priority"), FieldSpec("to", "string", "the address it was shown to"),
        ]
        return [show, set]
    }

    private static var rosterCommands: [CommandSpec] {
        var list = CommandSpec("roster list", .contacts, "list all contacts")
        list.options = [.value("group", nil, "G", "only contacts of this group")]
        list.result =
            [api, account, FieldSpec("contacts", "array", "by name, then address")] + contact("contacts[]")
        list.recordKey = "contacts"

        var show = CommandSpec("roster show", .contacts, "show one contact and its presence")
        show.arguments = [jid]
        show.result = [api, account] + contact("contact") + presence("contact.")
        show.recordKey = "contact"
        show.exits = [.notFound]

        var add = CommandSpec("roster add", .contacts, "add a contact and ask to see its presence")
        add.arguments = [jid]
        add.options = [
            .value("name", nil, "NAME", "name to show"),
            .value("group", nil, "G", "put it into this group", isRepeatable: true),
            .flag("no-subscribe", nil, "do not ask to see its presence"),
        ]
        add.result = [api, account] + contact("contact")
        add.recordKey = "contact"

        var rename = CommandSpec("roster rename", .contacts, "rename a contact")
        rename.arguments = [jid, ArgumentSpec("NAME", "the new name; \"\" takes it away")]
        rename.result = [api, account] + contact("contact")
        rename.recordKey = "contact"
        rename.exits = [.notFound]

        var group = CommandSpec("roster group", .contacts, "put a contact into groups")
        group.details = ["With GROUP arguments the contact is in exactly these groups afterwards."]
        group.arguments = [jid, ArgumentSpec("GROUP", optional: true, repeatable: true, "the groups it shall be in")]
        group.options = [
            .value("add", nil, "G", "put it into this group too", isRepeatable: true),
            .value("remove", nil, "G", "take it out of this group", isRepeatable: true),
        ]
        group.result = [api, account] + contact("contact")
        group.recordKey = "contact"
        group.exits = [.notFound]

        var remove = CommandSpec("roster remove", .contacts, "remove a contact and both subscriptions")
        remove.arguments = [jid]
        remove.result = [api, account, FieldSpec("jid", "string", "the bare JID that was removed")]
        remove.exits = [.notFound]
        return [list, show, add, rename, group, remove]
    }

    private static var subscriptionCommands: [CommandSpec] {
        func command(_ verb: String, _ summary: String) -> CommandSpec {
            var command = CommandSpec("sub \(verb)", .contacts, summary)
            command.arguments = [jid]
            command.result = [
                api, account, FieldSpec("jid", "string", "bare JID"),
                FieldSpec("subscription", "string", "none, to, from or both, as known afterwards"),
                FieldSpec("ask", "string", "subscribe, while a request waits; else absent"),
            ]
            return command
        }
        var request = command("request", "ask to see a contact's presence")
        request.details = [
            "In place of an address it takes an invitation, xmpp:romeo@example.org?roster;preauth=..., which makes the other side "
                + "approve at once (XEP-0379), and lets them see your presence in turn. Put it in quotation marks."
        ]
        request.options = [.value("text", nil, "TEXT", "a word with the request")]
        var accept = command("accept", "let a contact see your presence")
        accept.details = [
            "Answers the contact's request. When there is none, a server that can remembers the answer for a later request "
                + "(RFC 6121 3.4); with any other it is exit code 4."
        ]
        accept.result.append(
            FieldSpec(
                "preapproved", "boolean", "true when no request waited and the answer is kept for one; else absent"))
        accept.exits = [.notFound]
        var deny = command("deny", "refuse a contact's request")
        var cancel = command("cancel", "no longer let a contact see your presence")
        deny.details = ["Where no request waits and the contact does not see your presence, it is exit code 4."]
        cancel.details = deny.details
        deny.exits = [.notFound]
        cancel.exits = [.notFound]
        var pending = CommandSpec("sub pending", .contacts, "list the requests that wait for your answer")
        pending.options = [.flag("exit-code", nil, "exit code 1 when there is none", isParameter: false)]
        pending.result = [
            api, account, FieldSpec("requests", "array", "requests, oldest first"),
            FieldSpec("requests[].jid", "string", "bare JID"),
            FieldSpec("requests[].text", "string", "the word with it; absent when there is none"),
            FieldSpec("requests[].at", "time", "when it came"),
        ]
        pending.recordKey = "requests"
        pending.exits = [.answerIsNo]
        return [request, accept, deny, cancel, pending]
    }
}
