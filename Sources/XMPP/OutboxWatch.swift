// SPDX-License-Identifier: Apache-2.0

package import SocketIO
package import XMPPCore
package import XMPPProtocol

/// Waits for what becomes of the messages in an outbox.
package struct OutboxWatch: Sendable {
    private static let executor = StreamExecutor(label: "swift-xmpp.outbox")

    private let outbox: any Outbox
    private let account: JID
    private let clock: any StreamClock

    /// Makes a watch over the messages of one account.
    package init(_ outbox: any Outbox, of account: JID, clock: any StreamClock) {
        self.outbox = outbox
        self.account = account.bare
        self.clock = clock
    }

    /// Waits until a message has come as far as this, or will come no further. Cancelling the task ends the waiting.
    ///
    /// - Returns: What is known of it then.
    /// - Throws: ``XMPPError`` with ``XMPPError/Code/timedOut``, ``XMPPError/Code/cancelled``, or
    ///   ``XMPPError/Code/storageFailed`` when the outbox fails or does not know the message any more.
    package func waitUntil(
        _ level: DeliveryState, of entry: OutboxEntry, timeout: Duration?
    ) async throws(XMPPError) -> OutboxEntry {
        try await wait(for: entry, timeout: timeout) { $0.state.reaches(level) || $0.state.isFinal }
    }

    /// Waits until what is known of a message is what somebody waits for.
    package func wait(
        for entry: OutboxEntry, timeout: Duration?, until isOver: (OutboxEntry) -> Bool
    ) async throws(XMPPError) -> OutboxEntry {
        let deadline = timeout.map { clock.now + $0 }
        let (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        // Before the first look: what changes from now on is not missed.
        let changes = outbox.changes()
        let listening = Task {
            for await _ in changes { wake.yield() }
            // The outbox is closed: nothing changes any more.
            wake.yield()
        }
        defer { listening.cancel() }
        while true {
            let known = try await present(entry)
            if isOver(known) { return known }
            if let deadline, clock.now >= deadline {
                throw XMPPError(.timedOut, "The message has come no further than \(known.state.rawValue) in time.")
            }
            // A message that waits may run out of time without anybody looking.
            let expiry = known.state == .queued ? known.expires.map { $0.timeFromNow } : nil
            let rest = [expiry, deadline.map { $0 - clock.now }].compactMap { $0 }.min()
            let timer = rest.map { clock.schedule(after: $0, on: Self.executor) { wake.yield() } }
            defer { timer?.cancel() }
            var iterator = wakes.makeAsyncIterator()
            guard await iterator.next(isolation: #isolation) != nil, !Task.isCancelled else {
                throw XMPPError(.cancelled, "The waiting was called off.")
            }
        }
    }

    /// What is known of a message; what has waited too long has expired.
    package func present(_ entry: OutboxEntry) async throws(XMPPError) -> OutboxEntry {
        guard let key = entry.key else { throw XMPPError(.invalidStanza, "The message has no id or no addressee.") }
        let account = account
        let known = try await ask { outbox -> OutboxEntry? in
            let known = try await outbox.entry(key.id, to: key.recipient, of: account)
            guard known?.state == .queued, let expires = known?.expires, expires.timeFromNow <= .zero else {
                return known
            }
            _ = try await outbox.waiting(of: account, limit: 1)
            return try await outbox.entry(key.id, to: key.recipient, of: account)
        }
        guard let known else { throw XMPPError(.storageFailed, "The outbox does not know the message.") }
        return known
    }

    /// Asks the outbox something.
    func ask<Value: Sendable>(
        _ body: @Sendable (any Outbox) async throws -> Value
    ) async throws(XMPPError) -> Value {
        do {
            return try await body(outbox)
        } catch {
            throw XMPPError(.storageFailed, "The outbox fails: \(error).")
        }
    }
}

extension OutboxEntry {
    /// What the message is known by; `nil` for one without id or addressee, which no outbox takes.
    var key: OutboxKey? {
        guard let id = message.id, let to = message.to else { return nil }
        return OutboxKey(id: id, recipient: to)
    }
}

extension Message {
    /// Gives a message what an outbox knows it by: an id, and where rooms may change that, another one that they do not
    /// (XEP-0359 §3).
    package mutating func name(_ newID: @autoclosure () -> String) {
        let known = id ?? newID()
        id = known
        if kind == .groupchat, originID == nil { originID = known }
    }
}

extension DateTime {
    /// How long it is until then; negative for what is past.
    fileprivate var timeFromNow: Duration {
        .milliseconds(millisecondsSinceEpoch - DateTime.now.millisecondsSinceEpoch)
    }
}
