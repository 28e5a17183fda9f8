// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Glibc

/// One attempt to connect to one address.
///
/// Unchecked: all state is confined to the executor's queue.
package final class SocketConnection: @unchecked Sendable {
    /// How an attempt ends.
    package typealias Completion = @Sendable (Result<SocketTransport, SystemError>) -> Void

    /// Pause before the next try when a Unix socket's backlog is full: the kernel has no event for that.
    private static let retryDelay: Duration = .milliseconds(10)

    private let address: SocketAddress
    private let executor: StreamExecutor
    private let clock: any StreamClock
    private var descriptor: Descriptor?
    private var watch: DescriptorWatch?
    private var deadline: (any ScheduledTimer)?
    private var retry: (any ScheduledTimer)?
    private var completion: Completion?
    private var outcome: Result<SocketTransport, SystemError>?

    private init(
        _ address: SocketAddress, _ executor: StreamExecutor, _ clock: any StreamClock,
        _ completion: @escaping Completion
    ) {
        self.address = address
        self.executor = executor
        self.clock = clock
        self.completion = completion
    }

    /// Begins an attempt. Must be called on the executor's queue.
    ///
    /// - Parameters:
    ///   - address: Where to connect to.
    ///   - executor: Whose queue the transport will belong to.
    ///   - timeout: How long to wait.
    ///   - clock: Where time comes from.
    ///   - completion: Called once on the queue, never from inside this call: a transport that is not yet started, or
    ///     the system's error (`ETIMEDOUT` after `timeout`, `ECANCELED` after ``cancel()``).
    /// - Returns: The attempt, to call it off. It lives until it has ended.
    package static func start(
        to address: SocketAddress, on executor: StreamExecutor, timeout: Duration, clock: any StreamClock,
        completion: @escaping Completion
    ) -> SocketConnection {
        dispatchPrecondition(condition: .onQueue(executor.queue))
        let attempt = SocketConnection(address, executor, clock, completion)
        attempt.deadline = clock.schedule(after: timeout, on: executor) { attempt.fail(ETIMEDOUT) }
        do throws(SystemError) {
            attempt.descriptor = try Descriptor.socket(family: address.family)
            attempt.connect()
        } catch {
            attempt.finish(.failure(error))
        }
        return attempt
    }

    /// Calls the attempt off; it ends with `ECANCELED`. Must be called on the executor's queue.
    package func cancel() {
        fail(ECANCELED)
    }

    private func connect() {
        guard outcome == nil, let descriptor else { return }
        let result = address.withSockaddr { Glibc.connect(descriptor.number, $0, $1) }
        let code = result == 0 ? 0 : errno
        switch code {
        case 0, EISCONN:
            connected()
        case EINPROGRESS, EINTR, EALREADY:
            do throws(SystemError) {
                // Holds the attempt, which lives until it has ended.
                watch = try DescriptorWatch(descriptor.number, for: .writing, on: executor) { self.decided() }
            } catch {
                finish(.failure(error))
            }
        case EAGAIN:
            retry = clock.schedule(after: Self.retryDelay, on: executor) { self.connect() }
        default:
            fail(code)
        }
    }

    private func decided() {
        guard outcome == nil, let descriptor else { return }
        let code = descriptor.pendingError()
        if code == 0 { connected() } else { fail(code) }
    }

    private func connected() {
        guard let descriptor else { return }
        do throws(SystemError) {
            finish(.success(try SocketTransport(descriptor, on: executor, clock: clock)))
        } catch {
            finish(.failure(error))
        }
    }

    private func fail(_ code: Int32) {
        finish(.failure(SystemError(code, "connect", address.description)))
    }

    private func finish(_ result: Result<SocketTransport, SystemError>) {
        guard outcome == nil else { return }
        outcome = result
        deadline?.cancel()
        deadline = nil
        retry?.cancel()
        retry = nil
        watch?.cancel()
        descriptor = nil
        executor.queue.async { self.tell() }
    }

    private func tell() {
        guard let outcome, let completion else { return }
        self.completion = nil
        watch = nil
        completion(outcome)
    }
}

extension SocketTransport {
    /// Connects to one address. Cancelling the task calls the attempt off.
    ///
    /// - Parameters:
    ///   - address: Where to connect to.
    ///   - executor: Whose queue the transport will belong to.
    ///   - timeout: How long to wait. Default 10 seconds.
    ///   - clock: Where time comes from.
    /// - Returns: A transport that is not yet started.
    /// - Throws: The system's error; `ETIMEDOUT` after `timeout`, `ECANCELED` when the task was cancelled.
    package static func connect(
        to address: SocketAddress, on executor: StreamExecutor, timeout: Duration = .seconds(10),
        clock: any StreamClock = SystemClock()
    ) async throws(SystemError) -> SocketTransport {
        let slot = AttemptSlot(executor)
        let outcome = Handover<Result<SocketTransport, SystemError>>()
        let result = await withTaskCancellationHandler {
            executor.queue.async {
                slot.begin {
                    SocketConnection.start(to: address, on: executor, timeout: timeout, clock: clock) {
                        outcome.give($0)
                    }
                }
            }
            return await outcome.value()
        } onCancel: {
            executor.queue.async { slot.cancel() }
        }
        return try result.get()
    }
}

/// Lets a cancellation that arrives before the attempt has begun reach it all the same.
///
/// Unchecked: confined to the executor's queue.
private final class AttemptSlot: @unchecked Sendable {
    private let executor: StreamExecutor
    private var attempt: SocketConnection?
    private var isCancelled = false

    init(_ executor: StreamExecutor) {
        self.executor = executor
    }

    func begin(_ start: () -> SocketConnection) {
        dispatchPrecondition(condition: .onQueue(executor.queue))
        let attempt = start()
        self.attempt = attempt
        if isCancelled { attempt.cancel() }
    }

    func cancel() {
        dispatchPrecondition(condition: .onQueue(executor.queue))
        isCancelled = true
        attempt?.cancel()
    }
}
