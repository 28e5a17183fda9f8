// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import XMPP

extension AccountSession {
    /// The stream, with the roster asked for: from then on pushes arrive (RFC 6121 §2.1.3).
    func withRoster(isLasting: Bool = false) async throws(ControlError) -> XMPPStream {
        let stream = try await established(isLasting: isLasting)
        let task = roster ?? askForRoster { () throws(XMPPError) in try await stream.requestRoster() }
        roster = task
        try await arrival(of: task)
        return stream
    }

    /// Waits for the roster. One that did not come is asked for again by the next request.
    private func arrival(of task: Task<Result<Void, ControlError>, Never>) async throws(ControlError) {
        do throws(ControlError) {
            try await task.value.get()
        } catch {
            if roster == task { roster = nil }
            throw error
        }
    }

    func askForRoster(
        _ ask: @escaping @Sendable () async throws(XMPPError) -> RosterUpdate
    ) -> Task<Result<Void, ControlError>, Never> {
        let name = name
        return Task {
            do throws(XMPPError) {
                _ = try await ask()
                return .success(())
            } catch {
                return .failure(ControlError(error, account: name))
            }
        }
    }

    /// The stream, with roster and presence: contacts' presence arrives from then on.
    ///
    /// A session that only looks around takes priority −1, so that no message is drawn to it, those that the server has
    /// kept among them (RFC 6121 §4.7.2.3, §8.5.2.1.1): they would be lost with it.
    ///
    /// - Parameter priority: The least priority wanted; a higher one that was sent already stays.
    /// - Returns: The stream, and when the presence was sent by the clock of ``feed``.
    func withPresence(
        priority: Int8 = -1, isLasting: Bool = false
    ) async throws(ControlError) -> (stream: XMPPStream, since: Duration) {
        let stream = try await established(isLasting: isLasting)
        if holding != nil, roster != nil {
            // The session's presence is its owner's affair: who only looks around does not change it.
            _ = try await withRoster()
            return (stream, presence?.at ?? feed.now)
        }
        if roster != nil {
            _ = try await withRoster(isLasting: isLasting)
            if let presence, presence.sent.priority >= priority { return (stream, presence.at) }
        }
        let wanted = Presence(priority: priority)
        noteSent(wanted)
        do throws(ControlError) {
            // What other clients send and receive is of interest to who gets messages at all (XEP-0280).
            if isLasting, priority >= 0 {
                try await step { () throws(XMPPError) in try await stream.requestCarbons() }
            }
            if roster == nil {
                // Both in one flight.
                let task = askForRoster { () throws(XMPPError) in try await stream.goOnline(wanted) }
                roster = task
                try await arrival(of: task)
            } else {
                try await step { () throws(XMPPError) in try await stream.send(wanted) }
            }
        } catch {
            presence = nil
            throw error
        }
        return (stream, presence?.at ?? feed.now)
    }

    /// The presence of the session; `nil` while there is none.
    var presenceSent: Presence? { presence?.sent }

    /// Notes a presence that is sent to everybody.
    func noteSent(_ sent: Presence) {
        wanted = sent
        presence = sent.kind == .available ? (sent, feed.now) : nil
    }
}
