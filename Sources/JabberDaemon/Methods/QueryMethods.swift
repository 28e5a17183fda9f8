// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import XMPP

/// `ping`, `version-of`, `time`, `last`, `disco`: questions to an address, the own server unless another is named.
enum QueryMethods {
    static func ping(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        let count = try call.parameters.whole("count", in: 1...1000) ?? 1
        let (session, stream, jid) = try await begin(call)
        var times: [JSONValue] = []
        for number in 0..<count {
            if number > 0 { await Race.pause(.seconds(1)) }
            let time = try await ask(session, jid, "answer pings (XEP-0199)") { () throws(XMPPError) in
                try await stream.ping(jid)
            }
            times.append(.number(time.milliseconds))
        }
        var result = session.heading
        result["jid"] = .string(jid.description)
        result["roundTrips"] = .array(times)
        return result
    }

    static func version(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        let (session, stream, jid) = try await begin(call)
        let software = try await ask(session, jid, "tell its version (XEP-0092)") { () throws(XMPPError) in
            try await stream.softwareVersion(of: jid)
        }
        var result = session.heading
        result["jid"] = .string(jid.description)
        result["name"] = .string(software.name)
        if !software.version.isEmpty { result["version"] = .string(software.version) }
        if let system = software.operatingSystem { result["os"] = .string(system) }
        return result
    }

    static func time(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        let (session, stream, jid) = try await begin(call)
        let time = try await ask(session, jid, "tell its time (XEP-0202)") { () throws(XMPPError) in
            try await stream.time(of: jid)
        }
        var result = session.heading
        result["jid"] = .string(jid.description)
        result["time"] = .string(time.moment.description)
        result["zone"] = .string(time.zone)
        return result
    }

    static func last(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        let (session, stream, jid) = try await begin(call)
        let activity = try await ask(session, jid, "tell when it was last there (XEP-0012)") {
            () throws(XMPPError) in try await stream.lastActivity(of: jid)
        }
        var result = session.heading
        result["jid"] = .string(jid.description)
        result["seconds"] = .integer(activity.elapsed.components.seconds)
        if let status = activity.status { result["status"] = .string(status) }
        return result
    }

    static func discover(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        let node = try call.parameters.string("node")
        let wantsItems = try call.parameters.flag("items")
        let (session, stream, jid) = try await begin(call)
        let information = try await ask(session, jid, "say what it is and can (XEP-0030)") { () throws(XMPPError) in
            try await stream.discoverInformation(of: jid, node: node)
        }
        var result = session.heading
        result["jid"] = .string(jid.description)
        if let node { result["node"] = .string(node) }
        result["identities"] = .array(
            information.identities.map { identity in
                .object(
                    JSONObject(present: [
                        "category": .string(identity.category), "type": .string(identity.type),
                        "name": identity.name.map(JSONValue.string), "lang": identity.language.map(JSONValue.string),
                    ]))
            })
        result["features"] = .strings(information.features.sorted())
        guard wantsItems else { return result }
        let items = try await session.step { () throws(XMPPError) in
            try await stream.discoverItems(of: jid, node: node)
        }
        result["items"] = .array(
            items.map { item in
                .object(
                    JSONObject(present: [
                        "jid": .string(item.jid.description), "node": item.node.map(JSONValue.string),
                        "name": item.name.map(JSONValue.string),
                    ]))
            })
        return result
    }

    /// Asks, and says of a refusal what it means.
    private static func ask<Value: Sendable>(
        _ session: AccountSession, _ jid: JID, _ what: String, _ body: () async throws(XMPPError) -> Value
    ) async throws(ControlError) -> Value {
        do throws(ControlError) {
            return try await session.step(body)
        } catch {
            throw Refusal.ofQuestion(error, to: jid, what)
        }
    }

    private static func begin(
        _ call: MethodCall
    ) async throws(ControlError) -> (session: AccountSession, stream: XMPPStream, jid: JID) {
        let asked = try call.parameters.jid("jid")
        let session = try await call.session
        return (session, try await session.established(), asked ?? session.jid.domain)
    }
}
