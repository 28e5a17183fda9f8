// SPDX-License-Identifier: Apache-2.0

extension MethodTable {
    private static let room = ArgumentSpec("ROOM", .jid, "the room: name@service")
    private static let nickname = ArgumentSpec("NICKNAME", "somebody in the room")
    private static let reason = OptionSpec.value("reason", nil, "TEXT", "why, for people")
    private static let nick = OptionSpec.value(
        "nick", nil, "NICK", "the name to have there when you are not in the room", default: "the account's")
    private static let temporary =
        "When the account is not in the room it comes in for that, and leaves again when it is done."
    private static let roomField = FieldSpec("room", "string", "the room's address")

    /// `room …`.
    static var rooms: [CommandSpec] {
        presences + talks + moderation + ownership
    }

    private static func command(_ verb: String, _ summary: String, _ arguments: [ArgumentSpec]) -> CommandSpec {
        var command = CommandSpec("room \(verb)", .rooms, summary)
        command.arguments = arguments
        command.result = [api, account, roomField]
        command.exits = [.refused, .badData]
        return command
    }

    private static var presences: [CommandSpec] {
        var join = command("join", "enter a room, and stay", [room])
        join.details = [
            "A daemon that stays enters the room again after a lost connection and after a restart, until you leave it. With a "
                + "private daemon you are out again when the command ends.",
            "A nickname that is taken is tried with underscores behind it. A room that does not exist is made.",
        ]
        join.options = [
            .value("nick", nil, "NICK", "the name to have there", default: "the account's"),
            .value("password", nil, "TEXT", "what opens the room's door; not a secret of yours"),
            .value("history", nil, "N", .whole(0...10_000), "how many earlier messages to get", default: "0"),
        ]
        join.result += [
            FieldSpec("nick", "string", "the name that you have there"),
            FieldSpec("role", "string", "moderator, participant or visitor"),
            FieldSpec("affiliation", "string", "owner, admin, member or none"),
            FieldSpec("subject", "string", "what the room is about, when it says so"),
            FieldSpec("occupants", "integer", "how many are in it, you included"),
        ]
        var leave = command("leave", "leave a room", [room])
        leave.options = [.value("status", nil, "TEXT", "a word to go with")]
        leave.exits.append(.notFound)
        var list = command(
            "list", "list the rooms that you are in, or those of a service",
            [ArgumentSpec("SERVICE", .jid, optional: true, "such as conference.example.org")])
        list.result = [
            api, account, FieldSpec("rooms", "array", "the rooms"),
            FieldSpec("rooms[].room", "string", "address"),
            FieldSpec("rooms[].name", "string", "of a service's room: its name, when it has one"),
            FieldSpec("rooms[].nick", "string", "the name that you have there"),
            FieldSpec("rooms[].subject", "string", "what it is about, when it says so"),
            FieldSpec("rooms[].occupants", "integer", "how many are in it"),
        ]
        list.recordKey = "rooms"
        var who = command("who", "show who is in a room", [room])
        who.details = [temporary]
        who.options = [nick]
        who.result += [
            FieldSpec("occupants", "array", "by nickname"),
            FieldSpec("occupants[].nick", "string", "nickname"),
            FieldSpec("occupants[].role", "string", "moderator, participant or visitor"),
            FieldSpec("occupants[].affiliation", "string", "owner, admin, member or none"),
            FieldSpec("occupants[].jid", "string", "real address, where the room tells"),
            FieldSpec("occupants[].show", "string", "available, chat, away, xa or dnd"),
            FieldSpec("occupants[].status", "string", "status text, when there is one"),
            FieldSpec("occupants[].self", "boolean", "true when it is you; else absent"),
        ]
        who.recordKey = "occupants"
        return [join, leave, list, who]
    }

    private static var talks: [CommandSpec] {
        var topic = command(
            "topic", "show or set what a room is about",
            [room, ArgumentSpec("TEXT", optional: true, "the new subject; \"\" takes it away")])
        topic.details = [temporary]
        topic.options = [nick]
        topic.result.append(FieldSpec("subject", "string", "the subject; absent when there is none"))
        var invite = command("invite", "ask somebody into a room", [room, ArgumentSpec("JID", .jid, "whom")])
        invite.details = [temporary]
        invite.options = [reason, nick]
        invite.result.append(FieldSpec("jid", "string", "who was asked"))
        var name = command("nick", "take another nickname in a room", [room, ArgumentSpec("NICKNAME", "the new one")])
        name.result.append(FieldSpec("nick", "string", "the nickname that you have now"))
        var info = command("info", "show what a room says of itself", [room])
        info.result += [
            FieldSpec("name", "string", "its name, when it has one"),
            FieldSpec("features", "array of strings", "what it can do, sorted"),
        ]
        info.result += form("form")
        info.ownRecord = formRecord
        return [topic, invite, name, info]
    }

    private static var moderation: [CommandSpec] {
        var kick = command("kick", "show somebody out of a room", [room, nickname])
        kick.options = [reason, nick]
        kick.result += [
            FieldSpec("nick", "string", "who"), FieldSpec("role", "string", "none: not there any more"),
        ]
        var role = command(
            "role", "give somebody in a room another role",
            [
                room, nickname,
                ArgumentSpec("ROLE", .choice(["moderator", "participant", "visitor", "none"]), "the role"),
            ])
        role.options = [reason, nick]
        role.result += [FieldSpec("nick", "string", "who"), FieldSpec("role", "string", "the role")]
        return [kick, role]
    }

    private static var ownership: [CommandSpec] {
        var ban = command("ban", "let somebody into a room no more", [room, ArgumentSpec("JID", .jid, "whom")])
        ban.options = [reason]
        ban.result += [
            FieldSpec("jid", "string", "who"), FieldSpec("affiliation", "string", "outcast"),
        ]
        var affiliation = command(
            "affiliation", "make somebody something to a room, or list those who are",
            [
                room,
                ArgumentSpec("AFFILIATION", .choice(["owner", "admin", "member", "outcast", "none"]), "what"),
                ArgumentSpec("JID", .jid, optional: true, "whom; without it, those who are so are listed"),
            ])
        affiliation.options = [reason]
        affiliation.result += [
            FieldSpec("jid", "string", "who; absent in a list"),
            FieldSpec("affiliation", "string", "what; absent in a list"),
            FieldSpec("members", "array", "the list: jid, affiliation, reason of each"),
        ]
        affiliation.ownRecord = [
            FieldSpec("jid", "string", "who"), FieldSpec("affiliation", "string", "what"),
            FieldSpec("reason", "string", "why, when that is known"),
        ]
        var config = command("config", "show or change the settings of a room", [room])
        config.options = [
            .value(
                "set", nil, "NAME=VALUE", "change a setting; again for another one, or for a further value",
                isRepeatable: true)
        ]
        config.result += form("form")
        config.ownRecord = formRecord
        return [ban, affiliation, config]
    }

    /// A record of a form as a table.
    static let formRecord = [
        FieldSpec("what", "string", "note, question, required, field or row"),
        FieldSpec("name", "string", "name of the field; of a note, how much it matters"),
        FieldSpec("value", "string", "what it says"), FieldSpec("label", "string", "the question, for people"),
    ]
}
