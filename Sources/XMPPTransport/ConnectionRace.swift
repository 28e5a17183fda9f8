// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
package import SocketIO

/// Tries the addresses of one host: IPv6 and IPv4 in turn, the next one a moment after the last (RFC 8305).
///
/// Unchecked: all state is confined to the executor's queue.
package final class ConnectionRace: @unchecked Sendable {
    /// How fast the race is.
    package struct Timing: Sendable, Hashable {
        /// Pause before the next address when the last has not answered. Default 250 ms (RFC 8305 §8).
        package var stagger: Duration
        /// How long one address may take. Default 10 seconds.
        package var addressTimeout: Duration

        /// Makes a timing.
        package init(stagger: Duration = .milliseconds(250), addressTimeout: Duration = .seconds(10)) {
            self.stagger = stagger
            self.addressTimeout = addressTimeout
        }
    }

    /// Addresses tried at most.
    package static let maximumAddresses = 16

    /// How the race ends.
    package typealias Outcome = Result<SocketTransport, ConnectError>

    private let host: String
    private let executor: StreamExecutor
    private let clock: any StreamClock
    private let timing: Timing
    private var waiting: ArraySlice<SocketAddress>
    private var running: [Int: SocketConnection] = [:]
    private var nextNumber = 0
    private var failures: [ConnectError.Attempt] = []
    private var staggerTimer: (any ScheduledTimer)?
    private var completion: (@Sendable (Outcome) -> Void)?
    private var isCancelled = false

    private init(
        host: String, addresses: [SocketAddress], on executor: StreamExecutor, clock: any StreamClock, timing: Timing
    ) {
        self.host = host
        self.executor = executor
        self.clock = clock
        self.timing = timing
        waiting = Self.interleaved(addresses).prefix(Self.maximumAddresses)
    }

    /// Runs a race. Cancelling the task closes everything.
    ///
    /// - Parameters:
    ///   - host: The host's name, for the error.
    ///   - addresses: Its addresses, the system's favourite first.
    ///   - executor: Whose queue the transport will belong to.
    ///   - clock: Where time comes from.
    ///   - timing: Stagger and deadline.
    /// - Returns: The first transport that is connected; all others are closed.
    package static func run(
        host: String, addresses: [SocketAddress], on executor: StreamExecutor, clock: any StreamClock,
        timing: Timing
    ) async throws(ConnectError) -> SocketTransport {
        let race = ConnectionRace(host: host, addresses: addresses, on: executor, clock: clock, timing: timing)
        let outcome = Handover<Outcome>()
        let result = await withTaskCancellationHandler {
            executor.queue.async { race.start { outcome.give($0) } }
            return await outcome.value()
        } onCancel: {
            executor.queue.async { race.cancel() }
        }
        return try result.get()
    }

    /// Addresses with the families in turn, each family in its own order, the first one's family first (RFC 8305 §4).
    package static func interleaved(_ addresses: [SocketAddress]) -> [SocketAddress] {
        guard let first = addresses.first else { return [] }
        var ours = addresses.filter { $0.isIPv6 == first.isIPv6 }[...]
        var others = addresses.filter { $0.isIPv6 != first.isIPv6 }[...]
        var result: [SocketAddress] = []
        while !ours.isEmpty || !others.isEmpty {
            if let address = ours.popFirst() { result.append(address) }
            if let address = others.popFirst() { result.append(address) }
        }
        return result
    }

    private func start(_ completion: @escaping @Sendable (Outcome) -> Void) {
        dispatchPrecondition(condition: .onQueue(executor.queue))
        self.completion = completion
        if isCancelled { return end(.failure(.cancelled)) }
        tryNext()
    }

    private func cancel() {
        dispatchPrecondition(condition: .onQueue(executor.queue))
        isCancelled = true
        end(.failure(.cancelled))
    }

    private func tryNext() {
        guard completion != nil else { return }
        staggerTimer?.cancel()
        staggerTimer = nil
        guard let address = waiting.popFirst() else {
            if running.isEmpty { end(.failure(.allAddressesFailed(host: host, failures))) }
            return
        }
        let number = nextNumber
        nextNumber += 1
        running[number] = SocketConnection.start(
            to: address, on: executor, timeout: timing.addressTimeout, clock: clock
        ) { self.ended(number, address, $0) }
        if !waiting.isEmpty {
            staggerTimer = clock.schedule(after: timing.stagger, on: executor) { self.tryNext() }
        }
    }

    private func ended(_ number: Int, _ address: SocketAddress, _ result: Result<SocketTransport, SystemError>) {
        running[number] = nil
        guard completion != nil else {
            if case .success(let late) = result { late.abort() }
            return
        }
        switch result {
        case .success(let transport):
            end(.success(transport))
        case .failure(let error):
            failures.append(ConnectError.Attempt(address: address.description, reason: error.reason))
            // A refusal is an answer: no reason to wait for the stagger (RFC 8305 §5).
            tryNext()
        }
    }

    private func end(_ outcome: Outcome) {
        guard let completion else { return }
        self.completion = nil
        staggerTimer?.cancel()
        staggerTimer = nil
        waiting = []
        for attempt in running.values { attempt.cancel() }
        completion(outcome)
    }
}
