// SPDX-License-Identifier: Apache-2.0

public import XMPPProtocol

extension XMPPClient {
    /// Sends what waits in an outbox, in order; returns when nothing waits any more. To be called when the client has come
    /// online, and whenever something was added. Calls that come together follow one another, so nothing is sent twice.
    ///
    /// With a `StreamStateStore` that keeps every step in the same database, a message is noted as sent in the transaction that
    /// keeps it for resumption: a program that is killed at any moment sends it once. Otherwise it is noted when the server has
    /// handled it, portion by portion, and a program that is killed in between sends the portion twice.
    ///
    /// A message that cannot be sent as it is (``XMPPError/Code/invalidStanza``, ``XMPPError/Code/tooLarge``) is noted as failed
    /// and passed over. Cancelling the task does not call it off.
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
        guard let stream else { return .failure(.notConnected) }
        do throws(XMPPError) {
            return .success(try await stream.sendWaiting(in: outbox))
        } catch {
            return .failure(error)
        }
    }
}
