// SPDX-License-Identifier: Apache-2.0

extension MethodTable {
    /// Of how many conversations `unread` tells at most; 1,000.
    package static let maximumConversations = 1_000

    private static let peer = ArgumentSpec("JID", .jid, "a contact or a room")

    /// `history`, `unread`, `read`, `ack`.
    static var history: [CommandSpec] {
        [said, unread, read, ack]
    }

    private static var said: CommandSpec {
        var command = CommandSpec("history", .everyday, "show what was said")
        command.details = [
            "Shows what a daemon that stays has written down of a conversation, oldest first; with --remote what the archive of the "
                + "server or of the room has (XEP-0313). Times are as 2026-01-02T03:04:05Z.",
            "The daemon keeps 100000 messages and 256 MiB of them; the oldest go first, those that were read before others.",
        ]
        command.arguments = [peer]
        command.options = [
            .value("since", nil, "TIME", "from this time on"),
            .value("before", nil, "TIME", "before this time"),
            .value("search", nil, "WORDS", "only with these words; the last may be the beginning of one"),
            .value("limit", nil, "N", .whole(1...1000), "at most so many, the newest", default: "50"),
            .flag("remote", nil, "ask the archive of the server; at most 500"),
            .flag("room", nil, "with --remote: JID is a room, whose archive is asked"),
        ]
        command.result = [
            api, account, FieldSpec("jid", "string", "with whom"),
            FieldSpec("messages", "array", "oldest first"),
            FieldSpec("messages[].at", "time", "when it was sent"),
            FieldSpec("messages[].from", "string", "the sender"), FieldSpec("messages[].to", "string", "the recipient"),
            FieldSpec("messages[].direction", "string", "in or out"),
            FieldSpec("messages[].kind", "string", "chat, normal, headline or groupchat"),
            FieldSpec("messages[].id", "string", "its id"),
            FieldSpec("messages[].stanzaId", "object", "by, id (XEP-0359)"),
            FieldSpec("messages[].body", "string", "the text"),
            FieldSpec(
                "messages[].color", "string",
                "of one that came in: the colour in which programs show its sender, # and six hexadecimal digits (XEP-0392)"
            ),
            FieldSpec("messages[].subject", "string", "its subject"),
            FieldSpec("messages[].thread", "string", "name of the conversation"),
            FieldSpec(
                "messages[].replaces", "string",
                "id of the earlier one that it corrects (XEP-0308); check who sent that"),
            FieldSpec("messages[].replyTo", "object", "id, to of the one that it answers (XEP-0461)"),
            FieldSpec(
                "messages[].attachments", "array of strings", "addresses of what belongs to it (XEP-0066)"),
            FieldSpec("messages[].encryption", "string", "none"),
            FieldSpec("messages[].unread", "boolean", "true: nobody has read it here"),
            FieldSpec("complete", "boolean", "whether there is no more that was asked for"),
        ]
        command.recordKey = "messages"
        command.exits = [.notRunning, .refused, .badData]
        command.examples = [
            "jabberctl history juliet@example.org --limit 10", "jabberctl history juliet@example.org --search balcony",
        ]
        return command
    }

    private static var unread: CommandSpec {
        var command = CommandSpec("unread", .everyday, "show what nobody has read here")
        command.options = [
            .flag("count", nil, "print how many messages there are, and nothing else", isParameter: false),
            .flag("exit-code", nil, "exit code 1 when there is nothing", isParameter: false),
        ]
        command.result = [
            api, account, FieldSpec("conversations", "array", "the latest first, at most \(maximumConversations)"),
            FieldSpec("conversations[].jid", "string", "the contact or room"),
            FieldSpec("conversations[].count", "integer", "how many messages"),
            FieldSpec("total", "integer", "how many in all"),
        ]
        command.recordKey = "conversations"
        command.exits = [.answerIsNo, .notRunning]
        return command
    }

    private static var read: CommandSpec {
        var command = CommandSpec("read", .everyday, "mark messages as read")
        command.arguments = [peer]
        command.options = [
            .value("up-to", nil, "ID", "only up to the message with this id"),
            .flag("marker", nil, "tell the sender, where it asks for that and may see your presence (XEP-0333)"),
        ]
        command.result = [
            api, account, FieldSpec("jid", "string", "the contact or room"),
            FieldSpec("marked", "integer", "how many were unread, at most 1000"),
            FieldSpec("marker", "string", "id of the message that the sender was told of; absent when it was not"),
        ]
        command.exits = [.notRunning, .notFound, .badData]
        return command
    }

    private static var ack: CommandSpec {
        var command = CommandSpec("ack", .everyday, "note that a consumer of events has dealt with them")
        command.details = [
            "For listen --consumer NAME --ack manual: what comes after the cursor is shown again to the next one of that name."
        ]
        command.arguments = [
            ArgumentSpec("CONSUMER", "the name given to listen"),
            ArgumentSpec("CURSOR", "of the last event that was dealt with"),
        ]
        command.result = [
            api, account, FieldSpec("consumer", "string", "the name"),
            FieldSpec("cursor", "string", "how far it has come; it never goes back"),
        ]
        command.exits = [.notRunning]
        return command
    }
}
