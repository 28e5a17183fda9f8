// SPDX-License-Identifier: Apache-2.0

public import XMPPProtocol

extension XMPPClient {
    /// How many messages are taken out of an outbox at once; 100.
    private static let outboxPortion = 100

    /// Sends what waits in an outbox, in order; returns when nothing waits any more. To be called when the client has come
    /// online, and whenever something was added. Calls that come together follow one another, so nothing is sent twice.
    ///
    /// With a `StreamStateStore` that keeps every step in the same database, a message is noted as sent in the transaction that
    /// keeps it for resumption: a program that is killed at any moment sends it once. Otherwise it is noted when the server has
    /// handled it, portion by portion, and a program that is killed in between sends the portion twice.
    ///
    /// A message that cannot be sent as it is (``XMPPError/Code/invalidStanza``, ``XMPPError/Code/tooLarge``) is noted as failed
    /// and passed over.
    ///
    /// - Returns: How many were sent.
    /// - Throws: ``XMPPError`` when the connection or the outbox fails; what was not sent goes on waiting.
    @discardableResult
    public func sendWaiting(in outbox: any Outbox) async throws(XMPPError) -> Int {
        let before = outboxRun
        let run = Task { () -> Result<Int, XMPPError> in
            _ = await before?.value
            return await self.sendAll(in: outbox)
        }
        outboxRun = run
        return try await run.value.get()
    }

    private func sendAll(in outbox: any Outbox) async -> Result<Int, XMPPError> {
        let account = configuration.jid.bare
        var count = 0
        do {
            var before: [OutboxEntry] = []
            while true {
                let waiting = try await outbox.waiting(of: account, limit: Self.outboxPortion)
                guard !waiting.isEmpty else { return .success(count) }
                guard waiting != before else {
                    return .failure(XMPPError(.storageFailed, "The outbox does not note what became of its messages."))
                }
                before = waiting
                var written: [OutboxEntry] = []
                var failure: XMPPError?
                for entry in waiting {
                    do throws(XMPPError) {
                        guard try await isSendable(entry, in: outbox) else { continue }
                        try await send(entry.message)
                        count += 1
                        written.append(entry)
                        if store.keepsProgress { try await note(.sent, entry, in: outbox) }
                    } catch {
                        if error.code == .invalidStanza || error.code == .tooLarge {
                            try await note(.failed, entry, in: outbox, because: error.message)
                        } else {
                            failure = error
                            break
                        }
                    }
                }
                if !store.keepsProgress { try await noteWritten(written, in: outbox) }
                if let failure { return .failure(failure) }
            }
        } catch let error as XMPPError {
            return .failure(error)
        } catch {
            return .failure(XMPPError(.storageFailed, "The outbox fails: \(error)."))
        }
    }

    /// Whether it can be said of a message what became of it; one without id or addressee has failed.
    private func isSendable(_ entry: OutboxEntry, in outbox: any Outbox) async throws(XMPPError) -> Bool {
        if entry.message.id != nil, entry.message.to != nil { return true }
        try await note(.failed, entry, in: outbox, because: "The message has no id or no addressee.")
        return false
    }

    /// Notes what the server has. A store that is not told of every step forgets what is under way when the process is killed, so
    /// the outbox must not call it sent before; while the process lives, the client itself sends it again.
    private func noteWritten(_ entries: [OutboxEntry], in outbox: any Outbox) async throws(XMPPError) {
        guard !entries.isEmpty else { return }
        var state = DeliveryState.server
        do {
            try await waitUntilHandled()
        } catch {
            state = .sent
        }
        for entry in entries { try await note(state, entry, in: outbox) }
    }

    private func note(
        _ state: DeliveryState, _ entry: OutboxEntry, in outbox: any Outbox, because reason: String? = nil
    ) async throws(XMPPError) {
        let account = configuration.jid.bare
        do {
            try await outbox.note(
                state, of: entry.message.id ?? "", to: entry.message.to ?? account, of: account, because: reason)
        } catch {
            throw XMPPError(.storageFailed, "The outbox fails: \(error).")
        }
    }
}
