// SPDX-License-Identifier: Apache-2.0

internal import JabberControl

/// What the room commands show.
enum RoomRecords {
    /// How the result of a method is shown; `nil` for a method that is not one of rooms.
    static func records(of method: String, _ result: JSONObject) -> Records? {
        switch method {
        case "room.join":
            Records(
                rows: [result],
                [
                    Column("ROOM", "room"), Column("NICK", "nick"), Column("ROLE", "role"),
                    Column("AFFILIATION", "affiliation"), Column("OCCUPANTS", "occupants"),
                    Column("SUBJECT", "subject"),
                ])
        case "room.leave": Records(rows: [result], [Column("LEFT", "room")])
        case "room.list":
            Records(
                result, "rooms",
                [
                    Column("ROOM", "room"), Column("NAME", "name"), Column("NICK", "nick"),
                    Column("OCCUPANTS", "occupants"), Column("SUBJECT", "subject"),
                ])
        case "room.who":
            Records(
                result, "occupants",
                [
                    Column("NICK", "nick"), Column("STATE", "show", .show), Column("ROLE", "role"),
                    Column("AFFILIATION", "affiliation"), Column("JID", "jid"), Column("STATUS", "status"),
                ])
        case "room.topic": Records(rows: [result], [Column("SUBJECT", "subject")])
        case "room.invite": Records(rows: [result], [Column("INVITED", "jid")])
        case "room.nick": Records(rows: [result], [Column("NICK", "nick")])
        case "room.kick", "room.role": Records(rows: [result], [Column("NICK", "nick"), Column("ROLE", "role")])
        case "room.ban": Records(rows: [result], [Column("JID", "jid"), Column("AFFILIATION", "affiliation")])
        case "room.affiliation":
            Records(
                rows: result["members"]?.arrayValue?.compactMap(\.objectValue) ?? [result],
                [Column("JID", "jid"), Column("AFFILIATION", "affiliation"), Column("REASON", "reason")])
        case "room.config": FormRecords.records(notes: nil, form: result["form"])
        case "room.info":
            FormRecords.records(
                notes: .array([["type": "name", "text": result["name"] ?? ""]]), form: result["form"])
        default: nil
        }
    }
}
