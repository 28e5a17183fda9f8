// SPDX-License-Identifier: Apache-2.0

extension MethodTable {
    /// How many recipients one `send` may have; 1,000. Their results must fit into one line of the control protocol, or
    /// a caller would not know that the messages have left.
    package static let maximumRecipients = 1_000

    /// `online`, `send`, `listen`, and what is said about messages.
    static var everyday: [CommandSpec] {
        [online, send, listen, chat] + history + messages
    }

    private static var online: CommandSpec {
        var command = CommandSpec("online", .everyday, "show who is online")
        command.aliases = ["buddies", "who"]
        command.details = [
            "Lists the contacts that are online: state, name, address, resources, status text and since when.",
            "Waits for the contact list, and then until the server has nothing more to say: a ping sent after the own "
                + "presence has come back and nothing new arrived for the time of --settle, at most 5 seconds.",
        ]
        command.options = [
            .value("group", nil, "G", "only contacts of this group"),
            .flag("resources", nil, "show each resource on a line of its own", isParameter: false),
            .flag("all", nil, "show contacts that are offline too"),
            .flag("watch", nil, "stay, and show each change"),
            .value("settle", nil, "MS", .whole(0...5000), "quiet time to wait for, in milliseconds", default: "300"),
            .flag("exit-code", nil, "exit code 1 when nobody is online", isParameter: false),
        ]
        command.result =
            [api, account] + contact("contacts[]") + presence("contacts[].")
            + [FieldSpec("contacts", "array", "online ones first, then by name; with --all the offline ones too")]
        command.recordKey = "contacts"
        command.event = [FieldSpec("(whole)", "object", "with --watch: the result again, after each change")]
        command.exits = [.answerIsNo]
        command.examples = ["jabberctl online", "jabberctl online --group Work --json", "jabberctl who -g jid"]
        return command
    }

    /// The fields of a record of `online --resources`: one resource of a contact.
    package static var resourceRecord: [FieldSpec] {
        let prefix = "resources[]."
        let own = presence("").filter { $0.name.hasPrefix(prefix) }.map { field in
            FieldSpec(String(field.name.dropFirst(prefix.utf8.count)), field.type, field.summary)
        }
        return [FieldSpec("jid", "string", "bare JID"), FieldSpec("name", "string", "name in the contact list")] + own
    }

    private static var send: CommandSpec {
        var command = CommandSpec("send", .everyday, "send a message")
        command.details = [
            "With one argument the text is read from standard input; otherwise the last argument is the text, unless -m, "
                + "--file or --line gives it.",
            "Succeeds when every recipient reached the level asked with --until: none = handed to the network, "
                + "server = acknowledged by the server and not bounced, device = received by a program of the recipient's "
                + "(XEP-0184), read = displayed there (XEP-0333).",
            "A daemon that stays writes a message down before it is sent. Without a connection it waits, and goes out when there is one: "
                + "once, in order, also when the daemon was killed meanwhile, unless --expire says otherwise. Its state is queued then; with a level to reach the "
                + "command waits for it, at most the time of --timeout, and ends with exit code 5.",
            "A room that the account is in is known as one; for others say --room: the account comes in for the message, and "
                + "leaves again. server means then that the room has sent the message back, read that somebody there has displayed it; "
                + "device is not known of rooms. A daemon that stays keeps such a message until the account is in the room, and "
                + "after a lost connection says it again only where the room shows that it lacks it.",
            "With --id a message that was sent before to the same recipient under the same id is not sent again, and its state is told. "
                + "A daemon that stays remembers that across restarts; a private one ends with its command and knows of nothing "
                + "earlier: it sends again.",
        ]
        command.arguments = [
            ArgumentSpec("TO", .jid, repeatable: true, "recipients"),
            ArgumentSpec("TEXT", optional: true, "the text"),
        ]
        command.options = [
            .value("message", "m", "TEXT", "the text; - reads it from standard input", isParameter: false),
            .value("file", nil, "F", .file, "read the text from a file", isParameter: false),
            .flag("line", nil, "send each line of standard input as a message of its own", isParameter: false),
            .value(
                "type", nil, "TYPE", .choice(["chat", "normal", "headline", "groupchat"]), "type of message",
                default: "chat"),
            .value("subject", nil, "S", "subject"),
            .value("thread", nil, "T", "name of the conversation"),
            .value("reply-to", nil, "ID", "answer the message with this id (XEP-0461)"),
            .value("correct", nil, "ID", "take the place of the message with this id that you have sent (XEP-0308)"),
            .flag("room", nil, "the recipients are rooms; same as --type groupchat"),
            .value("nick", nil, "NICK", "the name to have in a room that you are not in", default: "the account's"),
            .flag(
                "receipt", nil,
                "ask to be told when it was received and displayed, without waiting for that (events of listen)"),
            .value("id", nil, "ID", "name of the message; the same id twice is one message (daemon that stays)"),
            .value(
                "expire", nil, "SECONDS", .seconds,
                "give it up when it cannot be sent within this time (daemon that stays)"),
            .value(
                "until", nil, "LEVEL", .choice(["none", "server", "device", "read"]), "what to wait for",
                default: "server"),
        ]
        command.parameters = [
            FieldSpec("to", "array of strings", "recipients, 1 to \(maximumRecipients)"),
            FieldSpec("text", "string", "the text; not empty"),
        ]
        command.result = outcomes
        command.recordKey = "results"
        command.exits = [.refused, .timedOut, .badData, .noInput]
        command.examples = [
            "jabberctl send juliet@example.org \"hello\"", "uptime | jabberctl send ops@example.org",
            "jabberctl send -m \"Lunch?\" juliet@example.org nurse@example.org",
        ]
        return command
    }

    private static var listen: CommandSpec {
        var command = CommandSpec("listen", .everyday, "show messages and other events as they come")
        command.details = [
            "Runs until it is interrupted, or until --count events have come. With --json each event is one line.",
            "You are online while it listens for messages, so that the server hands over those that it has kept. What comes "
                + "after the last one asked for with --count stays with the server if it can keep it (XEP-0198); messages "
                + "that --from leaves out are handed over too, and are not shown. What your other clients send and receive is shown "
                + "too, where the server copies it (XEP-0280): its source is carbon.",
            "A daemon that stays writes the events of each account down before it tells the server that it has them, and keeps the "
                + "latest 10000 of them for 30 days, over restarts: --since shows those after a cursor first. When some of them are "
                + "gone already, an event of the type gap says so, and so does one for each stanza that was too large to be read. Presence, who types, and who comes and goes in rooms is shown as it "
                + "happens, and not kept. Without such a daemon nothing is kept.",
            "With --exec the command has the event as a line of JSON on its standard input, and what is no object or list of it in "
                + "variables such as JABBERCTL_EVENT_FROM and JABBERCTL_EVENT_BODY. With --consumer an event has been dealt with when "
                + "its command has ended with 0; with any other code listen ends, exit code 75, and the next one of that name begins "
                + "with that event. One whose command runs when the power goes comes again. A signal that ends listen is passed on to the "
                + "commands that run, with all that they have started, and listen ends when they have; a second one ends it at once.",
        ]
        command.options = [
            .value("from", nil, "JID", .jid, "only from this address; a bare JID means all its resources"),
            .value(
                "kind", nil, "K,K",
                .choices([
                    "message", "presence", "receipt", "marker", "state", "reaction", "retraction", "invitation",
                    "room", "roster", "account",
                ]), "only these kinds", default: "message"),
            .value("room", nil, "ROOM", .jid, "only what happens in this room; you are in it while you listen"),
            .value("nick", nil, "NICK", "the name to have there", default: "the account's"),
            .value(
                "since", nil, "CURSOR|TIME",
                "first show the events after this cursor, or from this time on, that are kept"),
            .value(
                "consumer", nil, "NAME",
                "begin where the last one of this name has stopped; it is kept how far this one comes"),
            .value(
                "ack", nil, "HOW", .choice(["auto", "manual"]),
                "manual: how far it comes is for the command ack to say",
                default: "auto"),
            .value("count", nil, "N", .whole(1...1_000_000_000), "end after this many events"),
            .value(
                "exec", nil, "COMMAND", "run this command of the shell for each event instead of showing it",
                isParameter: false),
            .value(
                "jobs", nil, "N", .whole(1...64), "how many commands of --exec may run at a time", default: "1",
                isParameter: false),
        ]
        command.place = .daemonStream
        command.result = [api, account]
        command.event = [
            api, FieldSpec("cursor", "string", "grows with each event; absent of one that is not kept"), account,
            FieldSpec("type", "string", "one of the kinds, or gap"),
            FieldSpec("at", "time", "when it happened"),
            FieldSpec(
                "from", "string", "the sender; state: bare JID of the contact; gap: of a stanza that was not read"),
            FieldSpec("to", "string", "message: the address it was sent to"),
            FieldSpec("direction", "string", "message: in or out"),
            FieldSpec("kind", "string", "message: chat, normal, headline, groupchat or error"),
            FieldSpec(
                "id", "string",
                "message: its id; receipt, marker, reaction, retraction: that of the message concerned; gap: of a stanza that "
                    + "was not read"),
            FieldSpec("stanzaId", "object", "message: by, id (XEP-0359)"),
            FieldSpec("body", "string", "message: the text, without what it quotes for replyTo; invitation: why"),
            FieldSpec(
                "color", "string",
                "message that came in: the colour in which programs show its sender, # and six hexadecimal digits (XEP-0392)"
            ),
            FieldSpec("subject", "string", "message: the subject; room: what it is about now"),
            FieldSpec("thread", "string", "message: name of the conversation"),
            FieldSpec(
                "replaces", "string", "message: id of the earlier one that it corrects (XEP-0308); check who sent that"),
            FieldSpec("replyTo", "object", "message: id, to of the one that it answers (XEP-0461)"),
            FieldSpec("attachments", "array of strings", "message: addresses of what belongs to it (XEP-0066)"),
            FieldSpec("emoji", "array of strings", "reaction: all of the sender's, none takes them back (XEP-0444)"),
            FieldSpec("moderator", "string", "retraction: who removed it, when it was not its sender (XEP-0425)"),
            FieldSpec("room", "string", "the room that it happened in; invitation: the room"),
            FieldSpec("nick", "string", "in a room: the nickname of who it is about"),
            FieldSpec(
                "event", "string",
                "room: joined, refused, left, occupantJoined, occupantChanged, occupantLeft, nicknameChanged, subject, "
                    + "configurationChanged"),
            FieldSpec("role", "string", "room: moderator, participant, visitor or none"),
            FieldSpec("affiliation", "string", "room: owner, admin, member, outcast or none"),
            FieldSpec("delayedFrom", "string", "message: who kept it (XEP-0203); at is then when it was sent"),
            FieldSpec("source", "string", "message: live, carbon, archive or offline"),
            FieldSpec("encryption", "string", "message: none"),
            FieldSpec("error", "object", "message of kind error: type, condition, text"),
            FieldSpec("show", "string", "presence: available, chat, away, xa, dnd or offline"),
            FieldSpec("status", "string", "presence: the status text"),
            FieldSpec("priority", "integer", "presence: -128 to 127"),
            FieldSpec("state", "string", "state: active, composing, paused, inactive or gone (XEP-0085)"),
            FieldSpec("contact", "object", "roster: the contact as in roster list; subscription remove = gone"),
            FieldSpec("connection", "string", "account: connected, disconnected or connecting"),
            FieldSpec(
                "serverKey", "object",
                "account: the server has a key that no earlier login met: host, key and previousKey (SHA-256), issuer, "
                    + "notAfter"),
            FieldSpec("reason", "object", "account, retraction, room: why: code, message"),
            FieldSpec(
                "after", "string",
                "gap: the cursor that was asked for; what came next after it is gone. Absent where it is presence, or what "
                    + "happens in rooms, that is missing, as the reader was too slow: ask how things stand; absent too where it "
                    + "is a stanza"),
            FieldSpec(
                "stanza", "string",
                "gap: message, presence, iq or element: one that was too large to be read (the first such one costs the "
                    + "connection, those after it are passed over)"),
            FieldSpec("bytes", "integer", "gap: how many bytes that stanza had"),
        ]
        command.examples = [
            "jabberctl listen", "jabberctl listen --from juliet@example.org --count 1 -g body",
            #"jabberctl listen --exec 'notify-send -- "$JABBERCTL_EVENT_BODY"'"#,
        ]
        return command
    }

    private static var chat: CommandSpec {
        var command = CommandSpec("chat", .everyday, "talk to a contact or in a room, at a terminal")
        command.details = [
            "What you type is sent with Enter; what comes is shown above the line that you write, after what was said lately "
                + "where a daemon stays. Before the line stands how far your last message has come, or how many are in the room, and "
                + "whether the other side is writing. The arrow keys call earlier lines back, the tabulator completes commands and, "
                + "in a room, names; keys can be set in ~/.editrc (editrc(5)).",
            "/help shows the commands; //TEXT says a text that begins with a slash. /quit and Ctrl-D leave, with exit code 0; "
                + "you leave the room too if you were not in it before.",
            "Lines are edited by libedit, which has to be installed.",
        ]
        command.arguments = [ArgumentSpec("JID", .jid, "a contact, or a room")]
        command.options = [
            .flag("room", nil, "JID is a room; otherwise it is asked what it is", isParameter: false),
            .value("nick", nil, "NICK", "the name to have in a room", default: "the account's", isParameter: false),
            .flag("no-typing", nil, "do not show the other side that you are writing", isParameter: false),
        ]
        command.place = .bridge
        command.exits = [.refused, .badData, .interrupted]
        command.examples = ["jabberctl chat juliet@example.org", "jabberctl chat coven@rooms.example.org --nick jules"]
        return command
    }
}
