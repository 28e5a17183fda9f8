// SPDX-License-Identifier: Apache-2.0

internal import SocketIO

/// Which received stanzas are still in somebody's hands, oldest first: only those before the first of them may be called
/// handled (XEP-0198 §4).
struct HandlingLedger: Sendable {
    private struct Entry: Sendable {
        let id: Int
        let stanzas: UInt32
        var isDone = false
    }

    private var entries: [Entry] = []
    private var lastID = 0

    /// Whether nothing is in anybody's hands.
    var isEmpty: Bool { entries.isEmpty }

    /// Notes that stanzas were handed out.
    ///
    /// - Returns: What to call them in ``finished(_:)``.
    mutating func handOut(_ stanzas: UInt32) -> Int {
        lastID += 1
        entries.append(Entry(id: lastID, stanzas: stanzas))
        return lastID
    }

    /// Notes that everybody is done with what was handed out under an id; one that is unknown is of an earlier connection.
    ///
    /// - Returns: How many more stanzas count as handled.
    mutating func finished(_ id: Int) -> UInt32 {
        guard let index = entries.firstIndex(where: { $0.id == id }) else { return 0 }
        entries[index].isDone = true
        let done = entries.prefix { $0.isDone }
        entries.removeFirst(done.count)
        return done.reduce(0) { $0 &+ $1.stanzas }
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
