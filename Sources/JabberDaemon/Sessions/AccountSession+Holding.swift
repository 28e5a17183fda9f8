// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import XMPP

extension AccountSession {
    /// Begins to hold the session open in the place of others, which have what is kept of the account until they are
    /// closed.
    func hold(after others: [AccountSession]) {
        predecessors += others
        hold()
    }

    /// Begins to hold the session open: logs in, and comes back whenever the connection is lost, after a time that
    /// grows and is drawn by lot (RFC 6120 §3.3). From then on no method logs in by itself.
    ///
    /// A holder that waits or has given up begins again at once; one that is connected or connecting goes on.
    func hold() {
        if let holding, holding.holder != nil, [.connected, .connecting].contains(holding.status.phase) { return }
        forgetRefusal()
        var next = holding ?? SessionHolding()
        next.holder?.cancel()
        next.life += 1
        let life = next.life
        holding = next
        enter(SessionStatus(phase: .connecting))
        holding?.holder = Task { [weak self] in await self?.keepHolding(life) }
    }

    /// Begins again at once where what is kept of the session could not be opened: its owner may have made room, or
    /// have put the file's mode right.
    func holdAgainWithoutStore() {
        guard let holding, holding.lacksStore, [.waiting, .failed].contains(holding.status.phase) else { return }
        hold()
    }

    /// The machine has got an address or a route, or was asleep: what failed may succeed now, and what looks alive be
    /// dead.
    func networkChanged() async {
        switch holding?.status.phase {
        case .waiting: hold()
        case .connected: await stream?.probe()
        // On the network before somebody may have sat in between, as in a hotel whose guests have to sign in first.
        case .failed where [.certificate, .tlsRequired].contains(holding?.status.reason?.code): hold()
        case .connecting, .failed, .disconnected, nil: break
        }
    }

    /// Ends the stream in good order and stays away until ``hold()`` is called again.
    func release() async {
        guard endHolding() else { return }
        tell([EventDocument.account(.disconnected(ControlError(.cancelled, "by command")), self)])
        await leave()
    }

    /// Nobody holds the session open any more.
    ///
    /// - Returns: Whether somebody did.
    @discardableResult
    func endHolding() -> Bool {
        guard let holder = holding?.holder else { return false }
        holding?.holder = nil
        holding?.life += 1
        holder.cancel()
        enter(SessionStatus(phase: .disconnected))
        return true
    }

    /// The stream of a session that is held open; waits while an attempt is on its way.
    ///
    /// - Throws: `ControlError` with ``ControlErrorCode/notConnected``, or with why it gave up.
    func heldStream() async throws(ControlError) -> XMPPStream {
        while let holding, !Task.isCancelled {
            switch holding.status.phase {
            case .connected:
                // One that ended a moment ago is the holder's to notice.
                if let stream, await stream.isEstablished { return stream }
                await change(after: holding.version)
            case .connecting:
                await change(after: holding.version)
            case .failed:
                throw holding.status.reason ?? ControlError(.notConnected, "\(name) is not connected", account: name)
            case .waiting:
                let reason = holding.status.reason.map { ": \($0.clause)" } ?? ""
                let next = holding.status.retryAt.map { "; the next attempt is in \($0.fromNow)" } ?? ""
                throw ControlError(.notConnected, "\(name) is not connected\(reason)\(next)", account: name)
            case .disconnected:
                throw ControlError(
                    .notConnected, "\(name) was disconnected; run: jabberctl connect \(account.name)", account: name)
            }
        }
        throw ControlError(.notConnected, "\(name) is not connected", account: name)
    }

    /// Waits until the session is connected, or known not to be for now.
    func settledStatus() async -> SessionStatus? {
        while let holding, holding.status.phase == .connecting, !Task.isCancelled {
            await change(after: holding.version)
        }
        return holding?.status
    }

    /// Tells of the sessions that the holder has, until it gives up or the task is cancelled.
    ///
    /// - Throws: `ControlError` when the session has failed, was disconnected by its user, or is not connected to begin
    ///   with.
    func followHolder(
        _ change: @escaping @Sendable (ConnectionChange) async -> Void
    ) async throws(ControlError) {
        var stream = try await heldStream()
        while !Task.isCancelled {
            await change(.connected(stream))
            while let holding, holding.status.phase == .waiting || holding.status.phase == .connecting,
                !Task.isCancelled
            {
                await self.change(after: holding.version)
            }
            let next = try await heldStream()
            // The same one still: its end is near, and the holder is about to notice.
            if next === stream, let version = holding?.version { await self.change(after: version) }
            stream = next
        }
    }

    /// Waits for a change of the status beyond a version.
    private func change(after version: Int) async {
        guard holding?.version == version, !Task.isCancelled else { return }
        holding?.lastWaiter += 1
        guard let id = holding?.lastWaiter else { return }
        await withTaskCancellationHandler {
            await withCheckedContinuation { holding?.waiters[id] = $0 }
        } onCancel: {
            Task { await self.wake(id) }
        }
    }

    private func wake(_ id: Int) {
        holding?.waiters.removeValue(forKey: id)?.resume()
    }

    /// Waits until the session is closed for good, or the task is cancelled.
    func waitForClose() async {
        while !isClosed, let holding, !Task.isCancelled { await change(after: holding.version) }
    }

    private func enter(_ status: SessionStatus) {
        holding?.status = status
        holding?.version += 1
        let waiters = holding?.waiters ?? [:]
        holding?.waiters = [:]
        for waiter in waiters.values { waiter.resume() }
        report(status)
    }

    private func keepHolding(_ life: Int) async {
        var policy = ReconnectPolicy()
        while holding?.life == life {
            if holding?.status.phase != .connecting { enter(SessionStatus(phase: .connecting)) }
            if holding?.hasBeenOnline == true { tell([EventDocument.account(.connecting, self)]) }
            let loss: ControlError
            /// How long the connection lasted of a session that waits to be resumed.
            var lasted: Duration?
            do throws(ControlError) {
                let stream = try await bringOnline()
                guard holding?.life == life else { return }
                policy.established()
                let began = feed.now
                if holding?.hasBeenOnline == true { holding?.reconnects += 1 }
                holding?.hasBeenOnline = true
                tell([EventDocument.account(.connected(stream), self)])
                enter(SessionStatus(phase: .connected))
                sendWaiting()
                Task { await endVisits() }
                let error = await stream.waitUntilDown()
                // RFC 6120 §3.3 spreads out those whom a server has sent away: it does not keep their sessions.
                if await stream.isInterrupted, error?.streamError == nil { lasted = feed.now - began }
                guard holding?.life == life else { return }
                await lay(down: stream)
                loss =
                    error.map { ControlError($0, account: name) }
                    ?? ControlError(.connectionLost, "the session was closed", account: name)
            } catch {
                loss = error
            }
            guard holding?.life == life else { return }
            if holding?.hasBeenOnline == true { tell([EventDocument.account(.disconnected(loss), self)]) }
            guard loss.retry else {
                holding?.holder = nil
                return enter(SessionStatus(phase: .failed, reason: loss))
            }
            let random = Double.random(in: 0..<1)
            let pause = lasted.map { policy.interrupted(after: $0, random: random) } ?? policy.failed(random: random)
            let retryAt = DateTime(
                millisecondsSinceEpoch: DateTime.now.millisecondsSinceEpoch + Int64(pause.milliseconds))
            enter(SessionStatus(phase: .waiting, reason: loss, retryAt: retryAt))
            await Race.pause(pause)
        }
    }
}
