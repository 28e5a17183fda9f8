// SPDX-License-Identifier: Apache-2.0

package import SocketIO

/// The calling end of one control connection: calls methods, receives their events.
///
/// Nothing is queued here: an event is handed to its call on the executor's queue, and while that call works on it
/// nothing more is read, so that the daemon sees a slow reader as one.
package actor ControlCaller {
    private struct Call {
        let continuation: CheckedContinuation<Result<JSONValue, ControlError>, Never>
        let onEvent: (@Sendable (JSONValue) -> Bool)?
    }

    private let executor: StreamExecutor
    private let connection: ControlConnection
    private var isStarted = false
    private var greeting: ControlGreeting?
    private var failure: ControlError?
    private var greetingWaiters: [CheckedContinuation<Void, Never>] = []
    private var closeWaiters: [CheckedContinuation<Void, Never>] = []
    private var isClosed = false
    private var isCut = false
    private var calls: [ControlID: Call] = [:]
    private var lastID: Int64 = 0

    /// Makes a client; nothing is read before the first call.
    package init(over transport: any ByteTransport) {
        executor = transport.executor
        connection = ControlConnection(over: transport, takesPieces: true)
    }

    /// The executor of the transport, so that its events enter without a hop.
    nonisolated package var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// Waits for the daemon's greeting.
    ///
    /// - Throws: `ControlError` when the connection ends first, or after ``fail(_:)``.
    package func hello() async throws(ControlError) -> ControlGreeting {
        start()
        if greeting == nil && failure == nil { await withCheckedContinuation { greetingWaiters.append($0) } }
        if let failure { throw failure }
        guard let greeting else { throw ControlError(.internalError, "the daemon did not greet") }
        return greeting
    }

    /// Calls a method and waits for its answer. Waits for as long as it takes: see ``fail(_:)``.
    ///
    /// - Parameters:
    ///   - method: The command's name, such as `roster.add`.
    ///   - params: The parameters by name.
    ///   - onEvent: Called on the executor's queue with each event of this call; `false` ends the call, whose answer is
    ///     then `null`.
    /// - Throws: `ControlError`: the daemon's answer, or the end of the connection; `cancelled` when the task was: the
    ///   daemon is told to end the call then.
    package func call(
        _ method: String, _ params: JSONObject = [:], onEvent: (@Sendable (JSONValue) -> Bool)? = nil
    ) async throws(ControlError) -> JSONValue {
        start()
        if let failure { throw failure }
        lastID += 1
        let id = ControlID.number(lastID)
        do throws(ControlFrameError) {
            // It would not be sent, and its answer waited for until time is up.
            _ = try ControlFrame.encode(.request(ControlRequest(id: id, method: method, params: params)))
        } catch {
            throw error.controlError
        }
        guard !Task.isCancelled else { throw Self.cancelled }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                calls[id] = Call(continuation: continuation, onEvent: onEvent)
                connection.send(.request(ControlRequest(id: id, method: method, params: params)))
            }
        } onCancel: {
            Task { await self.cancel(id) }
        }
        return try result.get()
    }

    private static let cancelled = ControlError(.cancelled, "the call was cancelled")

    private func cancel(_ id: ControlID) {
        guard let call = calls.removeValue(forKey: id) else { return }
        connection.send(.notification(.cancel(id)))
        call.continuation.resume(returning: .failure(Self.cancelled))
    }

    /// Reads nothing more until ``resumeReading()``: the daemon sees a slow reader. What was read already still comes.
    nonisolated package func pauseReading() {
        connection.setReading(false)
    }

    /// Reads on.
    nonisolated package func resumeReading() {
        connection.setReading(true)
    }

    /// Whether nothing can be called any more.
    package var isOver: Bool { failure != nil || isClosed }

    /// Ends every call, running or to come, with an error: time is up, or the user pressed Ctrl-C.
    package func fail(_ error: ControlError) {
        guard failure == nil else { return }
        failure = error
        for id in calls.keys { connection.send(.notification(.cancel(id))) }
        let waiting = calls.values
        calls = [:]
        for call in waiting { call.continuation.resume(returning: .failure(error)) }
        for waiter in greetingWaiters { waiter.resume() }
        greetingWaiters = []
    }

    /// Closes the connection in good order and waits until it is gone.
    ///
    /// - Parameter limit: How long the daemon may take to let go of its end; after that the connection is cut.
    /// - Returns: Whether the daemon let go in time.
    @discardableResult
    package func close(within limit: Duration = .seconds(5)) async -> Bool {
        start()
        connection.close()
        guard !isClosed else { return true }
        let timer = SystemClock().schedule(after: limit, on: executor) { [weak self] in
            self?.assumeIsolated { $0.cut() }
        }
        await withCheckedContinuation { closeWaiters.append($0) }
        timer.cancel()
        return !isCut
    }

    private func cut() {
        guard !isClosed else { return }
        isCut = true
        connection.abort()
        letGo()
    }

    private func letGo() {
        isClosed = true
        for waiter in closeWaiters { waiter.resume() }
        closeWaiters = []
    }

    private func start() {
        guard !isStarted else { return }
        isStarted = true
        connection.start { [weak self] event in
            self?.assumeIsolated { $0.received(event) }
        }
    }

    private func received(_ event: ControlConnection.Event) {
        switch event {
        case .message(.notification(let notification)):
            received(notification)
        case .message(.response(let response)):
            guard let id = response.id, let call = calls.removeValue(forKey: id) else { return }
            call.continuation.resume(returning: response.result)
        case .message(.request):
            break
        case .malformed(let error):
            fail(ControlError(.internalError, "the daemon broke the control protocol: \(error.controlError.message)"))
            connection.close()
        case .closed:
            fail(ControlError(.daemonEnded, "the daemon ended before it answered"))
            letGo()
        }
    }

    private func received(_ notification: ControlNotification) {
        switch notification.method {
        case "hello" where greeting == nil:
            greeting = ControlGreeting(notification)
            guard greeting != nil else { return fail(ControlError(.internalError, "the daemon's greeting is strange")) }
            for waiter in greetingWaiters { waiter.resume() }
            greetingWaiters = []
        case "event":
            guard let id = ControlID(json: notification.params["request"]), let call = calls[id],
                let event = notification.params["event"], let onEvent = call.onEvent
            else { return }
            guard onEvent(event) else {
                calls[id] = nil
                connection.send(.notification(.cancel(id)))
                return call.continuation.resume(returning: .success(.null))
            }
        case "goodbye":
            fail(ControlError(json: notification.params["error"]?.objectValue ?? [:]))
        default:
            break
        }
    }
}
