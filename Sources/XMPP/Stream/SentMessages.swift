// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
internal import XMPPProtocol

/// To whom the latest messages went, so that only the addressee can say that one was received.
struct SentMessages: Sendable {
    /// How many messages are remembered; 1,000.
    static let maximumCount = 1_000

    private var addressees = LatestEntries<String, JID>(maximumCount: maximumCount)

    /// Notes that a message is sent.
    mutating func sent(id: String, to: JID) {
        addressees.store(to.bare, for: id)
    }

    /// Notes messages that were sent before, the oldest first.
    mutating func sent(_ messages: some Sequence<OutboxKey>) {
        for message in messages { sent(id: message.id, to: message.recipient) }
    }

    /// Whether `jid` is whom the message with this id was sent to.
    func wasSent(id: String, to jid: JID) -> Bool {
        addressees[id] == jid.bare
    }
}
