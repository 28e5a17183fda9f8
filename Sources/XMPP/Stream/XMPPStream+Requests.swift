// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
public import XMPPCore
internal import XMPPCrypto
internal import XMPPProtocol
internal import XMPPXML

extension XMPPStream {
    /// Sends a request and waits for its answer.
    ///
    /// The id is replaced by an unguessable one; only an answer with that id from the address asked counts
    /// (RFC 6120 §8.1.2.1). Cancelling the task stops the waiting; the request has been sent all the same.
    ///
    /// - Parameters:
    ///   - request: An IQ of type `get` or `set`.
    ///   - timeout: How long to wait; default 30 s.
    /// - Returns: The answer of type `result`.
    /// - Throws: ``XMPPError`` with ``XMPPError/Code/stanzaError`` when the answer is an error,
    ///   ``XMPPError/Code/timedOut``, ``XMPPError/Code/cancelled``, or what ended the session. When the connection is
    ///   lost and the session resumed, the request goes on waiting.
    @discardableResult
    public func request(_ request: IQ, timeout: Duration = .seconds(30)) async throws(XMPPError) -> IQ {
        let id = try await ask(request)
        return try await answer(to: id, asked: request.to, timeout: timeout)
    }

    /// Sends a request and waits for an answer with this payload.
    ///
    /// - Throws: ``XMPPError`` as ``request(_:timeout:)``; with ``XMPPError/Code/stanzaError`` and
    ///   `undefined-condition` when the answer is a result without the payload.
    public func request<Payload: StanzaPayload>(
        _ request: IQ, expecting type: Payload.Type, timeout: Duration = .seconds(30)
    ) async throws(XMPPError) -> Payload {
        let answer = try await self.request(request, timeout: timeout)
        guard let payload = answer.payload(type) else {
            let name = Payload.elementName.localName
            throw XMPPError(
                StanzaError(.undefinedCondition, kind: .cancel, text: "the answer has no usable <\(name)/>"),
                from: request.to)
        }
        return payload
    }

    /// Sends a request without waiting, so that more can go out in the same flight.
    ///
    /// - Parameters:
    ///   - request: An IQ of type `get` or `set`.
    ///   - id: An id that nobody can guess; made up unless said otherwise.
    /// - Returns: The id to pass to ``answer(to:asked:timeout:)``.
    func ask(_ request: IQ, id: String? = nil) async throws(XMPPError) -> String {
        guard request.kind.isRequest else {
            throw XMPPError(.invalidStanza, "An IQ of type \(request.kind.rawValue) is an answer, not a request.")
        }
        var request = request
        let id = id ?? newStanzaID()
        request.id = id
        guard isEstablished else { throw disconnection ?? .notConnected }
        guard requests.sending(id: id, to: request.to) else {
            throw XMPPError(.overflow, "Too many requests wait for an answer; try again later.")
        }
        // Before it is written: the answer may be here before this task goes on.
        unawaited.insert(id)
        do {
            try await write(request.element)
        } catch {
            requests.forget(id: id)
            abandon(id)
            throw error
        }
        return id
    }

    /// Waits for the answer to a request that was sent.
    func answer(to id: String, asked: JID?, timeout: Duration = .seconds(30)) async throws(XMPPError) -> IQ {
        unawaited.remove(id)
        if let early = earlyAnswers.removeValue(forKey: id) { return try early.get() }
        return try await wait(for: id, asked: asked, timeout: timeout).get()
    }

    private func wait(for id: String, asked: JID?, timeout: Duration) async -> Result<IQ, XMPPError> {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // The stream may have ended, or the answer come, while the request was written.
                guard isSessionAlive || isRegistering, requests.isOpen(id: id) else {
                    requests.forget(id: id)
                    continuation.resume(returning: .failure(disconnection ?? .notConnected))
                    return
                }
                let timer = configuration.clock.schedule(after: timeout, on: executor) { [weak self] in
                    self?.assumeIsolated { $0.gaveUp(id, asked, after: timeout) }
                }
                waiters[id] = IQWaiter(to: asked, continuation: continuation, timer: timer)
                if Task.isCancelled { cancelled(id) }
            }
        } onCancel: {
            Task { await self.cancelled(id) }
        }
    }

    /// Nobody will wait for the answer to a request that was sent; the stream still takes from it what concerns itself.
    func abandon(_ id: String) {
        unawaited.remove(id)
        earlyAnswers[id] = nil
    }

    private func gaveUp(_ id: String, _ asked: JID?, after timeout: Duration) {
        let who = asked.map(\.description) ?? "The server"
        requests.forget(id: id)
        resolve(id, .failure(XMPPError(.timedOut, "\(who) did not answer within \(timeout.spoken).")))
    }

    private func cancelled(_ id: String) {
        requests.forget(id: id)
        resolve(id, .failure(XMPPError(.cancelled, "The request was called off.")))
    }

    /// Hands an outcome to whoever waits for it.
    func resolve(_ id: String, _ outcome: Result<IQ, XMPPError>) {
        guard let waiter = waiters.removeValue(forKey: id) else {
            // It may have come before its asker began to wait.
            if unawaited.contains(id) { earlyAnswers[id] = outcome }
            return
        }
        waiter.timer.cancel()
        waiter.continuation.resume(returning: outcome)
    }
}
