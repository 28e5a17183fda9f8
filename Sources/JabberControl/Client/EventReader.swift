// SPDX-License-Identifier: Apache-2.0

internal import SocketIO

/// Listens for one iteration over events: takes them in, over lost connections, and notes how far its consumer has
/// come.
final class EventReader: Sendable {
    /// After how many events at the latest it is noted how far the consumer has come; 64.
    static let maximumUnnoted = 64
    /// The first wait before another connection, and the longest.
    static let pauses = (first: Duration.milliseconds(100), longest: Duration.seconds(5))

    private struct State {
        var pump: Task<Void, Never>?
        /// The event that was handed over last, which is dealt with when the next one is asked for.
        var handedOver: ControlEvent?
        /// What is dealt with and not noted: how many events, and the last of them.
        var unnoted = 0
        var dealtWith: ControlEvent?
    }

    private let order: ControlEvents
    private let inbox = EventInbox()
    private let state = Locked(State())

    init(_ order: ControlEvents) { self.order = order }

    deinit {
        let pump = state.withLock { $0.pump }
        pump?.cancel()
    }

    /// The next event, waiting for it; `nil` when the task is cancelled.
    func next() async throws(ControlError) -> ControlEvent? {
        let (order, inbox) = (order, inbox)
        state.withLock { state in
            if state.pump == nil { state.pump = Task { await Self.listen(order, inbox) } }
        }
        try await noteProgress()
        let event: ControlEvent?
        do throws(ControlError) {
            event = try await Self.take(inbox)
        } catch {
            state.withLock { $0.pump }?.cancel()
            throw error
        }
        state.withLock { $0.handedOver = event }
        return event
    }

    private static func take(_ inbox: EventInbox) async throws(ControlError) -> ControlEvent? {
        let result: Result<ControlEvent?, ControlError> = await withTaskCancellationHandler {
            do throws(ControlError) {
                return .success(try await inbox.next())
            } catch {
                return .failure(error)
            }
        } onCancel: {
            inbox.finish()
        }
        return try result.get()
    }

    /// The event that was handed over is dealt with: it is noted, when no other waits or there were many.
    private func noteProgress() async throws(ControlError) {
        guard let consumer = order.consumer, order.isAutomatic else { return }
        let last = state.withLock { state -> ControlEvent? in
            if let event = state.handedOver, event.cursor != nil {
                state.unnoted += 1
                state.dealtWith = event
            }
            state.handedOver = nil
            return state.unnoted >= Self.maximumUnnoted || inbox.isEmpty ? state.dealtWith : nil
        }
        guard let last else { return }
        do throws(ControlError) {
            try await order.client.acknowledge(last, by: consumer)
        } catch {
            // A daemon that is away just now hears it with a later event.
            guard error.retry || error.code == .daemonNotRunning else { throw error }
            return
        }
        state.withLock { state in
            state.unnoted = 0
            state.dealtWith = nil
        }
    }

    // MARK: Taking in

    private static func listen(_ order: ControlEvents, _ inbox: EventInbox) async {
        let start = Moment.now()
        var hasBegun = false
        var pause = pauses.first
        while !Task.isCancelled {
            do throws(ControlError) {
                try await connection(order, inbox, since: place(order, inbox, start: hasBegun ? start : nil)) {
                    hasBegun = true
                    pause = pauses.first
                }
                break
            } catch {
                // A daemon that was there comes back; one that was not there is nobody to wait for.
                guard error.retry || hasBegun && error.code == .daemonNotRunning else { return inbox.finish(error) }
            }
            try? await Task.sleep(for: pause)
            pause = min(pause * 2, pauses.longest)
        }
        inbox.finish()
    }

    /// Where to begin: after what has been taken in, or where it was asked for, or where it first began.
    private static func place(_ order: ControlEvents, _ inbox: EventInbox, start: String?) -> String? {
        inbox.lastCursor ?? order.place ?? (order.consumer == nil ? start : nil)
    }

    /// Takes events in over one connection, until it ends.
    private static func connection(
        _ order: ControlEvents, _ inbox: EventInbox, since place: String?, _ begun: () -> Void
    ) async throws(ControlError) {
        let caller = try await ControlClient.open(order.client.socket).get().caller
        begun()
        var parameters = order.parameters
        if let place { parameters["since"] = .string(place) }
        let outcome: Result<JSONValue, ControlError>
        do throws(ControlError) {
            outcome = .success(
                try await caller.call("listen", parameters) { event in
                    guard let event = event.objectValue else { return true }
                    let isFull = inbox.put(ControlEvent(json: event)) { caller.resumeReading() }
                    if isFull { caller.pauseReading() }
                    return true
                })
        } catch {
            outcome = .failure(error)
        }
        caller.resumeReading()
        await caller.close(within: ControlClient.grace)
        _ = try outcome.get()
    }
}
