// SPDX-License-Identifier: Apache-2.0

internal import SocketIO

/// Where events go from a stream to everybody who reads them: delegates and sequences.
///
/// A stream has a hub of its own; a client has one for all of its streams, so that readers outlive a reconnect.
package final class EventHub: Sendable {
    /// How many events may wait for one delegate before the stream stops reading from the server; 1,000.
    package static let maximumDelegateBacklog = 1_000
    /// How many bytes the stanzas behind those events may have before the stream stops reading; 8 MiB.
    package static let maximumDelegateBacklogBytes = 8 * 1_048_576
    /// How many bytes the stanzas behind the events of a sequence may have before it ends; 64 MiB.
    package static let maximumSequenceBytes = 64 * 1_048_576

    private struct Subscriber {
        weak var queue: EventQueue?
    }

    private struct State {
        var subscribers: [Subscriber] = []
        var pumps: [ObjectIdentifier: DelegatePump] = [:]
        var isFinished = false
    }

    private let state = Locked(State())
    private let drained = Locked<(@Sendable () -> Void)?>(nil)

    /// Makes a hub without readers.
    package init() {}

    deinit {
        // Whoever still waits would wait for ever.
        finish()
    }

    /// Sets what is called, on any thread, when reading may go on.
    func onDrain(_ action: @escaping @Sendable () -> Void) {
        drained.withLock { $0 = action }
    }

    /// Hands a batch to every reader.
    ///
    /// - Returns: Whether a delegate is so far behind that the stream should stop reading.
    func publish(_ batch: [EventDelivery]) -> Bool {
        guard !batch.isEmpty else { return false }
        let (queues, pumps) = state.withLock { state in
            (state.subscribers.compactMap(\.queue), Array(state.pumps.values))
        }
        guard !queues.isEmpty || !pumps.isEmpty else { return false }
        var pauses = false
        // Once for all readers.
        let bytes = batch.reduce(0) { $0 + $1.event.storedBytes }
        if !queues.isEmpty {
            // Sequences may be read at any time or never: only delegates say when something is handled.
            var plain = batch
            if batch.first?.handling != nil { for index in plain.indices { plain[index].handling = nil } }
            for queue in queues { pauses = queue.append(plain, bytes: bytes) || pauses }
        }
        for pump in pumps { pauses = pump.queue.append(batch, bytes: bytes) || pauses }
        return pauses
    }

    /// Whether a delegate is still too far behind.
    var isOverfull: Bool {
        let pumps = state.withLock { Array($0.pumps.values) }
        return pumps.contains { $0.queue.isOverfull }
    }

    /// A queue that receives everything from now on, until nobody refers to it.
    func subscribe(limit: Int) -> EventQueue {
        let queue = EventQueue(limit: limit, maximumBytes: Self.maximumSequenceBytes, overflow: .fails)
        let isFinished = state.withLock { state in
            state.subscribers.removeAll { $0.queue == nil }
            state.subscribers.append(Subscriber(queue: queue))
            return state.isFinished
        }
        if isFinished { queue.finish() }
        return queue
    }

    /// Adds a delegate, or a role to one that is there.
    func add(_ delegate: any AnyObject & Sendable, roles: DelegatePump.Roles) {
        let key = ObjectIdentifier(delegate)
        let orphans = state.withLock { state in
            // A new object may have the address of one that is gone.
            let orphans = state.pumps.values.filter { !$0.isAlive }
            state.pumps = state.pumps.filter { $0.value.isAlive }
            if let pump = state.pumps[key] {
                pump.add(roles)
            } else if !state.isFinished {
                state.pumps[key] = DelegatePump(delegate, roles: roles) { [weak self] in
                    self?.drained.withLock { $0 }?()
                }
            }
            return orphans
        }
        for pump in orphans { pump.stop() }
    }

    /// Removes a delegate: a call that is under way still ends, what waits behind it is dropped.
    func remove(_ delegate: any AnyObject & Sendable) {
        let pump = state.withLock { $0.pumps.removeValue(forKey: ObjectIdentifier(delegate)) }
        pump?.stop()
    }

    /// Ends every sequence after what it holds; later ones begin anew. Delegates stay.
    func finishSequences() {
        let queues = state.withLock { $0.subscribers.compactMap(\.queue) }
        for queue in queues { queue.finish() }
    }

    /// Ends every sequence and every delegate's pump after what they hold, for good.
    func finish() {
        let (queues, pumps) = state.withLock { state in
            state.isFinished = true
            return (state.subscribers.compactMap(\.queue), Array(state.pumps.values))
        }
        for queue in queues { queue.finish() }
        for pump in pumps { pump.queue.finish() }
    }
}
