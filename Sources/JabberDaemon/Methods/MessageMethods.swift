// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import XMPP

/// `react`, `retract`, `typing`: what is said about messages.
enum MessageMethods {
    static func react(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        let jid = try call.parameters.requiredJID("jid")
        let id = try call.parameters.required("id")
        let emoji = try call.parameters.strings("emoji")
        for text in emoji where !EmojiText.isEmoji(text) {
            throw ControlError(.badData, "\"\(text)\" is not an emoji, which alone can be a reaction (XEP-0444)")
        }
        let reactions = MessageReactions(to: id, emoji)
        guard reactions.emoji.count == emoji.count else {
            throw call.parameters.wrong("emoji", "must be emoji, each of them once")
        }
        return try await SendMethod.run(call, SendOrder(to: jid) { jid in .reactions(emoji, to: id, in: jid) })
    }

    static func retract(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        let jid = try call.parameters.requiredJID("jid")
        let id = try call.parameters.required("id")
        return try await SendMethod.run(call, SendOrder(to: jid) { jid in .retraction(of: id, to: jid) })
    }

    static func typing(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        let jid = try call.parameters.requiredJID("jid")
        guard let word = try call.parameters.choice("state", of: ["on", "off"]) else {
            throw call.parameters.wrong("state", "is missing")
        }
        let state: ChatState = word == "on" ? .composing : .active
        let session = try await call.session
        let stream = try await session.withRoster()
        let isSent = try await session.step { () throws(XMPPError) in
            let isSent = try await stream.sendChatState(state, to: jid)
            if isSent { try await stream.ping() }
            return isSent
        }
        guard isSent else {
            throw ControlError(
                .refused, "\(jid) may not see your presence, so it is shown nothing", account: session.name)
        }
        var result = session.heading
        result["jid"] = .string(jid.description)
        result["state"] = .string(state.rawValue)
        return result
    }
}
