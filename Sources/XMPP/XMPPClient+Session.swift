// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
internal import XMPPCore
internal import XMPPCrypto
internal import XMPPProtocol

extension XMPPClient {
    /// One connection, from connecting to its end, and the wait after it.
    ///
    /// - Returns: Whether there is to be another one.
    func runSession() async -> Bool {
        let next: XMPPStream?
        do {
            next = try await nextStream()
        } catch {
            return await waitForStore(error)
        }
        guard let stream = next else { return false }
        state = .connecting
        let began: Duration
        do {
            let isBack = await stream.isInterrupted
            let jid = isBack ? try await stream.reconnect() : try await stream.connect()
            try await comeOnline(stream)
            await stream.outliveConnection()
            guard supervisor != nil else { return false }
            state = .online(jid)
            began = configuration.clock.now
            reconnect.established()
            // A store that is told of every step has the state of the session that goes on.
            if hasSavedState, !store.keepsProgress { await save(nil) }
            settle(.success(jid))
            sendPosted()
        } catch {
            if await !stream.isInterrupted { await stream.disconnect() }
            // Those who wait hear that the client was stopped, not what that did to the stream.
            guard supervisor != nil else { return false }
            return await goOn(stream, after: error, lasted: nil)
        }
        let error = await stream.waitUntilDown()
        return await goOn(stream, after: error, lasted: configuration.clock.now - began)
    }

    /// The interrupted stream, or a new one that goes on where the last one, or the last run of the program, has
    /// stopped.
    ///
    /// - Returns: `nil` when the client was stopped meanwhile.
    /// - Throws: ``XMPPError/Code/storageFailed`` when a store that is told of every step cannot say what is there: a
    ///   new session would take its place.
    private func nextStream() async throws(XMPPError) -> XMPPStream? {
        if let stream, await stream.isInterrupted { return stream }
        if !hasAskedStore, inheritance == nil, configuration.usesStreamManagement {
            hasSavedState = true
            do {
                inheritance = try await store.state(of: configuration.jid.bare)
            } catch {
                log("the last session cannot be read: \(error)")
                if store.keepsProgress {
                    throw XMPPError(.storageFailed, "The last session cannot be read (\(error)).")
                }
            }
        }
        hasAskedStore = true
        let wanted = configuration.jid
        if let jid = inheritance?.jid, jid.bare != wanted.bare { inheritance = nil }
        // What a server binds by XEP-0386 begins with the resource asked for, and goes on with something of its own. A
        // session that is not the one that is wanted is not resumed; what it had to say is said in the next.
        if let jid = inheritance?.jid, !jid.isBound(for: wanted) { inheritance?.id = nil }
        let stream = XMPPStream(
            configuration, hub: hub, ownsHub: false, isResumable: true, resuming: inheritance, keepingIn: store,
            rooms: rooms, archives: archives)
        if configuration.usesCarbons { await stream.wishForCarbons() }
        if configuration.beginsInactive { await stream.wishForInactivity() }
        await rememberSent(on: stream)
        guard supervisor != nil else { return nil }
        self.stream = stream
        await prepareUnlessStopped(stream)
        return supervisor == nil ? nil : stream
    }

    /// The store cannot say what is there: that is waited out, as a connection that cannot be had.
    private func waitForStore(_ error: XMPPError) async -> Bool {
        guard supervisor != nil else { return false }
        state = .waiting(error)
        settle(.failure(error))
        var generator = RandomBits(source: configuration.random)
        await wait(reconnect.failed(random: Double.random(in: 0..<1, using: &generator)))
        return supervisor != nil
    }

    private func log(_ text: String) {
        configuration.log?(StreamLogEntry(.step, text))
    }

    /// Lets the user prepare a stream. Who stops the client at that has not to wait for itself: the wait ends with the
    /// client.
    private func prepareUnlessStopped(_ stream: XMPPStream) async {
        lastPreparationID += 1
        let (id, prepare) = (lastPreparationID, prepare)
        await withCheckedContinuation { continuation in
            let task = Task {
                await prepare(stream)
                self.endPreparation(id)
            }
            preparation = (task, continuation)
        }
    }

    private func endPreparation(_ id: Int) {
        guard id == lastPreparationID else { return }
        let waiter = preparation?.waiter
        preparation = nil
        waiter?.resume()
    }

    /// Waits for the user's preparation no longer, and tells it so.
    func abandonPreparation() {
        guard let (task, waiter) = preparation else { return }
        preparation = nil
        task.cancel()
        waiter.resume()
    }

    /// Does what comes first in a session; in a resumed one most of it was done.
    private func comeOnline(_ stream: XMPPStream) async throws(XMPPError) {
        inheritance = nil
        let start = await stream.start
        if start == .inherited {
            // The server tells who is online when a resource becomes available, so it has to become that anew.
            try await stream.send(Presence(.unavailable))
        }
        if start != .resumed {
            let sent = presence
            // Before anything new comes: what is older is told first.
            let catchesUp = start == .fresh && archives?.place != nil
            if catchesUp { try await stream.catchUp() }
            if configuration.usesCarbons { try await stream.requestCarbons() }
            if configuration.beginsInactive { try await stream.beginInactive() }
            try await stream.goOnline(sent, known: roster.known)
            knownPresence = sent
            // What came between the last look and the presence went to the archive, or to others, alone.
            if catchesUp { try await stream.catchUp() } else { noteArchiveEnd(stream) }
            if start == .fresh, archives != nil { try await stream.catchUpRooms() }
            // A resumed session is in its rooms still; in a new one nobody is.
            if let usedOutbox { try await stream.heedRooms(of: usedOutbox) }
            await stream.rejoinRooms()
        }
        // It may have been set anew meanwhile.
        while presence != knownPresence {
            let sent = presence
            try await stream.send(sent)
            knownPresence = sent
        }
        try await stream.repeatUnsettled(leaving: usedOutbox)
    }

    /// Notes where the account's archive ends, of which nothing is known: what comes behind it may be what a later
    /// session has missed. Nobody waits for it.
    private func noteArchiveEnd(_ stream: XMPPStream) {
        guard let archives, archives.place == nil else { return }
        Task {
            if let end = await stream.archiveEnd() { archives.begin(at: end) }
        }
    }

    /// What comes after a connection, or after an attempt to make one: `lasted` is `nil` then.
    private func goOn(_ stream: XMPPStream, after error: XMPPError?, lasted: Duration?) async -> Bool {
        if supervisor != nil, let error {
            state = error.isPermanent ? .failed(error) : .waiting(error)
            if lasted == nil { settle(.failure(error)) }
            if error.isPermanent {
                supervisor = nil
                self.stream = nil
                ended()
                await stream.settle()
                await save(await stream.resumableState)
                return false
            }
        }
        await stream.settle()
        let isInterrupted = await stream.isInterrupted
        if !isInterrupted {
            sentMessages = await stream.sentMessages
            self.stream = nil
            inheritance = await stream.resumableState
        }
        // A store that is told of every step knows the state of an interrupted session already.
        if !isInterrupted || !store.keepsProgress { await save(await stream.resumableState) }
        guard supervisor != nil, let error else { return false }
        var generator = RandomBits(source: configuration.random)
        let random = Double.random(in: 0..<1, using: &generator)
        // RFC 6120 §3.3 spreads out those whom a server has sent away: it does not keep their sessions.
        if isInterrupted, let lasted, error.streamError == nil {
            await wait(reconnect.interrupted(after: lasted, random: random))
        } else {
            await wait(reconnect.failed(random: random))
        }
        return supervisor != nil
    }

    private func save(_ state: StreamState?) async {
        guard state != nil || hasSavedState || store.keepsProgress else { return }
        hasSavedState = state != nil
        do {
            try await store.save(state, of: configuration.jid.bare)
        } catch {
            log("the session cannot be saved: \(error)")
        }
    }

    private func wait(_ delay: Duration) async {
        guard !skipsPause else {
            skipsPause = false
            return
        }
        await withCheckedContinuation { continuation in
            pauseEnded = continuation
            pause = configuration.clock.schedule(after: delay, on: executor) { [weak self] in
                Task { await self?.endPause() }
            }
        }
    }

    func endPause() {
        pause?.cancel()
        pause = nil
        let waiter = pauseEnded
        pauseEnded = nil
        waiter?.resume()
    }

    /// The client is stopped, by its user or by a failure: no more events will come.
    func ended() {
        network = nil
        hub.finishSequences()
        let waiting = runners
        runners = []
        for runner in waiting { runner.resume() }
    }

    func settle(_ result: Result<JID, XMPPError>) {
        let waiting = starters.values
        starters = [:]
        for starter in waiting { starter.resume(returning: result) }
    }

    func stopWaiting(_ id: Int) {
        starters.removeValue(forKey: id)?.resume(
            returning: .failure(XMPPError(.cancelled, "Waiting for the client to be online was called off.")))
    }
}

/// The configured source of randomness as a generator.
struct RandomBits: RandomNumberGenerator {
    let source: any RandomSource

    mutating func next() -> UInt64 {
        source.bytes(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}

extension JID {
    /// Whether this is an address that a server may bind for who asks for another one.
    package func isBound(for wanted: JID) -> Bool {
        guard bare == wanted.bare else { return false }
        guard let asked = wanted.resourcepart, let made = resourcepart, made != asked else { return true }
        guard made.hasPrefix(asked), let next = made.dropFirst(asked.count).first else { return false }
        return !next.isLetter && !next.isNumber
    }
}
