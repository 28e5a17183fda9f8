// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import XMPP

/// `block …`: whom the account does not want to hear of (XEP-0191).
enum BlockMethods {
    static func list(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        let session = try await call.session
        let stream = try await session.established()
        let blocked = try await ask(session) { () throws(XMPPError) in try await stream.blockList() }
        var result = session.heading
        result["blocked"] = .strings(blocked.sorted().map(\.description))
        return result
    }

    static func add(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        let text = try call.parameters.string("text")
        let word = try call.parameters.choice("report", of: ["spam", "abuse"])
        guard text == nil || word != nil else { throw call.parameters.wrong("text", "is for a report: give --report") }
        let report = word.map { AbuseReport($0 == "spam" ? .spam : .abuse, text: text) }
        var (result, isReported) = try await change(call, isBlocked: true) { (stream, jid) throws(XMPPError) in
            try await stream.block(jid, report: report)
        }
        // Asked for, and perhaps not done: the server may take no reports.
        if report != nil { result["reported"] = .bool(isReported) }
        return result
    }

    static func remove(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        try await change(call, isBlocked: false) { (stream, jid) throws(XMPPError) in
            try await stream.unblock(jid)
        }.result
    }

    private static func change<Value: Sendable>(
        _ call: MethodCall, isBlocked: Bool, _ act: (XMPPStream, JID) async throws(XMPPError) -> Value
    ) async throws(ControlError) -> (result: JSONObject, value: Value) {
        let jid = try call.parameters.requiredJID("jid")
        let session = try await call.session
        let stream = try await session.established()
        let value = try await ask(session) { () throws(XMPPError) in try await act(stream, jid) }
        var result = session.heading
        result["jid"] = .string(jid.description)
        result["blocked"] = .bool(isBlocked)
        return (result, value)
    }

    private static func ask<Value: Sendable>(
        _ session: AccountSession, _ body: () async throws(XMPPError) -> Value
    ) async throws(ControlError) -> Value {
        do throws(ControlError) {
            return try await session.step(body)
        } catch {
            throw Refusal.ofServer(
                error, session.jid.domain, "blocking (XEP-0191)",
                "jabberctl sub cancel JID hides your presence from a contact")
        }
    }
}
