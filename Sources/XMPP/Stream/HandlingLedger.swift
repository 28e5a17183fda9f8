// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
internal import XMPPXML

/// Some stanzas that arrived one after another.
struct ArrivedStanzas: Sendable {
    /// How many.
    var count: UInt32 = 0
    /// Those among them that are messages or requests for a subscription, where somebody keeps them, or catches up with
    /// the archive.
    private(set) var messages: [Element] = []
    /// About how many bytes these take.
    private(set) var bytes = 0

    /// Whether there is nothing to count and nothing to keep.
    var isEmpty: Bool { count == 0 && messages.isEmpty }

    /// Makes stanzas of which nothing is kept but, perhaps, some messages.
    init(count: UInt32 = 0, messages: [Element] = []) {
        self.count = count
        for message in messages { append(message) }
    }

    /// Adds a message; whoever does so counts it.
    mutating func append(_ message: Element) {
        messages.append(message)
        bytes += message.storedBytes
    }

    /// Adds stanzas that arrived after these.
    mutating func append(_ later: ArrivedStanzas) {
        count &+= later.count
        messages += later.messages
        bytes += later.bytes
    }

    /// The messages one by one, the last of which counts for all stanzas: none counts that is not kept with those
    /// before it.
    var parts: [ArrivedStanzas] {
        guard messages.count > 1 else { return [self] }
        var parts = messages.map { ArrivedStanzas(messages: [$0]) }
        parts[parts.count - 1].count = count
        return parts
    }
}

/// Which received stanzas are still in somebody's hands, oldest first: only those before the first of them may be
/// called handled (XEP-0198 §4).
struct HandlingLedger: Sendable {
    private struct Entry: Sendable {
        let id: Int
        let stanzas: ArrivedStanzas
        var isDone = false
    }

    private var entries: [Entry] = []
    private var lastID = 0

    /// Whether nothing is in anybody's hands.
    var isEmpty: Bool { entries.isEmpty }

    /// Notes that stanzas were handed out.
    ///
    /// - Returns: What to call them in ``finished(_:)``.
    mutating func handOut(_ stanzas: ArrivedStanzas) -> Int {
        lastID += 1
        entries.append(Entry(id: lastID, stanzas: stanzas))
        return lastID
    }

    /// Notes that everybody is done with what was handed out under an id; one that is unknown is of an earlier
    /// connection.
    ///
    /// - Returns: Which stanzas are dealt with, together with all before them.
    mutating func finished(_ id: Int) -> ArrivedStanzas {
        guard let index = entries.firstIndex(where: { $0.id == id }) else { return ArrivedStanzas() }
        entries[index].isDone = true
        let done = entries.prefix { $0.isDone }
        entries.removeFirst(done.count)
        return done.reduce(into: ArrivedStanzas()) { $0.append($1.stanzas) }
    }

    /// Forgets what is still in somebody's hands.
    mutating func forget() {
        entries = []
    }
}

/// Goes with the events of some stanzas to the delegates. When the last of them lets go of it, the stanzas are handled.
final class HandlingToken: Sendable {
    private let id: Int
    private let executor: StreamExecutor
    private weak let stream: XMPPStream?

    init(_ id: Int, of stream: XMPPStream) {
        self.id = id
        executor = stream.executor
        self.stream = stream
    }

    deinit {
        executor.run { [id, weak stream] in
            guard let stream else { return }
            stream.assumeIsolated { $0.finishedHandling(id) }
        }
    }
}
