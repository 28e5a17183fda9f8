// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import SocketIO

/// What every transport over another one has besides its own work: a handshake with a deadline, whose outcome is told
/// once; the handler of its owner; and an end, which is told once and last.
///
/// Unchecked: all of it is confined to the queue of the lower transport's executor, as its owner is, which checks that.
final class TransportUpgrade<Agreement: Sendable, Refusal: Error>: @unchecked Sendable {
    /// What the outcome of the handshake is told.
    typealias Completion = @Sendable (Result<Agreement, Refusal>) -> Void

    /// Who is told what happens; `nil` before the owner listens, and after the end was told.
    private(set) var handler: (@Sendable (TransportEvent) -> Void)?

    private let lower: any ByteTransport
    private let clock: any StreamClock
    private var completion: Completion?
    private var deadline: (any ScheduledTimer)?
    private var untoldEnd: TransportEvent?
    private var held: AnyObject?

    /// - Parameters:
    ///   - lower: The transport below.
    ///   - clock: Where time comes from.
    init(over lower: any ByteTransport, clock: any StreamClock) {
        self.lower = lower
        self.clock = clock
    }

    /// The handshake begins. Until its outcome nobody has to hold the owner.
    ///
    /// - Parameters:
    ///   - owner: The transport that shakes hands.
    ///   - timeout: How long the handshake may take.
    ///   - late: Called on the queue when it has taken longer.
    ///   - completion: Called once on the queue with the outcome, never from inside a call.
    func begin(
        _ owner: AnyObject, within timeout: Duration, late: @escaping @Sendable () -> Void,
        _ completion: @escaping Completion
    ) {
        held = owner
        self.completion = completion
        deadline = clock.schedule(after: timeout, on: lower.executor, late)
    }

    /// The handshake has come to this.
    func settle(_ outcome: Result<Agreement, Refusal>) {
        stopClock()
        held = nil
        guard let completion else { return }
        self.completion = nil
        lower.executor.queue.async { completion(outcome) }
    }

    /// Nobody has to hold the owner until its end.
    func hold(_ owner: AnyObject) {
        held = owner
    }

    /// The owner of the owner listens.
    func listen(_ handler: @escaping @Sendable (TransportEvent) -> Void) {
        self.handler = handler
    }

    /// It is over. Who does not listen yet is told as soon as it does.
    func end(_ error: TransportError?) {
        stopClock()
        lower.replaceHandler { _ in }
        untoldEnd = .closed(error)
        lower.executor.queue.async { self.tellEnd() }
        held = nil
    }

    /// Tells the end, where it has come and was not told.
    func tellEnd() {
        guard let event = untoldEnd, let handler else { return }
        untoldEnd = nil
        self.handler = nil
        handler(event)
    }

    private func stopClock() {
        deadline?.cancel()
        deadline = nil
    }
}
