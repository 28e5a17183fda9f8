// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore

/// To whom the latest messages went, so that only the addressee can say that one was received.
struct SentMessages: Sendable {
    /// How many messages are remembered; 1,000.
    static let maximumCount = 1_000

    private var addressees: [String: JID] = [:]
    private var order: [String] = []
    private var oldest = 0

    /// Notes that a message is sent.
    mutating func sent(id: String, to: JID) {
        if addressees.updateValue(to.bare, forKey: id) != nil { return }
        if order.count < Self.maximumCount {
            order.append(id)
        } else {
            addressees[order[oldest]] = nil
            order[oldest] = id
            oldest = (oldest + 1) % Self.maximumCount
        }
    }

    /// Whether `jid` is whom the message with this id was sent to.
    func wasSent(id: String, to jid: JID) -> Bool {
        addressees[id] == jid.bare
    }
}
