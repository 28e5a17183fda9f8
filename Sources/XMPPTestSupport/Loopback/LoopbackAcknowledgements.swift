// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
internal import XMPPXML

/// The server's counters of Stream Management (XEP-0198 §4), modulo 2^32.
struct LoopbackAcknowledgements {
    private(set) var isOn = false
    /// Stanzas of the client that the server has handled.
    private(set) var handled: UInt32 = 0
    /// Stanzas sent to the client.
    private(set) var sent: UInt32 = 0
    /// Of those, the ones that the client has acknowledged.
    private(set) var acknowledged: UInt32 = 0

    mutating func enable() {
        self = LoopbackAcknowledgements()
        isOn = true
    }

    /// Counts a stanza of the client.
    mutating func received() {
        if isOn { handled &+= 1 }
    }

    /// Counts what was sent, and says whether an acknowledgement should be asked for now.
    mutating func sent(_ element: Element, requestEvery interval: Int?) -> Bool {
        guard isOn, element.namespace == Namespace.client else { return false }
        sent &+= 1
        guard let interval, let every = UInt32(exactly: max(1, interval)) else { return false }
        return sent.isMultiple(of: every)
    }

    /// Notes the client's `<a/>`.
    mutating func acknowledged(_ count: UInt32?) {
        if let count { acknowledged = count }
    }
}
