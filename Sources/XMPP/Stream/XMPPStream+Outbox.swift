// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
package import XMPPProtocol

extension XMPPStream {
    /// How many messages are taken out of an outbox at once; 100.
    private static let outboxPortion = 100

    /// Of how many messages, the latest, receipts are taken; 1,000.
    package static let maximumSentMessages = SentMessages.maximumCount

    /// Sends what waits in an outbox, in order; returns when nothing waits any more but what is for rooms that the user
    /// is not in. Calls must follow one another.
    ///
    /// - Returns: How many were sent.
    /// - Throws: ``XMPPError`` when the connection or the outbox fails; what was not sent goes on waiting.
    package func sendWaiting(in outbox: any Outbox) async throws(XMPPError) -> Int {
        let account = configuration.jid.bare
        var count = 0
        var before: [OutboxEntry] = []
        // What an earlier stay in a room has left comes before what is new.
        let stays = try await settleRooms(in: outbox)
        var closed: Set<JID> = []
        while true {
            let passedOver = closed
            let waiting = try await ask(outbox) {
                try await $0.waiting(of: account, passingOver: passedOver, limit: Self.outboxPortion)
            }
            guard !waiting.isEmpty else { return count }
            guard waiting != before else {
                throw XMPPError(.storageFailed, "The outbox does not note what became of its messages.")
            }
            before = waiting
            closed.formUnion(waiting.filter { !isOpen($0, stays) }.compactMap(\.message.to))
            count += try await send(
                waiting.filter { entry in entry.message.to.map { !closed.contains($0) } ?? true }, stays, from: outbox)
        }
    }

    /// Asks an outbox something.
    ///
    /// - Throws: ``XMPPError`` with ``XMPPError/Code/storageFailed`` for whatever it cannot do.
    func ask<Value: Sendable>(
        _ outbox: any Outbox, _ question: @Sendable (any Outbox) async throws -> Value
    ) async throws(XMPPError) -> Value {
        do {
            return try await question(outbox)
        } catch {
            throw XMPPError(.storageFailed, "The outbox fails: \(error).")
        }
    }

    /// The messages that were written while nobody keeps them, and of which it is not known whether the server has
    /// them. They go again with the session, or in the next one.
    func takeDoubtful() -> [OutboxKey] {
        defer { doubtful = [] }
        return doubtful
    }

    /// Takes receipts for these messages too, which were sent on another stream: the oldest first.
    package func remember(_ messages: some Sequence<OutboxKey> & Sendable) {
        sentMessages.sent(messages)
    }

    /// Takes receipts for what another stream has sent too.
    func remember(_ earlier: SentMessages) {
        sentMessages = earlier
    }

    /// Sends some messages of an outbox, and notes what became of them.
    ///
    /// - Returns: How many were sent.
    private func send(
        _ waiting: [OutboxEntry], _ stays: [JID: Int], from outbox: any Outbox
    ) async throws(XMPPError) -> Int {
        var written: [OutboxEntry] = []
        var failure: XMPPError?
        // Only what is counted goes again by itself; afterwards there may be no session that tells.
        let isCounted = machine.management.isCounting
        for entry in waiting where failure == nil {
            do throws(XMPPError) {
                guard try await isSendable(entry, in: outbox) else { continue }
                // The session may be another one by now: what the one before has left comes first.
                guard unsettled.isEmpty else { throw .notConnected }
                if entry.isForRoom {
                    guard isEstablished else { throw disconnection ?? .notConnected }
                    guard isOpen(entry, stays) else { continue }
                    try await aboutToSay(entry, in: outbox)
                    // A new session may have begun meanwhile, in which the user is not in the room yet.
                    guard isEstablished, isOpen(entry, stays) else { try await unsay(entry, in: outbox) }
                }
                try await send(entry.message)
                written.append(entry)
                // The transaction that keeps it for resumption has noted it; where the server cannot resume, a reply
                // has to.
                if keepsSent { try await note(.sent, entry, in: outbox) }
            } catch {
                if error.code == .invalidStanza || error.code == .tooLarge {
                    try await note(.failed, entry, in: outbox, because: error.message)
                } else {
                    failure = error
                }
            }
        }
        // Whether a room has a message is for the room to say.
        if !keepsSent { try await noteWritten(written.filter { !$0.isForRoom }, isCounted, in: outbox) }
        if let failure { throw failure }
        return written.count
    }

    /// Whether what is sent is kept until the server has it, in the same place as the outbox.
    var keepsSent: Bool { keeping != nil && machine.management.isCounting }

    /// Whether it can be said of a message what became of it; one without id or addressee has failed.
    private func isSendable(_ entry: OutboxEntry, in outbox: any Outbox) async throws(XMPPError) -> Bool {
        if entry.message.id != nil, entry.message.to != nil { return true }
        try await note(.failed, entry, in: outbox, because: "The message has no id or no addressee.")
        return false
    }

    /// Notes what the server has. A store that is not told of every step forgets what is under way when the process is
    /// killed, so the outbox must not call it sent before; while the process lives, the client itself sends it again.
    /// Where the server cannot resume a session, what it has not answered for goes on waiting: it is sent again in the
    /// next.
    private func noteWritten(
        _ entries: [OutboxEntry], _ isCounted: Bool, in outbox: any Outbox
    ) async throws(XMPPError) {
        guard !entries.isEmpty else { return }
        do {
            try await waitUntilHandled()
        } catch {
            guard keeping == nil, isCounted else { throw error }
            for entry in entries { try await note(.sent, entry, in: outbox) }
            doubtful += entries.compactMap(\.key)
            // What is behind them waits until they have gone again.
            throw error
        }
        for entry in entries { try await note(.server, entry, in: outbox) }
    }

    func note(
        _ state: DeliveryState, _ entry: OutboxEntry, in outbox: any Outbox, because reason: String? = nil
    ) async throws(XMPPError) {
        let account = configuration.jid.bare
        _ = try await ask(outbox) {
            try await $0.note(
                state, of: entry.message.id ?? "", to: entry.message.to ?? account, of: account, because: reason)
        }
    }
}
