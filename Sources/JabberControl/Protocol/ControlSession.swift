// SPDX-License-Identifier: Apache-2.0

package import SocketIO

/// What answers requests: the daemon's methods.
package protocol ControlService: Sendable {
    /// Answers one request. Runs in a task of its own, which is cancelled when the client cancels the request or goes.
    ///
    /// A method whose answer is a stream of events sends them with ``ControlSession/notify(_:of:)`` and returns when
    /// its task is cancelled.
    func respond(to request: ControlRequest, in session: ControlSession) async throws(ControlError) -> JSONValue
}

/// The daemon's end of one control connection: greets, runs a task for each request, answers.
package actor ControlSession {
    /// How many requests of one client may run at a time: 64.
    package static let maximumRequests = 64

    private let executor: StreamExecutor
    private let connection: ControlConnection
    private let greeting: ControlGreeting
    private let service: any ControlService
    private var running: [ControlID: Task<Void, Never>] = [:]
    private var afterwards: [ControlID: @Sendable () -> Void] = [:]
    private let spoken = Locked(false)
    private var waiter: CheckedContinuation<Void, Never>?
    private var hasEnded = false

    /// Makes a session; nothing is sent before ``run()``.
    package init(over transport: any ByteTransport, greeting: ControlGreeting, service: any ControlService) {
        executor = transport.executor
        connection = ControlConnection(over: transport)
        self.greeting = greeting
        self.service = service
    }

    /// The executor of the transport, so that its events enter without a hop.
    nonisolated package var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// Serves the client until it has gone; its requests are cancelled and have ended when this returns. Called once.
    package func run() async {
        // Queued before the first event can be, so that the greeting is the first line even when a request is here
        // already.
        connection.send(.notification(greeting.notification))
        connection.start { [weak self] event in
            self?.assumeIsolated { $0.received(event) }
        }
        if !hasEnded { await withCheckedContinuation { waiter = $0 } }
        for task in running.values { await task.value }
    }

    /// Whether the client has made a request yet; from any thread.
    nonisolated package var hasSpoken: Bool { spoken.withLock { $0 } }

    /// Does something as soon as a running request was answered, once: what ends the connection must not overtake the
    /// answer.
    package func whenAnswered(_ id: ControlID, _ action: @escaping @Sendable () -> Void) {
        guard running[id] != nil else { return action() }
        afterwards[id] = action
    }

    /// Sends an event of a running request; from any thread, in order.
    nonisolated package func notify(_ event: JSONValue, of request: ControlID) {
        connection.send(.notification(.event(event, of: request)))
    }

    /// Waits until the client has read most of what was sent before.
    ///
    /// - Returns: Whether it is still there.
    nonisolated package func waitForRoom() async -> Bool {
        await connection.waitForRoom()
    }

    /// Whether the client reads as fast as it is written to; from any thread.
    nonisolated package var hasRoom: Bool { connection.hasRoom }

    /// Says why, writes what is queued, closes.
    nonisolated package func close(saying error: ControlError? = nil) {
        connection.close(saying: error)
    }

    private func received(_ event: ControlConnection.Event) {
        switch event {
        case .message(.request(let request)):
            spoken.withLock { $0 = true }
            begin(request)
        case .message(.notification(let notification)):
            if notification.method == "cancel", let id = ControlID(json: notification.params["request"]) {
                running[id]?.cancel()
            }
        case .message(.response):
            break
        case .malformed(let error):
            connection.send(.response(ControlResponse(id: error.id, result: .failure(error.controlError))))
            connection.close()
        case .closed:
            hasEnded = true
            for task in running.values { task.cancel() }
            waiter?.resume()
            waiter = nil
        }
    }

    private func begin(_ request: ControlRequest) {
        guard running[request.id] == nil else {
            return refuse(request, ControlError(.badRequest, "a request with this id is running"))
        }
        guard running.count < Self.maximumRequests else {
            return refuse(request, ControlError(.temporary, "more than \(Self.maximumRequests) requests at a time"))
        }
        running[request.id] = Task {
            let result: Result<JSONValue, ControlError>
            do throws(ControlError) {
                result = .success(try await service.respond(to: request, in: self))
            } catch {
                result = .failure(error)
            }
            finish(request.id, result)
        }
    }

    private func finish(_ id: ControlID, _ result: Result<JSONValue, ControlError>) {
        running[id] = nil
        connection.send(.response(ControlResponse(id: id, result: result)))
        afterwards.removeValue(forKey: id)?()
    }

    private func refuse(_ request: ControlRequest, _ error: ControlError) {
        connection.send(.response(ControlResponse(id: request.id, result: .failure(error))))
    }
}
