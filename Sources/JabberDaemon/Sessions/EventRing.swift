// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import JabberControl
internal import SocketIO
internal import XMPP

/// The latest events of an account, each with a cursor that is greater than all before it. They are kept in memory alone:
/// the end of the daemon is the end of them.
///
/// `@unchecked Sendable`: all mutable state is confined to the executor's queue, which every method hops to.
final class EventRing: @unchecked Sendable {
    /// How many events are kept.
    static let maximumEvents = 1_000
    /// How many bytes the events may take, about: 2 MiB. A reader gets all of them at once without being too slow.
    static let maximumBytes = 2 << 20

    private struct Entry {
        let cursor: Int64
        let event: JSONObject
        let size: Int
    }

    private let executor = StreamExecutor(label: "jabberctld.events")
    private let maximumEvents: Int
    private let maximumBytes: Int
    private var entries: [Entry] = []
    private var first = 0
    private var bytes = 0
    /// The cursor of the last event that is kept no more.
    private var forgotten: Int64
    private var last: Int64
    private var handlers: [Int: @Sendable (JSONObject) -> Void] = [:]
    private var lastID = 0

    /// Makes an empty ring.
    ///
    /// - Parameters:
    ///   - start: The cursor before the first event. The time in microseconds, unless said otherwise: so cursors grow over
    ///     restarts, and one of an earlier run is known to be older than everything that is kept.
    ///   - events: How many events are kept.
    ///   - bytes: How many bytes they may take.
    init(
        after start: Int64 = DateTime.now.millisecondsSinceEpoch * 1_000, events: Int = maximumEvents,
        bytes: Int = maximumBytes
    ) {
        forgotten = start
        last = start
        maximumEvents = events
        maximumBytes = bytes
    }

    /// Adds an event; from any thread, in order.
    func append(_ event: JSONObject) {
        executor.queue.async { self.add(event) }
    }

    /// Calls a handler with the kept events after a cursor, and then with everything that comes, in order, until
    /// ``cancel(_:)``. Where events after the cursor are gone already, an event of the type `gap` comes first.
    ///
    /// - Parameter cursor: Where to begin; `nil` for what is to come only.
    func subscribe(after cursor: Int64? = nil, _ handler: @escaping @Sendable (JSONObject) -> Void) -> Int {
        executor.queue.sync {
            if let cursor { replay(after: cursor, handler) }
            lastID += 1
            handlers[lastID] = handler
            return lastID
        }
    }

    /// Ends a subscription.
    func cancel(_ subscription: Int) {
        executor.queue.async { self.handlers[subscription] = nil }
    }

    /// A cursor as callers write it; `nil` when it is none.
    static func cursor(_ text: String) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Int64(text)
    }

    private func add(_ event: JSONObject) {
        last += 1
        var event = event
        event["cursor"] = .string(String(last))
        let size = event.approximateSize
        entries.append(Entry(cursor: last, event: event, size: size))
        bytes += size
        while entries.count - first > maximumEvents || (bytes > maximumBytes && entries.count - first > 1) {
            bytes -= entries[first].size
            forgotten = entries[first].cursor
            first += 1
        }
        // The forgotten ones make room together, so that adding stays cheap.
        if first > maximumEvents {
            entries.removeFirst(first)
            first = 0
        }
        for handler in handlers.values { handler(event) }
    }

    private func replay(after cursor: Int64, _ handler: @Sendable (JSONObject) -> Void) {
        // A cursor that was never given out tells nothing of what its owner has seen.
        let isKnown = cursor >= forgotten && cursor <= last
        if !isKnown {
            handler([
                "api": .integer(Int64(ProductVersion.api.upperBound)), "type": "gap",
                "at": .string(DateTime.now.description), "cursor": .string(String(forgotten)),
                "after": .string(String(cursor)),
            ])
        }
        for entry in entries[first...] where !isKnown || entry.cursor > cursor { handler(entry.event) }
    }
}

extension JSONValue {
    /// About how many bytes the value takes.
    fileprivate var approximateSize: Int {
        switch self {
        case .string(let text): text.utf8.count + 32
        case .array(let values): values.reduce(32) { $0 + $1.approximateSize }
        case .object(let object): object.approximateSize
        default: 16
        }
    }
}

extension JSONObject {
    fileprivate var approximateSize: Int {
        entries.reduce(32) { $0 + $1.key.utf8.count + 32 + $1.value.approximateSize }
    }
}
