// SPDX-License-Identifier: Apache-2.0

/// Events of a stream as an asynchronous sequence.
///
/// It holds everything from the moment it was asked for, up to a limit, and is meant for one loop. It ends when the
/// stream does (for a client: when the client is stopped), or with ``XMPPError/Code/overflow`` when the loop was too
/// slow: events are never dropped silently.
public struct EventSequence<Element: Sendable>: AsyncSequence, Sendable {
    private let queue: EventQueue
    private let transform: @Sendable (EventDelivery) -> Element?

    init(_ queue: EventQueue, transform: @escaping @Sendable (EventDelivery) -> Element?) {
        self.queue = queue
        self.transform = transform
    }

    /// Begins the loop.
    public func makeAsyncIterator() -> Iterator {
        Iterator(queue: queue, transform: transform)
    }

    /// The loop's position.
    public struct Iterator: AsyncIteratorProtocol {
        private let queue: EventQueue
        private let transform: @Sendable (EventDelivery) -> Element?
        private var batch: ArraySlice<EventDelivery> = []

        fileprivate init(queue: EventQueue, transform: @escaping @Sendable (EventDelivery) -> Element?) {
            self.queue = queue
            self.transform = transform
        }

        /// The next event; `nil` at the end, or when the task is cancelled.
        ///
        /// - Throws: ``XMPPError`` with ``XMPPError/Code/overflow``.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(XMPPError) -> Element? {
            while true {
                while let delivery = batch.popFirst() {
                    if let element = transform(delivery) { return element }
                }
                guard let next = try await queue.next() else { return nil }
                batch = next[...]
            }
        }

        /// The next event; `nil` at the end, or when the task is cancelled.
        public mutating func next() async throws(XMPPError) -> Element? {
            try await next(isolation: nil)
        }
    }
}
