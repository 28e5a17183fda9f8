// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import XMPP
internal import XMPPStorage

extension AccountSession {
    /// How long after a failure of the store what waits to be sent is tried again.
    private static let sendingRetryDelay: Duration = .seconds(5)

    /// What is kept of the session; it is opened when it is first asked for, and stays open until the session is
    /// closed.
    ///
    /// - Throws: `ControlError` when it cannot be: then the session cannot be held open.
    func openStore() async throws(ControlError) -> AccountStore {
        if let store { return store }
        guard !isClosed else { throw ControlError(.cancelled, "the daemon is ending", account: name) }
        let (account, jid, paths, intake) = (account.name, jid, paths, intake)
        let others = predecessors
        predecessors = []
        let task =
            opening
            ?? Task {
                for session in others { await session.close() }
                do throws(ControlError) {
                    let opened = try await AccountStore.open(account, of: jid, paths: paths, intake: intake)
                    await restoreRooms(from: opened)
                    await restoreRequests(from: opened)
                    return .success(opened)
                } catch {
                    return .failure(error)
                }
            }
        opening = task
        let result = await task.value
        if opening == task {
            opening = nil
            if let opened = try? result.get() { took(opened) }
        }
        return try result.get()
    }

    private func took(_ opened: AccountStore) {
        store = opened
        opened.trouble.tell { [weak self] error in
            Task { [weak self] in
                await self?.say(error.map { "nothing can be kept: \($0.message)" } ?? "what comes is kept again")
            }
        }
        guard let path = opened.setAside else { return }
        say("what was kept is damaged, and was set aside as \(path); what is kept from now on begins anew")
    }

    /// Closes what is kept, after what is under way.
    func closeStore() async {
        if let opening { _ = await opening.value }
        let open = store
        store = nil
        await open?.close()
    }

    /// What the session before has left.
    ///
    /// - Throws: `ControlError` when that cannot be said: a new session would take its place.
    func inheritance(from store: AccountStore, for wanted: JID) async throws(ControlError) -> StreamState? {
        do {
            var state = try await store.state(of: jid)
            // A session that is not the one that is wanted is not resumed; what it had to say is said in the next.
            if let jid = state?.jid, !jid.isBound(for: wanted) { state?.id = nil }
            return state
        } catch let error as StorageError {
            throw ControlError(error, account: name)
        } catch {
            throw ControlError(.inputOutput, "\(error)", account: name)
        }
    }

    /// Keeps what a stream has left; `nil` for nothing.
    func keep(_ state: StreamState?) async {
        guard let store else { return }
        do {
            try await store.save(state, of: jid)
        } catch {
            say("the session cannot be kept: \(error)")
        }
    }

    /// Takes in what happened on the stream, for those who listen and for the archive; on the stream's executor.
    nonisolated func take(_ event: XMPPEvent) {
        switch event {
        case .authenticated, .resumed: intake.connectionBegan()
        case .message(let message): notifier.received(ChatMessage(message, account: jid))
        case .connected, .serverKeyChanged, .presence, .buddyCameOnline, .buddyChanged, .buddyWentOffline,
            .subscriptionRequest, .roster,
            .oversized, .messageBounced, .receipt, .displayed, .carbon, .invitation, .room, .blockList, .interrupted,
            .notResumed, .disconnected:
            break
        }
        tell(intake.note(event, EventDocument.documents(event, self)))
    }

    /// Tells those who listen what came without a message.
    nonisolated func tell(_ events: [JSONObject]) {
        guard !events.isEmpty else { return }
        intake.tell(events)
    }

    // MARK: Requests for a subscription

    /// Notes who asked when the daemon ran last, and has no answer.
    private func restoreRequests(from store: AccountStore) async {
        do throws(StorageError) {
            notes.restore(try await store.requests.requests(of: jid))
        } catch {
            say("who asks for a subscription cannot be read: \(error.message)")
        }
    }

    /// Somebody who asked for a subscription has an answer.
    func answered(_ jid: JID) async {
        notes.answered(jid)
        await changeRequests { (requests) throws(StorageError) in try await requests.remove(jid, of: self.jid) }
    }

    /// The server is about to tell of all who wait for an answer (RFC 6121 §3.1.3): who was answered elsewhere does not
    /// any more.
    func forgetRequests() async {
        notes.forgetRequests()
        await changeRequests { (requests) throws(StorageError) in try await requests.removeAll(of: self.jid) }
    }

    private func changeRequests(_ change: (KeptRequests) async throws(StorageError) -> Void) async {
        guard let store else { return }
        do throws(StorageError) {
            try await change(store.requests)
        } catch {
            say("who asks for a subscription cannot be noted: \(error.message)")
        }
    }

    // MARK: Sending

    /// Sends what waits, now or when the session is connected again.
    func sendWaiting() {
        hasNewToSend = true
        guard sender == nil else { return }
        sender = Task { await sendAll() }
    }

    private func sendAll() async {
        while hasNewToSend, !isClosed, let store, let stream, holding?.status.phase == .connected {
            hasNewToSend = false
            do throws(XMPPError) {
                _ = try await stream.sendWaiting(in: store.outbox)
                store.news.raise()
                // Asks the server how far it is; nobody has to wait for the answer here.
                Task {
                    _ = try? await stream.waitUntilHandled()
                    store.news.raise()
                }
            } catch {
                store.news.raise()
                // A connection that is lost comes back, and then this is begun anew.
                guard error.code == .storageFailed, await stream.isEstablished else { continue }
                say(error.message)
                await Race.pause(Self.sendingRetryDelay)
                hasNewToSend = true
            }
        }
        sender = nil
    }
}
