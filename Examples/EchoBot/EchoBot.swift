// SPDX-License-Identifier: Apache-2.0

import ExampleSupport
import XMPP

/// Sends every chat message back to where it came from.
///
/// It listens as a delegate, not in a `for await` loop: when more comes in than goes out, the stream stops reading from
/// the server until the bot has caught up. A loop that falls too far behind ends with an error instead.
final class EchoBot: MessageDelegate, ChatDelegate {
    /// Marks what the bot has sent: two bots that answered each other's answers would never stop.
    private static let marker = ElementName("echo", namespace: "urn:example:echo-bot")

    /// What the bot answers; `nil` for what it leaves alone.
    static func answer(to message: Message, as account: JID) -> Message? {
        guard message.kind == .chat || message.kind == .normal, let body = message.body, let from = message.from,
            from.bare != account.bare, !message.hasPayload(marker.localName, namespace: marker.namespace)
        else { return nil }
        var echo = Message(to: from, kind: message.kind, body: body)
        echo.thread = message.thread
        echo.append(Element(marker.localName, namespace: marker.namespace))
        return echo
    }

    func stream(_ stream: XMPPStream, didAuthenticateAs jid: JID) async {
        say("online as \(jid.description.printable())")
    }

    func stream(_ stream: XMPPStream, didReceive message: Message) async {
        guard let echo = Self.answer(to: message, as: stream.configuration.jid) else { return }
        do {
            try await stream.send(echo)
            say("echoed to \(echo.to?.description.printable() ?? "?")")
        } catch {
            // The connection went away meanwhile; the client is on its way back.
            complain("not echoed: \("\(error)".printable(limit: 400))")
        }
    }

    /// Somebody wants to see when the bot is online. It approves nobody by itself: that is for a person to decide, with
    /// another client of the same account.
    func stream(_ stream: XMPPStream, didReceiveSubscriptionRequest request: Presence) async {
        let who = request.from?.description.printable() ?? "somebody"
        say("\(who) asks to see this bot's presence; left for a person to decide")
    }

    func streamDidDisconnect(_ stream: XMPPStream, error: XMPPError?) async {
        guard let error else { return say("offline") }
        complain("disconnected: \("\(error)".printable(limit: 400))")
    }
}
