// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import XMPP

/// What becomes of a session that is kept up.
enum ConnectionChange: Sendable {
    /// A session is established, with roster and presence.
    case connected(XMPPStream)
    /// It was lost, or could not be had again.
    case disconnected(ControlError)
    /// The next attempt begins.
    case connecting
}

extension AccountSession {
    /// Keeps the session up until the task is cancelled: comes back when the connection is lost, after a time that
    /// grows and is drawn by lot (RFC 6120 §3.3). One that is held open anyway is only followed.
    ///
    /// - Parameters:
    ///   - priority: The presence priority; below zero no messages are drawn to the session.
    ///   - change: Called with each change, one after another; while it works on a session, the session's end is not
    ///     looked for.
    /// - Throws: `ControlError` when the first attempt fails, or a later one with what trying again cannot mend.
    func keepOnline(
        priority: Int8, _ change: @escaping @Sendable (ConnectionChange) async -> Void
    ) async throws(ControlError) {
        if holding != nil { return try await followHolder(change) }
        var policy = ReconnectPolicy()
        var hasBeenOnline = false
        while !Task.isCancelled {
            let loss: ControlError
            do throws(ControlError) {
                if hasBeenOnline { await change(.connecting) }
                let (stream, _) = try await withPresence(priority: priority, isLasting: true)
                hasBeenOnline = true
                policy.established()
                await change(.connected(stream))
                guard let error = await stream.waitUntilEnded() else {
                    throw ControlError(.cancelled, "the session was closed", account: name)
                }
                loss = ControlError(error, account: name)
            } catch {
                guard hasBeenOnline, error.code != .cancelled else { throw error }
                loss = error
            }
            await change(.disconnected(loss))
            guard loss.retry else { throw loss }
            await Race.pause(policy.failed(random: Double.random(in: 0..<1)))
        }
    }
}
