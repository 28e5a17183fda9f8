// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
internal import XMPPCore
internal import XMPPProtocol
internal import XMPPXML

extension XMPPStream {
    /// Brings something to the store, behind what is there.
    func keep(_ job: KeepingQueue.Job) {
        guard let isUrgent = keeping?.isUrgent(job) else { return }
        keeping?.add(job)
        if isUrgent { keepOn() }
    }

    private func keepOn() {
        guard keeping?.begin() == true else { return }
        keepingRetry?.cancel()
        keepingRetry = nil
        Task { await keepAll() }
    }

    private func keepAll() async {
        while let batch = keeping?.take(handled: countedHandled), let keeping {
            do {
                if !batch.steps.isEmpty { try await keeping.store.keep(batch.steps, of: keeping.account) }
                kept(batch)
            } catch {
                if (error as? any KeepingFailure)?.isFinal == true, refused(batch, error) { continue }
                failed(batch, error)
                break
            }
        }
        settled()
    }

    /// A batch holds what can never be kept: that is given up, and whoever waits for it is told.
    ///
    /// - Returns: Whether the rest can go on.
    private func refused(_ batch: KeepingQueue.Batch, _ error: any Error) -> Bool {
        guard let given = keeping?.refused(batch) else { return false }
        if let sending = given.sending {
            log(.step, "cannot keep, and does not send, a stanza: \(error)")
            endWaiting(.failure(Self.storageFailure(error))) { $0 == .kept(sending.number) }
            resumeSenders()
        }
        if let message = given.message {
            log(.step, "cannot keep a message from \(message["from"] ?? "the server"): \(error)")
            configuration.observer?.unkeepable(message, error)
        }
        return true
    }

    private static func storageFailure(_ error: any Error) -> XMPPError {
        XMPPError(.storageFailed, "Nothing was sent: it could not be kept (\(error)).")
    }

    /// How many stanzas were handled; `nil` in a session in which nobody counts.
    private var countedHandled: UInt32? {
        hasSession && !machine.management.isCounting && !machine.hasEnded ? nil : machine.handledCount
    }

    private func kept(_ batch: KeepingQueue.Batch) {
        keeping?.kept(batch)
        for job in batch.jobs {
            switch job {
            case .step: break
            case .received(let stanzas): counted(stanzas)
            case .sending(let sending): keptToSend(sending)
            }
        }
        endTurn()
        resumeSenders()
        readersCaughtUp()
    }

    /// A stanza is kept: now it may be sent. In a session that waits to be resumed it waits as well.
    private func keptToSend(_ sending: KeepingQueue.Sending) {
        var outcome: Result<Void, XMPPError> = .success(())
        if isEstablished {
            write(sending.element, sending.bytes, at: sending.time)
        } else if !machine.keep(sending.element, at: sending.time) {
            outcome = .failure(disconnection ?? .notConnected)
        }
        endWaiting(outcome) { $0 == .kept(sending.number) }
    }

    private func failed(_ batch: KeepingQueue.Batch, _ error: any Error) {
        guard let (given, delay) = keeping?.failed(batch) else { return }
        log(.step, "cannot keep: \(error)")
        for sending in given { endWaiting(.failure(Self.storageFailure(error))) { $0 == .kept(sending.number) } }
        resumeSenders()
        if case .ended = phase { return endKeeping() }
        keepingRetry = configuration.clock.schedule(after: delay, on: executor) { [weak self] in
            self?.assumeIsolated {
                $0.keepingRetry = nil
                $0.keepOn()
            }
        }
    }

    /// The stream is over: what the store is at work on comes to its end, what it has refused is not tried again.
    func endKeeping() {
        keepingRetry?.cancel()
        keepingRetry = nil
        keeping?.giveUp()
    }

    // MARK: What is sent

    /// Whether a stanza has to be kept before it is sent: where it counts, so that it can be sent again.
    func isKept(_ element: Element) -> Bool {
        keeping != nil && machine.management.isCounting && StreamManagement.isStanza(element)
    }

    /// Sends a stanza when it is kept, and waits for that.
    func keepAndWrite(_ element: Element, _ bytes: [UInt8]) async throws(XMPPError) {
        guard let number = keeping?.nextNumber() else { return }
        keep(.sending(KeepingQueue.Sending(element: element, bytes: bytes, time: .now, number: number)))
        try await wait(for: .kept(number), heedsCancellation: false).get()
    }

    /// Sends a stanza when it is kept; nobody waits for that.
    ///
    /// - Returns: Whether it is one that has to be kept.
    func keepSending(_ element: Element, _ bytes: [UInt8]) -> Bool {
        guard keeping != nil, isInterrupted || isKept(element) else { return false }
        keep(.sending(KeepingQueue.Sending(element: element, bytes: bytes, time: .now, number: 0)))
        return true
    }

    /// The stream is over: what was to be sent will not be.
    func abandonSending(_ failure: XMPPError) {
        for sending in keeping?.takeSendings() ?? [] {
            endWaiting(.failure(failure)) { $0 == .kept(sending.number) }
        }
    }

    // MARK: Sessions

    /// A new session began: it takes the place of the one before, whose open messages are unsettled.
    func keepBeginning(of jid: JID) {
        unsettled += machine.unsettled
        machine.unsettled = []
        isInDoubt = false
        guard keeping != nil else { return }
        var state = machine.resumableState ?? StreamState(jid: jid, id: nil)
        state.unsettled = unsettled
        keeping?.hasName = state.id != nil
        keep(.step(.began(state)))
    }

    /// The server has named the session: it can be resumed from now on.
    func keepName() {
        guard keeping?.hasName == false, machine.isEstablished, machine.management.sessionID != nil,
            let state = machine.resumableState, let id = state.id
        else { return }
        keeping?.hasName = true
        keep(.step(.named(id: id, location: state.location, maximumDuration: state.maximumDuration)))
    }

    /// Sends the messages of earlier sessions again that the server may lack, in their order, with the same ids and the
    /// time at which they were sent first (XEP-0203). What a room has sent back, or an archive of the server knows, is
    /// not sent again.
    ///
    /// A message that cannot be sent as it is (the server takes less than the one before) has failed.
    ///
    /// - Parameter outbox: An outbox that finds out by itself what became of its messages to rooms.
    /// - Returns: The messages that were sent again.
    /// - Throws: ``XMPPError`` when the stream ends meanwhile; what was not sent yet stays unsettled.
    @discardableResult
    package func repeatUnsettled(
        leaving outbox: (any Outbox)? = nil
    ) async throws(XMPPError) -> [UnacknowledgedStanza] {
        // Those who wait for what is repeated here go on, whatever comes of it.
        defer { resumeSenders() }
        if let outbox { try await handBackRoomMessages(to: outbox) }
        await awaitUnsettledRooms()
        settleByRooms()
        guard let own = jid, !unsettled.isEmpty else {
            isInDoubt = false
            return []
        }
        if !isSettlingCertain { await settleWhileConnected() }
        var repeated: [UnacknowledgedStanza] = []
        while let pending = unsettled.first {
            do throws(XMPPError) {
                try await write(pending.repeated(from: own))
                repeated.append(pending)
            } catch {
                guard error.code == .tooLarge || error.code == .invalidStanza else { throw error }
                refuse(pending, error)
            }
            unsettled.removeFirst()
        }
        isInDoubt = false
        return repeated
    }

    /// A message of an earlier session cannot be sent again.
    private func refuse(_ pending: UnacknowledgedStanza, _ error: XMPPError) {
        keep(.step(.refused([pending], because: error.message)))
        guard let message = try? Message(pending.element) else { return }
        let condition = error.stanzaError ?? StanzaError(.badRequest, kind: .modify, text: error.message)
        report(.messageBounced(message, condition))
        endTurn()
    }
}
