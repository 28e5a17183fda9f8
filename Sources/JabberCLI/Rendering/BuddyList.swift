// SPDX-License-Identifier: Apache-2.0

internal import JabberControl

/// Who is online, as rows.
enum BuddyList {
    /// The records of a result of `online`.
    ///
    /// - Parameters:
    ///   - result: The document of the contract.
    ///   - byResource: Whether each resource is a row of its own.
    static func records(_ result: JSONObject, byResource: Bool) -> Records {
        guard byResource else { return Records(result, "contacts", columns + [since]) }
        let rows = Records(result, "contacts", []).rows.flatMap(resources)
        return Records(
            rows: rows,
            [
                Column("STATE", "show", .show), Column("NAME", "name"), Column("JID", "jid"),
                Column("RESOURCE", "resource"), Column("PRIORITY", "priority"), Column("STATUS", "status"),
                Column("CLIENT", "client"), Column("IDLE SINCE", "idleSince", .time),
            ])
    }

    private static let columns = [
        Column("STATE", "show", .show), Column("NAME", "name"), Column("JID", "jid"),
        Column("RESOURCES") { row in resourceNames(row) }, Column("STATUS", "status"),
    ]

    private static let since = Column("SINCE", "since", .time)

    /// The names of a contact's resources, best first, with commas between them.
    static func resourceNames(_ row: JSONObject) -> String {
        (row["resources"]?.arrayValue ?? []).compactMap { $0["resource"]?.stringValue }.joined(separator: ",")
    }

    private static func resources(of contact: JSONObject) -> [JSONObject] {
        let list = (contact["resources"]?.arrayValue ?? []).compactMap(\.objectValue)
        guard !list.isEmpty else {
            return [JSONObject(present: ["jid": contact["jid"], "name": contact["name"], "show": contact["show"]])]
        }
        return list.map { resource in
            var row = JSONObject(present: ["jid": contact["jid"], "name": contact["name"]])
            for entry in resource.entries { row[entry.key] = entry.value }
            return row
        }
    }

    /// The contacts that are not as they were: changed, new, or gone, then shown as offline.
    static func changes(from old: JSONObject, to new: JSONObject) -> [JSONObject] {
        let before = Records(old, "contacts", []).rows
        let after = Records(new, "contacts", []).rows
        let (known, present) = (byAddress(before), byAddress(after))
        let gone = before.filter { present[address($0)] == nil }.map { row in
            JSONObject(present: ["jid": row["jid"], "name": row["name"], "online": false, "show": "offline"])
        }
        return after.filter { known[address($0)] != $0 } + gone
    }

    private static func address(_ row: JSONObject) -> String { row["jid"]?.stringValue ?? "" }

    private static func byAddress(_ rows: [JSONObject]) -> [String: JSONObject] {
        Dictionary(rows.map { (address($0), $0) }, uniquingKeysWith: { _, last in last })
    }
}
