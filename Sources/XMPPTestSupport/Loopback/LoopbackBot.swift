// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
internal import XMPPXML

/// A ``LoopbackBuddy`` at work: a connected resource without a connection.
final class LoopbackBot: LoopbackEndpoint {
    /// Stanzas remembered for the test to look at.
    private static let maximumReceived = 1_000

    let buddy: LoopbackBuddy
    let jid: JID
    var presence: Presence?
    let isInterested = false
    var directed: Set<JID> = []
    /// What came for the buddy.
    private(set) var received: [Element] = []
    private var unanswered: [Element] = []
    private unowned let router: LoopbackRouter
    /// Asks for ``react()`` in a turn of its own, so that a stanza is routed before it is answered.
    private let wake: @Sendable () -> Void

    init(_ buddy: LoopbackBuddy, jid: JID, router: LoopbackRouter, wake: @escaping @Sendable () -> Void) {
        self.buddy = buddy
        self.jid = jid
        self.router = router
        self.wake = wake
    }

    /// Comes online, changes the status, or goes offline.
    func become(_ presence: Presence) {
        if presence.kind == .available { router.connect(self) }
        router.route(presence.element, from: self)
        if presence.kind == .unavailable { router.disconnect(self) }
    }

    /// Sends a stanza in the buddy's name.
    func send(_ stanza: Element) {
        router.route(stanza, from: self)
    }

    func deliver(_ stanza: Element) {
        if received.count >= Self.maximumReceived { received.removeFirst() }
        received.append(stanza)
        unanswered.append(stanza)
        wake()
    }

    func end(_ error: StreamError) {
        become(Presence(.unavailable))
    }

    /// Answers what has come since the last time.
    func react() {
        let stanzas = unanswered
        unanswered = []
        for stanza in stanzas { react(stanza) }
    }

    private func react(_ stanza: Element) {
        if let message = try? Message(stanza), message.kind != .error, let body = message.body {
            react(message, body)
        } else if let presence = try? Presence(stanza), presence.kind == .subscribe, let from = presence.from {
            guard buddy.behaviors.contains(.approvesSubscriptions) else { return }
            send(Presence(.subscribed, to: from.bare).element)
            send(Presence(.subscribe, to: from.bare).element)
        } else if let iq = try? IQ(stanza), iq.kind.isRequest {
            let isPing = iq.payload?.isNamed("ping", namespace: Namespace.ping) == true
            send((isPing ? iq.result() : iq.failure(.serviceUnavailable)).element)
        }
    }

    private func react(_ message: Message, _ body: String) {
        if buddy.behaviors.contains(.leavesWhenTold(body)) { return become(Presence(.unavailable)) }
        guard buddy.behaviors.contains(.echoes), let from = message.from, from.bare != jid.bare else { return }
        // In a room the answer comes back as well.
        guard message.kind != .groupchat || from.isFull && message.id?.hasPrefix("echo-") != true else { return }
        // A resource without presence does one thing and leaves: the answer is for the account (RFC 6121 §5.1).
        let isAvailable = router.endpoint(from)?.presence != nil
        var echo = Message(
            to: isAvailable ? from : from.bare, kind: message.kind, body: body, id: message.id.map { "echo-\($0)" })
        echo.thread = message.thread
        send(echo.element)
    }
}
