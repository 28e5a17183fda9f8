// SPDX-License-Identifier: Apache-2.0

internal import CEpoll
internal import Dispatch

/// What a descriptor can be waited for.
package struct Readiness: OptionSet, Sendable {
    /// Bytes have come, or the end of input, or, at a listening socket, a connection.
    package static let reading = Readiness(rawValue: 1)
    /// There is room for more, or, at a socket that connects, an outcome.
    package static let writing = Readiness(rawValue: 2)

    /// A bit for each of the above.
    package let rawValue: UInt8

    /// Makes a set of bits.
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    fileprivate var events: UInt32 {
        (contains(.reading) ? EPOLLIN.rawValue : 0) | (contains(.writing) ? EPOLLOUT.rawValue : 0)
    }
}

/// Tells, on an executor's queue, when a descriptor can be read from or written to, and again for as long as it can.
///
/// Dispatch watches an epoll(7) descriptor of this object's own, and that one watches the descriptor: no Dispatch
/// source may watch a socket or a pipe itself. On Linux, libdispatch lets go of a source that hangs up (`EPOLLHUP`) on
/// the source's queue while its own thread may still be busy with the same event, and what a peer does at the right
/// moment ends the process ("Source finalized twice"). An epoll descriptor becomes readable and never hangs up.
///
/// Unchecked: `interest` and `isCancelled` are confined to the executor's queue, but for `init` and `deinit`, when
/// nobody else can reach them.
package final class DescriptorWatch: @unchecked Sendable {
    /// What is waited for now.
    package private(set) var interest: Readiness
    private let number: Int32
    private let poll: Descriptor
    private let source: any DispatchSourceRead
    private var isCancelled = false

    /// Begins to watch. May be called from anywhere.
    ///
    /// - Parameters:
    ///   - number: What to watch; not a regular file. It must stay open until ``cancel()``.
    ///   - interest: What to wait for first.
    ///   - executor: Whose queue is told.
    ///   - ready: Called when something of the interest may be possible; also upon errors, which the next read or
    ///     write tells. It must not hold the watch.
    /// - Throws: The system's error, when it has no more descriptors or watches (`EMFILE`, `ENFILE`, `ENOSPC`).
    package init(
        _ number: Int32, for interest: Readiness, on executor: StreamExecutor, _ ready: @escaping @Sendable () -> Void
    ) throws(SystemError) {
        let created = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard created >= 0 else { throw SystemError.last("epoll_create1") }
        let poll = Descriptor(owning: created)
        var event = epoll_event()
        event.events = interest.events
        guard epoll_ctl(poll.number, EPOLL_CTL_ADD, number, &event) == 0 else { throw SystemError.last("epoll_ctl") }
        source = DispatchSource.makeReadSource(fileDescriptor: poll.number, queue: executor.queue)
        source.setEventHandler(handler: ready)
        // Its number must not be given to another file while Dispatch watches it.
        source.setCancelHandler { withExtendedLifetime(poll) {} }
        source.activate()
        if interest.isEmpty { source.suspend() }
        self.poll = poll
        self.number = number
        self.interest = interest
    }

    deinit {
        cancel()
    }

    /// Waits for something else from now on; for nothing, when `interest` is empty.
    package func wait(for interest: Readiness) {
        guard interest != self.interest, !isCancelled else { return }
        if interest.isEmpty {
            // Without the source: a hang-up is told whether it was asked for or not.
            source.suspend()
        } else {
            var event = epoll_event()
            event.events = interest.events
            epoll_ctl(poll.number, EPOLL_CTL_MOD, number, &event)
            if self.interest.isEmpty { source.resume() }
        }
        self.interest = interest
    }

    /// Stops watching; the descriptor may be closed at once. Idempotent.
    package func cancel() {
        guard !isCancelled else { return }
        isCancelled = true
        epoll_ctl(poll.number, EPOLL_CTL_DEL, number, nil)
        // A dispatch source must not be released while suspended.
        if interest.isEmpty { source.resume() }
        source.cancel()
    }
}
