// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import XMPP

/// Contacts and presence as results show them.
enum ContactDocument {
    /// A contact of the roster, and its presence where that is asked for.
    static func contact(_ item: RosterItem, presence: Buddy? = nil) -> JSONObject {
        var object = JSONObject(present: [
            "jid": .string(item.jid.description), "name": item.name.flatMap { $0.isEmpty ? nil : .string($0) },
            "groups": .strings(item.groups), "subscription": .string(item.subscription.rawValue),
            "ask": item.isAsking ? "subscribe" : nil,
        ])
        if let presence { add(presence, to: &object) }
        return object
    }

    /// Adds presence: whether online, the best resource, every resource.
    static func add(_ buddy: Buddy, to object: inout JSONObject) {
        object["online"] = .bool(buddy.isOnline)
        object["show"] = .string(show(of: buddy.best?.presence))
        if let best = buddy.best {
            if let status = best.presence.status { object["status"] = .string(status) }
            object["priority"] = .integer(Int64(best.presence.priority))
            object["since"] = .string(best.since.description)
        }
        object["resources"] = .array(buddy.resources.map { .object(resource($0)) })
    }

    /// The word for a presence: `available`, `chat`, `away`, `xa`, `dnd`, or `offline`.
    static func show(of presence: Presence?) -> String {
        guard let presence, presence.kind == .available else { return "offline" }
        return presence.show?.rawValue ?? "available"
    }

    private static func resource(_ resource: Buddy.Resource) -> JSONObject {
        JSONObject(present: [
            "resource": .string(resource.name), "show": .string(show(of: resource.presence)),
            "priority": .integer(Int64(resource.presence.priority)),
            "status": resource.presence.status.map(JSONValue.string),
            "idleSince": resource.presence.idleSince.map { .string($0.description) },
        ])
    }
}
