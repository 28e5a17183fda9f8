// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
public import XMPPCore
public import XMPPXML

extension LoopbackServer {
    /// The elements that passed on all connections, in order: the last 20,000.
    public var transcript: [LoopbackRecord] { records }

    /// The stanzas and other first-level elements that clients of an account sent.
    ///
    /// - Parameter username: The account's localpart.
    public func received(from username: String) -> [Element] {
        records.filter { $0.direction == .fromClient && $0.account?.localpart == username }.map(\.element)
    }

    /// The full JIDs that are connected now, buddies included.
    public var connected: [JID] {
        router.accounts.values.flatMap { $0.endpoints.values.map(\.jid) }.sorted()
    }

    /// How many connections are open.
    public var openConnections: Int { sessions.values.count { $0.phase != .hibernating } }

    /// The first element in the transcript for which `matches` holds; waits for it when it has not passed yet.
    ///
    /// - Parameters:
    ///   - limit: How long to wait; default ``Patience/usual``.
    ///   - matches: Whether this is the one.
    /// - Throws: ``TestSupportError`` when it has not passed in time, or the server was stopped.
    public func firstRecord(
        within limit: Duration = Patience.usual, where matches: @escaping @Sendable (LoopbackRecord) -> Bool
    ) async throws(TestSupportError) -> LoopbackRecord {
        if let known = records.first(where: matches) { return known }
        watcherCount += 1
        let id = watcherCount
        let found: LoopbackRecord? = await withCheckedContinuation { continuation in
            let timer = clock.schedule(after: limit, on: executor) { [weak self] in
                self?.assumeIsolated { $0.watchers.removeValue(forKey: id)?.end() }
            }
            watchers[id] = LoopbackWatcher(matches: matches, continuation: continuation, timer: timer)
        }
        guard let found else { throw TestSupportError("what the test waits for did not pass within \(limit)") }
        return found
    }

    /// The first element that a client of an account sent and for which `matches` holds; otherwise as
    /// ``firstRecord(within:where:)``.
    public func firstElement(
        from username: String, within limit: Duration = Patience.usual,
        where matches: @escaping @Sendable (Element) -> Bool
    ) async throws(TestSupportError) -> Element {
        try await firstRecord(within: limit) {
            $0.direction == .fromClient && $0.account?.localpart == username && matches($0.element)
        }.element
    }

    /// Takes down what passed, and wakes whoever waits for it.
    func note(_ record: LoopbackRecord) {
        if records.count >= Self.maximumRecords { records.removeFirst(Self.maximumRecords / 10) }
        records.append(record)
        for (id, watcher) in watchers where watcher.matches(record) {
            watchers[id] = nil
            watcher.end(record)
        }
    }
}
