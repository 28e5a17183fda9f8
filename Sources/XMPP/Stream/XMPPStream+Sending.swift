// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
public import XMPPCore
internal import XMPPCrypto
internal import XMPPProtocol
public import XMPPXML

extension XMPPStream {
    /// How many bytes may wait for the network before senders wait; 1 MiB.
    static let maximumPendingBytes = 1_048_576

    /// How long an orderly end waits for what is being handled and kept; 2 s.
    static let maximumFarewell: Duration = .seconds(2)

    /// How many bytes may wait for the network in all before the connection is given up; 8 MiB.
    static let maximumUnwrittenBytes = 8 * 1_048_576

    /// Sends a message.
    ///
    /// A message without an id gets an unguessable one. Returning means that the bytes are on their way, not that
    /// anybody has them: see ``waitUntilHandled()``. Waits while the network does not keep up, while something to the
    /// same addressee is still to be sent again that an earlier session has left, or until the task is cancelled.
    ///
    /// - Returns: The message as it was sent.
    /// - Throws: ``XMPPError`` with ``XMPPError/Code/notConnected``, ``XMPPError/Code/invalidStanza`` for a character
    ///   that XML cannot hold, ``XMPPError/Code/tooLarge``, or ``XMPPError/Code/cancelled``; nothing has been sent
    ///   then.
    @discardableResult
    public func send(_ message: Message) async throws(XMPPError) -> Message {
        var message = message
        message.id = message.id ?? newStanzaID()
        // Before it is written: the receipt may be here before this task goes on.
        if let id = message.id, let to = message.to { sentMessages.sent(id: id, to: to) }
        if let to = message.to { try await waitForRepeats(to: to) }
        try await write(message.element)
        return message
    }

    /// Waits while something to an addressee is still to be sent again: what is newer does not overtake it.
    private func waitForRepeats(to addressee: JID) async throws(XMPPError) {
        while isEstablished, !unsettled.isEmpty {
            let isAwaited = unsettled.contains { pending in
                pending.element["to"].flatMap { try? JID($0) }?.bare == addressee.bare
            }
            guard isAwaited else { return }
            try await wait(for: .room).get()
        }
    }

    /// Answers a message, of the same type and in the same thread (``XMPPCore/Message/reply(_:)``).
    ///
    /// The answer goes to the client that wrote. Once that is known to have gone, it goes to the bare address, and the
    /// server chooses among the clients that are left (RFC 6121 §5.1).
    ///
    /// - Returns: The message as it was sent.
    /// - Throws: ``XMPPError`` as ``send(_:)-(Message)``.
    @discardableResult
    public func reply(_ body: String, to message: Message) async throws(XMPPError) -> Message {
        var answer = message.reply(body)
        if let to = answer.to, isKnownToBeGone(to) { answer.to = to.bare }
        return try await send(answer)
    }

    /// Whether a client is one whose presence would be seen, and is not. Those in rooms have no other address.
    private func isKnownToBeGone(_ jid: JID) -> Bool {
        guard jid.isFull, rooms[jid] == nil, tracker.contact(jid)?.subscription.includesTo == true else { return false }
        return tracker.presence(of: jid) == nil
    }

    /// A new id for a stanza, which nobody can guess: for who has to know it before the stanza is sent.
    package nonisolated func newStanzaID() -> String { configuration.newStanzaID() }

    /// Sends a presence stanza; as ``send(_:)-(Message)`` otherwise.
    public func send(_ presence: Presence) async throws(XMPPError) {
        var presence = presence
        if presence.to == nil, presence.kind == .available { presence = withCapabilities(presence) }
        try await write(presence.element)
    }

    /// Sends a first-level element as it is. For what has no method of its own; a request's answer is lost this way.
    public func send(_ element: Element) async throws(XMPPError) {
        try await write(element)
    }

    /// Waits until the server has handled everything sent so far: it has acknowledged it (XEP-0198), or, where Stream
    /// Management is off or not on yet, answered a ping sent behind it. Cancelling the task ends the waiting.
    ///
    /// When the connection is lost and the session resumed, the wait goes on.
    ///
    /// - Throws: ``XMPPError`` when the session ends before, or with ``XMPPError/Code/cancelled``: what was sent may or
    ///   may not have arrived.
    public func waitUntilHandled() async throws(XMPPError) {
        guard isEstablished else { throw disconnection ?? .notConnected }
        guard machine.management.isOn else {
            try await ping()
            return
        }
        var known: Int
        repeat {
            // What is in doubt is sent anew, or was handled.
            while isInDoubt, isSessionAlive { try await wait(for: .room).get() }
            known = doubts
            try await waitForAcknowledgement()
        } while known != doubts
    }

    /// Waits until the server has acknowledged everything that counts now, or until it is known that this will not
    /// come.
    private func waitForAcknowledgement() async throws(XMPPError) {
        guard machine.management.unacknowledged > 0 else { return }
        let sent = machine.management.sent
        perform(machine.burstSent())
        endTurn()
        // Writing may have ended the stream.
        guard isEstablished else { throw disconnection ?? .notConnected }
        try await wait(for: .handled(sent)).get()
    }

    /// Ends the stream: says goodbye, waits for the server's end for at most 5 seconds, closes. Returns when that is
    /// done. What was sent before goes out first. A stream that is still connecting is abandoned.
    public func disconnect() async {
        switch phase {
        case .fresh:
            phase = .ended(nil)
            if ownsHub { hub.finish() }
        case .ended:
            break
        case .interrupted(let error):
            // Nobody can be told: the server ends the session by itself.
            finish(error)
        case .connecting, .registering, .established:
            isDisconnecting = true
            connecting?.cancel()
            endRace()
            // The last word on what arrived is to count what is being kept.
            if hasSession, keeping != nil { await settle(atMost: Self.maximumFarewell) }
            perform(machine.close())
            endTurn()
            if case .ended = phase { return }
            // Not called off with the task: whoever says goodbye means it.
            _ = await wait(for: .end, heedsCancellation: false)
        }
    }

    /// Waits until the stream is over, also for one that has not been connected yet. Cancelling the task ends the
    /// waiting, not the stream.
    ///
    /// - Returns: Why it ended; `nil` when this side closed it, or when the task was cancelled before the end.
    @discardableResult
    public func waitUntilEnded() async -> XMPPError? {
        if case .ended = phase { return disconnection }
        _ = await wait(for: .end)
        return disconnection
    }

    /// Connects, does some work, and ends the session whatever comes of it.
    ///
    /// ```swift
    /// try await XMPPStream.withSession(configuration) { stream in
    ///     try await stream.send(Message(to: romeo, body: "hello"))
    ///     try await stream.waitUntilHandled()
    /// }
    /// ```
    ///
    /// - Returns: What the work returns.
    /// - Throws: ``XMPPError`` when no session can be had, or what the work throws.
    public static func withSession<Outcome: Sendable>(
        _ configuration: XMPPConfiguration, _ work: (XMPPStream) async throws -> Outcome
    ) async throws -> Outcome {
        let stream = XMPPStream(configuration)
        do {
            try await stream.connect()
            let outcome = try await work(stream)
            await stream.disconnect()
            return outcome
        } catch {
            await stream.disconnect()
            throw error
        }
    }

    /// Serialises and sends. The stanza is checked as a whole before a byte of it is written.
    func write(_ element: Element) async throws(XMPPError) {
        guard isEstablished else { throw disconnection ?? .notConnected }
        let bytes: [UInt8]
        do {
            bytes = try framing.serialize(element)
        } catch {
            throw XMPPError(.invalidStanza, "The stanza cannot be sent: \(error).")
        }
        // XEP-0478: a larger one would cost the stream.
        if let maximum = maximumOutgoingBytes, bytes.count > maximum {
            throw XMPPError(
                .tooLarge, "The stanza has \(bytes.count) bytes; the server takes at most \(maximum).",
                stanzaError: StanzaError(.policyViolation, kind: .modify))
        }
        try await waitForRoom()
        guard isEstablished else { throw disconnection ?? .notConnected }
        if isKept(element) { return try await keepAndWrite(element, bytes) }
        write(element, bytes, at: .now)
        endTurn()
    }

    /// Writes what was serialised, and counts it.
    func write(_ element: Element, _ bytes: [UInt8], at time: DateTime) {
        if isLogging(.wire) { log(.wire, "sent \(WireLog.describe(element))") }
        outgoingStanzas += 1
        enqueue(bytes)
        perform(machine.wrote(element, bytes: bytes.count, at: time))
        if machine.management.unacknowledged >= StreamManagement.maximumUnacknowledged / 2
            || machine.management.unacknowledgedBytes >= StreamManagement.maximumUnacknowledgedBytes / 2
        {
            perform(machine.burstSent())
        }
    }

    /// Waits while too much is on its way: bytes that the network has not taken, or stanzas not acknowledged.
    private func waitForRoom() async throws(XMPPError) {
        while isEstablished, isCongested {
            perform(machine.burstSent())
            endTurn()
            // Writing may have ended the stream.
            guard isEstablished else { return }
            try await wait(for: .room).get()
        }
    }

    private var isCongested: Bool {
        (transport?.pendingBytes ?? 0) > Self.maximumPendingBytes
            || machine.management.unacknowledged &+ (keeping?.sendingCount ?? 0)
                >= StreamManagement.maximumUnacknowledged
            || machine.management.unacknowledgedBytes >= StreamManagement.maximumUnacknowledgedBytes
    }
}
