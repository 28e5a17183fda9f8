// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import XMPP

/// `presence show` and `presence set`.
enum PresenceMethods {
    static func show(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        let asked = try call.parameters.jid("jid")
        let session = try await call.session
        let stream = try await session.settled(.milliseconds(OnlineMethod.defaultSettle))
        let jid = asked?.bare ?? session.jid
        var result = session.heading
        result["jid"] = .string(jid.description)
        ContactDocument.add(jid == session.jid ? session.notes.own : await stream.buddy(jid), to: &result)
        return result
    }

    static func set(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        let words = ["available", "chat", "away", "xa", "dnd", "offline"]
        guard let show = try call.parameters.choice("show", of: words) else {
            throw call.parameters.wrong("show", "is missing")
        }
        let status = try call.parameters.string("status")
        let to = try call.parameters.jid("to")
        let priority = try call.parameters.whole("priority", in: -128...127)
        let session = try await call.session
        let stream = try await session.established()
        let presence = Presence(
            show == "offline" ? .unavailable : .available, show: Presence.Show(rawValue: show), status: status,
            priority: show == "offline" ? 0 : priority.flatMap { Int8(exactly: $0) } ?? session.priority, to: to)
        if to == nil { await session.noteSent(presence) }
        try await session.step { () throws(XMPPError) in
            try await stream.send(presence)
            // The session may end right away: the server must have taken the presence in by then.
            try await stream.ping()
        }
        var result = session.heading
        result["show"] = .string(show)
        if let status { result["status"] = .string(status) }
        if presence.kind == .available { result["priority"] = .integer(Int64(presence.priority)) }
        if let to { result["to"] = .string(to.description) }
        return result
    }
}
