// SPDX-License-Identifier: Apache-2.0

/// Events of the daemon as they come: ``ControlClient/events(_:from:since:consumer:acknowledgement:)``.
public struct ControlEvents: AsyncSequence, Sendable {
    /// What counts as dealt with, for a named consumer.
    public enum Acknowledgement: Hashable, Sendable {
        /// An event, when the next one is asked for. It is noted when no other event waits, and at the latest after 64:
        /// so many may come again after this program was killed.
        case automatic
        /// What ``ControlClient/acknowledge(_:by:)`` is called with.
        case manual
    }

    let client: ControlClient
    let parameters: JSONObject
    let place: String?
    let consumer: String?
    let isAutomatic: Bool

    /// Begins to listen when the first event is asked for.
    public func makeAsyncIterator() -> Iterator { Iterator(EventReader(self)) }

    /// Reads events; the connection ends with its last copy.
    public struct Iterator: AsyncIteratorProtocol {
        private let reader: EventReader

        init(_ reader: EventReader) { self.reader = reader }

        /// The next event, waiting for it.
        ///
        /// - Returns: The event; `nil` when the task was cancelled.
        /// - Throws: ``ControlError`` when there can be no more; then every time.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(ControlError) -> ControlEvent? {
            try await reader.next()
        }

        /// The next event, waiting for it; `nil` when the task was cancelled.
        public mutating func next() async throws(ControlError) -> ControlEvent? {
            try await next(isolation: nil)
        }
    }
}
