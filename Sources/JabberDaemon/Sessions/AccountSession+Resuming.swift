// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import XMPP

extension AccountSession {
    /// A session with roster and the presence that was wanted last, for who holds it open: the one before, where the
    /// server has it still.
    func bringOnline() async throws(ControlError) -> XMPPStream {
        do throws(ControlError) {
            _ = try await openStore()
            holding?.lacksStore = false
        } catch {
            holding?.lacksStore = true
            throw error
        }
        let stream = try await established(isLasting: true, asHolder: true)
        do throws(ControlError) {
            try await comeOnline(on: stream)
        } catch {
            if await !stream.isInterrupted { await stream.disconnect() }
            await lay(down: stream)
            throw error
        }
        await stream.outliveConnection()
        return stream
    }

    /// Does what comes first in a session; in one that goes on it was done.
    private func comeOnline(on stream: XMPPStream) async throws(ControlError) {
        let start = await stream.start
        let store = store
        guard start != .resumed else {
            return try await step { () throws(XMPPError) in _ = try await stream.repeatUnsettled(leaving: store?.outbox)
            }
        }
        forgetSession()
        // Before anybody sends anything here: what is older comes first.
        if start == .fresh { try await catchUp(on: stream, isPresent: false) }
        let presence = wanted ?? Presence(priority: priority)
        let task: Task<Result<Void, ControlError>, Never>
        if presence.kind == .available {
            // The server tells who is online when a resource becomes available, so it has to become that anew.
            if start == .inherited {
                try await step { () throws(XMPPError) in try await stream.send(Presence(.unavailable)) }
            }
            // Some servers tell of requests from priority 0 on alone.
            if start == .fresh, presence.priority >= 0 { await forgetRequests() }
            noteSent(presence)
            // All in one flight.
            try await step { () throws(XMPPError) in try await stream.requestCarbons() }
            task = askForRoster { () throws(XMPPError) in try await stream.goOnline(presence) }
        } else {
            task = askForRoster { () throws(XMPPError) in try await stream.requestRoster() }
        }
        roster = task
        try await task.value.get()
        if start == .fresh {
            // What came between the last look and the presence went to the archive, or to others, alone.
            try await catchUp(on: stream, isPresent: presence.kind == .available)
            try await catchUpRooms(on: stream)
        }
        if let outbox = store?.outbox {
            try await step { () throws(XMPPError) in try await stream.heedRooms(of: outbox) }
        }
        await stream.rejoinRooms()
        try await step { () throws(XMPPError) in _ = try await stream.repeatUnsettled(leaving: store?.outbox) }
    }

    /// Goes on with the session of a stream whose connection was lost.
    func comeBack(_ stream: XMPPStream) async throws(ControlError) -> XMPPStream {
        progress.begin()
        defer { progress.end() }
        do throws(XMPPError) {
            try await stream.reconnect()
            return stream
        } catch {
            let failure = ControlError(error, account: name)
            if error.code == .authenticationRefused, !account.renewsProof { refusal = failure }
            await lay(down: stream)
            throw failure
        }
    }

    /// Ends the present stream in good order, for who holds the session open; the next attempt makes another.
    func leave() async {
        loginNumber += 1
        login = nil
        forgetSession()
        guard let stream else { return }
        await stream.disconnect()
        await lay(down: stream)
    }

    /// A stream is of no use any more, or waits to be resumed: what it leaves is kept, unless another one has begun.
    func lay(down stream: XMPPStream) async {
        await stream.settle()
        guard await !stream.isInterrupted, self.stream === stream else { return }
        await keep(await stream.resumableState)
        if self.stream === stream { self.stream = nil }
    }
}
