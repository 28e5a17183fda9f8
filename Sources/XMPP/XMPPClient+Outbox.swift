// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
public import XMPPCore
public import XMPPProtocol

extension XMPPClient {
    /// How long after a failure of the outbox what waits in it is tried again.
    private static let outboxRetryDelay: Duration = .seconds(5)

    /// Puts a message into ``outbox``, and sends it as soon as there is a session: now, or when the client comes
    /// online.
    ///
    /// ```swift
    /// let entry = try await client.post(Message(to: romeo, body: "Good night, good night!"))
    /// let end = try await client.waitUntil(.device, of: entry, timeout: .seconds(60))
    /// if end.state == .failed { print(end.reason ?? "it did not arrive") }
    /// ```
    ///
    /// A message without an id gets an unguessable one. The same id to the same addressee again is no second message.
    ///
    /// A message to a room (type `groupchat`) waits until the user is there, and has arrived when the room sends it
    /// back. When that is not known of it as the user comes in again, it goes a second time only after the room, by its
    /// past or its archive, has shown that it lacks it; where the room shows neither, the message stays
    /// `OutboxEntry.isUncertain`.
    ///
    /// - Parameters:
    ///   - message: The message, with an addressee. Ask for a receipt (`requestsReceipt`, `isMarkable`) to learn more
    ///     than that the server has it.
    ///   - expires: When it is not worth sending any more; `nil` for never.
    /// - Returns: How it is kept: as before where the id and the addressee are known.
    /// - Throws: ``XMPPError`` with ``XMPPError/Code/storageFailed`` when the outbox cannot take it, or with
    ///   ``XMPPError/Code/invalidStanza`` when it has no addressee; nothing is sent then.
    @discardableResult
    public func post(_ message: Message, expires: DateTime? = nil) async throws(XMPPError) -> OutboxEntry {
        guard message.to != nil else { throw XMPPError(.invalidStanza, "The message has no addressee.") }
        var message = message
        message.name(configuration.newStanzaID())
        useOutbox()
        let account = configuration.jid.bare
        let entry = try await inOutbox { [message] in
            try await $0.add(message, of: account, expires: expires)
        }
        sendPosted()
        return entry
    }

    /// Waits until a message of ``outbox`` has come as far as this, or will come no further. Cancelling the task ends
    /// the waiting, not the message.
    ///
    /// - Parameters:
    ///   - level: How far: `DeliveryState.server`, `DeliveryState.device` or `DeliveryState.read` as a rule.
    ///   - entry: The message, as ``post(_:expires:)`` has returned it.
    ///   - timeout: How long to wait; `nil` for as long as it takes.
    /// - Returns: What is known of it then. Its state is `DeliveryState.failed` or `DeliveryState.expired` when it will
    ///   come no further as far as anybody knows; a receipt that comes later overrules a failure.
    /// - Throws: ``XMPPError`` with ``XMPPError/Code/timedOut``, ``XMPPError/Code/cancelled``, or
    ///   ``XMPPError/Code/storageFailed`` when the outbox fails or does not know the message any more.
    public func waitUntil(
        _ level: DeliveryState, of entry: OutboxEntry, timeout: Duration? = nil
    ) async throws(XMPPError) -> OutboxEntry {
        useOutbox()
        return try await watch.waitUntil(level, of: entry, timeout: timeout)
    }

    /// Waits for messages of ``outbox``.
    private var watch: OutboxWatch {
        OutboxWatch(outbox, of: configuration.jid, clock: configuration.clock)
    }

    /// Calls off a message that still waits in ``outbox``. What is being sent at that time is waited for.
    ///
    /// - Returns: What is known of it then: `DeliveryState.failed` when it was called off, and else how far it has
    ///   come.
    /// - Throws: ``XMPPError`` with ``XMPPError/Code/storageFailed`` when the outbox fails or does not know the message
    ///   any more.
    public func cancel(_ entry: OutboxEntry) async throws(XMPPError) -> OutboxEntry {
        let before = outboxRun
        let run = Task { () -> Result<Int, XMPPError> in
            _ = await before?.value
            return await self.cancelNow(entry)
        }
        // Nobody takes messages out meanwhile: what is called off is not on its way.
        outboxRun = run
        _ = try await run.value.get()
        return try await watch.present(entry)
    }

    private func cancelNow(_ entry: OutboxEntry) async -> Result<Int, XMPPError> {
        do throws(XMPPError) {
            let known = try await watch.present(entry)
            guard known.state == .queued, let key = known.key else { return .success(0) }
            try await note(.failed, key, because: "It was called off before it was sent.")
            return .success(1)
        } catch {
            return .failure(error)
        }
    }

    /// Sends what waits in an outbox, in order; returns when nothing waits any more. To be called when the client has
    /// come online, and whenever something was added; for ``outbox`` the client does so itself. Calls that come
    /// together follow one another, so nothing is sent twice.
    ///
    /// With a `StreamStateStore` that keeps every step in the same database, a message is noted as sent in the
    /// transaction that keeps it for resumption: a program that is killed at any moment sends it once. Otherwise it is
    /// noted when the server has handled it, portion by portion, and a program that is killed in between sends the
    /// portion twice.
    ///
    /// A message that cannot be sent as it is (``XMPPError/Code/invalidStanza``, ``XMPPError/Code/tooLarge``) is noted
    /// as failed and passed over. Cancelling the task does not call it off.
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
        // In a new session, what the one before has left comes first.
        guard case .online = state, let stream else { return .failure(.notConnected) }
        let outcome: Result<Int, XMPPError>
        do throws(XMPPError) {
            try await noteRepeated(on: stream)
            outcome = .success(try await stream.sendWaiting(in: outbox))
        } catch {
            outcome = .failure(error)
        }
        let doubtful = await stream.takeDoubtful()
        repeated += doubtful.map { (outbox: outbox, key: $0) }
        return outcome
    }

    /// What was on its way when a connection was lost has gone again in the meantime, on the session that goes on or in
    /// a new one: when the server has handled that, it has them.
    private func noteRepeated(on stream: XMPPStream) async throws(XMPPError) {
        guard !repeated.isEmpty else { return }
        try await stream.waitUntilHandled()
        let account = configuration.jid.bare
        while let (outbox, key) = repeated.first {
            do {
                try await outbox.note(.server, of: key.id, to: key.recipient, of: account, because: nil)
            } catch {
                throw XMPPError(.storageFailed, "The outbox fails: \(error).")
            }
            repeated.removeFirst()
        }
    }

    /// From now on what is said of messages is noted in ``outbox``.
    func useOutbox() {
        guard !usesOutbox else { return }
        usesOutbox = true
        hub.add(marks, roles: [.message, .room])
    }

    /// What the present session has to know of ``outbox`` before it enters rooms again.
    var usedOutbox: (any Outbox)? { usesOutbox ? outbox : nil }

    /// Sends what waits in ``outbox``, now or when the client is online again. Nobody waits for that.
    func sendPosted() {
        guard usesOutbox, case .online = state else { return }
        Task { [weak self] in await self?.sendPostedNow() }
    }

    private func sendPostedNow() async {
        do throws(XMPPError) {
            try await sendWaiting(in: outbox)
        } catch {
            // A connection that is lost comes back, and then this is begun anew.
            guard error.code == .storageFailed else { return }
            _ = configuration.clock.schedule(after: Self.outboxRetryDelay, on: executor) { [weak self] in
                Task { [weak self] in await self?.sendPosted() }
            }
        }
    }

    /// Lets a new stream recognise receipts for what earlier ones have sent, those of an earlier run of the program
    /// included.
    func rememberSent(on stream: XMPPStream) async {
        if let sentMessages { await stream.remember(sentMessages) }
        guard usesOutbox else { return }
        let account = configuration.jid.bare
        let keys = try? await outbox.latest(of: account, limit: SentMessages.maximumCount)
        await stream.remember((keys ?? []).reversed())
    }

    private func note(_ state: DeliveryState, _ key: OutboxKey, because reason: String?) async throws(XMPPError) {
        let account = configuration.jid.bare
        _ = try await inOutbox {
            try await $0.note(state, of: key.id, to: key.recipient, of: account, because: reason)
        }
    }

    private func inOutbox<Value: Sendable>(
        _ body: @Sendable (any Outbox) async throws -> Value
    ) async throws(XMPPError) -> Value {
        try await watch.ask(body)
    }
}
