// SPDX-License-Identifier: Apache-2.0

public import XMPPProtocol

extension XMPPClient {
    /// How many messages are taken out of an outbox at once; 100.
    private static let outboxPortion = 100

    /// Sends what waits in an outbox, in order; returns when nothing waits any more. To be called when the client has come
    /// online, and whenever something was added. Calls that come together follow one another, so nothing is sent twice.
    ///
    /// With a `StreamStateStore` that keeps every step in the same database, a message is noted as sent in the transaction that
    /// keeps it for resumption: a program that is killed at any moment sends it once. Otherwise it is noted after it was
    /// written, and a program that is killed in between sends it twice.
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
            while true {
                let waiting = try await outbox.waiting(of: account, limit: Self.outboxPortion)
                guard !waiting.isEmpty else { return .success(count) }
                for entry in waiting {
                    guard let id = entry.message.id, let recipient = entry.message.to else { continue }
                    do throws(XMPPError) {
                        try await send(entry.message)
                        count += 1
                        try await noteSent(entry, in: outbox)
                    } catch {
                        guard error.code == .invalidStanza || error.code == .tooLarge else { return .failure(error) }
                        try await outbox.note(.failed, of: id, to: recipient, of: account, because: error.message)
                    }
                }
            }
        } catch {
            return .failure(XMPPError(.storageFailed, "The outbox fails: \(error)."))
        }
    }

    private func noteSent(_ entry: OutboxEntry, in outbox: any Outbox) async throws(XMPPError) {
        guard let id = entry.message.id, let recipient = entry.message.to else { return }
        do {
            try await outbox.note(.sent, of: id, to: recipient, of: configuration.jid.bare, because: nil)
        } catch {
            throw XMPPError(.storageFailed, "The outbox fails: \(error).")
        }
    }
}
