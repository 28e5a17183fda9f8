// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
internal import XMPPXML

/// The server's side of Stream Management (XEP-0198 §4): counters modulo 2^32, and what the client has not
/// acknowledged.
struct LoopbackAcknowledgements {
    private(set) var isOn = false
    /// The name of a session that can be resumed.
    private(set) var id: String?
    /// Stanzas of the client that the server has handled.
    private(set) var handled: UInt32 = 0
    /// Stanzas sent to the client.
    private(set) var sent: UInt32 = 0
    /// Of those, the ones that the client has acknowledged.
    private(set) var acknowledged: UInt32 = 0
    /// The others, oldest first; kept only where the session can be resumed.
    private(set) var pending: [Element] = []

    mutating func enable(id: String?) {
        self = LoopbackAcknowledgements()
        isOn = true
        self.id = id
    }

    /// Counts a stanza of the client.
    mutating func received() {
        if isOn { handled &+= 1 }
    }

    /// Counts what was sent, and says whether an acknowledgement should be asked for now.
    mutating func sent(_ element: Element, requestEvery interval: Int?) -> Bool {
        guard isOn, element.namespace == Namespace.client else { return false }
        sent &+= 1
        if id != nil { pending.append(element) }
        guard let interval, let every = UInt32(exactly: max(1, interval)) else { return false }
        return sent.isMultiple(of: every)
    }

    /// What the client has not acknowledged; nobody waits for it here any more.
    mutating func takePending() -> [Element] {
        defer { pending = [] }
        return pending
    }

    /// Notes how far the client says that it is.
    ///
    /// - Returns: Whether it can be as far as that.
    @discardableResult
    mutating func acknowledged(_ count: UInt32?) -> Bool {
        guard let count else { return true }
        guard count &- acknowledged <= sent &- acknowledged else { return false }
        pending.removeFirst(min(pending.count, Int(count &- acknowledged)))
        acknowledged = count
        return true
    }
}
