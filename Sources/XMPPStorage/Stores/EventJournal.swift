// SPDX-License-Identifier: Apache-2.0

public import XMPPCore

/// What happened, in order, each with a cursor that is greater than all before it: readers go on where they stopped,
/// also after a restart.
///
/// The journal is bounded: the oldest events make room. A reader that was too slow is told so by a gap, never by
/// silence.
public final class EventJournal: Sendable {
    /// How much a journal keeps.
    public struct Limits: Sendable, Hashable {
        /// How many events at most.
        public var maximumEvents: Int
        /// For how long at most.
        public var maximumAge: Duration

        /// Makes limits: 10,000 events, 30 days.
        public init(maximumEvents: Int = 10_000, maximumAge: Duration = .seconds(30 * 86_400)) {
            self.maximumEvents = maximumEvents
            self.maximumAge = maximumAge
        }
    }

    /// An event.
    public struct Event: Sendable, Hashable {
        /// Its place.
        public var cursor: Int64
        /// When it was added.
        public var at: DateTime
        /// What happened, in whatever form it was given in.
        public var bytes: [UInt8]
    }

    /// A part of the journal.
    public struct Page: Sendable, Hashable {
        /// The cursor that reading began after: events after the one asked for are gone when it is another one.
        public var start: Int64
        /// Whether events after the cursor that was asked for are gone, or were never there.
        public var hasGap: Bool
        /// The events, oldest first.
        public var events: [Event]
    }

    /// How many named consumers there may be; 1,000. The one that has not been heard of for longest makes room.
    public static let maximumConsumers = 1_000

    private let database: Database
    private let limits: Limits

    /// Makes a journal.
    ///
    /// - Parameters:
    ///   - database: Where it is.
    ///   - limits: How much it keeps.
    public init(_ database: Database, limits: Limits = Limits()) {
        self.database = database
        self.limits = limits
    }

    /// Adds events; returns when they are on the disk.
    ///
    /// - Returns: The cursor of the last one.
    /// - Throws: ``StorageError``.
    @discardableResult
    public func append(_ events: [[UInt8]], at time: DateTime = .now) async throws(StorageError) -> Int64 {
        let limits = limits
        return try await database.write { connection throws(StorageError) in
            try Self.append(events, at: time, limits: limits, on: connection)
        }
    }

    /// Adds events within a transaction.
    ///
    /// - Returns: The cursor of the last one.
    @discardableResult
    package func append(
        _ events: [[UInt8]], at time: DateTime = .now, on connection: SQLiteConnection
    ) throws(StorageError) -> Int64 {
        try Self.append(events, at: time, limits: limits, on: connection)
    }

    private static func append(
        _ events: [[UInt8]], at time: DateTime, limits: Limits, on connection: SQLiteConnection
    ) throws(StorageError) -> Int64 {
        var last = try lastCursor(connection)
        if last == nil {
            // Cursors grow also when a new file takes the place of a damaged one: the clock is ahead of every count.
            last = DateTime.now.millisecondsSinceEpoch * 1_000
            try connection.execute("INSERT INTO sqlite_sequence (name, seq) VALUES ('event', ?)", SQLValue(last))
        }
        let moment = SQLValue.integer(time.millisecondsSinceEpoch)
        for bytes in events {
            try connection.execute("INSERT INTO event (at, text) VALUES (?, ?)", moment, .bytes(bytes))
            last = connection.lastInsertedRow
        }
        let end = last ?? 0
        try connection.execute("DELETE FROM event WHERE cursor <= ?", .integer(end - Int64(limits.maximumEvents)))
        // Events are in the order of their times, but for a clock that was set back: those go with the ones behind
        // them.
        let (age, isEndless) = limits.maximumAge.components.seconds.multipliedReportingOverflow(by: 1_000)
        let (oldest, isBeforeAll) = time.millisecondsSinceEpoch.subtractingReportingOverflow(age)
        if isEndless || isBeforeAll { return end }
        while let first = try Self.first(connection), first.at < oldest {
            try connection.execute("DELETE FROM event WHERE cursor = ?", .integer(first.cursor))
        }
        return end
    }

    private static func first(_ connection: SQLiteConnection) throws(StorageError) -> (cursor: Int64, at: Int64)? {
        try connection.first("SELECT cursor, at FROM event ORDER BY cursor LIMIT 1") { ($0.integer(0), $0.integer(1)) }
    }

    private static func lastCursor(_ connection: SQLiteConnection) throws(StorageError) -> Int64? {
        try connection.first("SELECT seq FROM sqlite_sequence WHERE name = 'event'") { $0.integer(0) }
    }

    /// The cursor of the newest event, gone or not; 0 before the first.
    ///
    /// - Throws: ``StorageError``.
    public var lastCursor: Int64 {
        get async throws(StorageError) {
            try await database.read { connection throws(StorageError) in try Self.lastCursor(connection) ?? 0 }
        }
    }

    /// The events after a cursor.
    ///
    /// A cursor that was never given out tells nothing of what its owner has seen: all that is kept follows, with a
    /// gap.
    ///
    /// - Parameters:
    ///   - cursor: The last event that the reader has.
    ///   - limit: How many events at most.
    /// - Throws: ``StorageError``.
    public func events(after cursor: Int64, limit: Int = 1_000) async throws(StorageError) -> Page {
        try await database.read { connection throws(StorageError) in
            let last = try Self.lastCursor(connection) ?? 0
            let first = try connection.first("SELECT min(cursor) FROM event") { $0.optionalInteger(0) } ?? nil
            let forgotten = (first ?? last + 1) - 1
            let isKnown = cursor >= forgotten && cursor <= last
            let start = isKnown ? cursor : forgotten
            let events = try connection.rows(
                "SELECT cursor, at, text FROM event WHERE cursor > ? ORDER BY cursor LIMIT ?", .integer(start),
                .integer(Int64(limit))
            ) {
                Event(
                    cursor: $0.integer(0), at: DateTime(millisecondsSinceEpoch: $0.integer(1)), bytes: $0.bytes(2))
            }
            return Page(start: start, hasGap: !isKnown, events: events)
        }
    }

    /// The cursor before the first event that is kept and was added at a time or later.
    ///
    /// - Throws: ``StorageError``.
    public func cursor(before time: DateTime) async throws(StorageError) -> Int64 {
        try await database.read { connection throws(StorageError) in
            let first =
                try connection.first(
                    "SELECT min(cursor) FROM event WHERE at >= ?", .integer(time.millisecondsSinceEpoch)
                ) { $0.optionalInteger(0) } ?? nil
            if let first { return first - 1 }
            return try Self.lastCursor(connection) ?? 0
        }
    }

    // MARK: Consumers

    /// How far a named consumer has come; `nil` for one that is not known.
    ///
    /// - Throws: ``StorageError``.
    public func position(of consumer: String) async throws(StorageError) -> Int64? {
        try await database.read { connection throws(StorageError) in
            try connection.first("SELECT cursor FROM consumer WHERE name = ?", .text(consumer)) { $0.integer(0) }
        }
    }

    /// A named consumer has dealt with everything up to a cursor. Going back is not possible: a lower cursor changes
    /// nothing.
    ///
    /// - Throws: ``StorageError``.
    public func acknowledge(
        _ cursor: Int64, by consumer: String, at time: DateTime = .now
    ) async throws(StorageError) {
        try await database.write { connection throws(StorageError) in
            let last = try Self.lastCursor(connection) ?? 0
            try connection.execute(
                """
                INSERT INTO consumer (name, cursor, seen_at) VALUES (?1, ?2, ?3)
                ON CONFLICT (name) DO UPDATE SET cursor = max(cursor, ?2), seen_at = ?3
                """, .text(consumer), .integer(min(cursor, last)), .integer(time.millisecondsSinceEpoch))
            try connection.execute(
                "DELETE FROM consumer WHERE name IN (SELECT name FROM consumer ORDER BY seen_at DESC LIMIT -1 OFFSET ?)",
                .integer(Int64(Self.maximumConsumers)))
        }
    }
}
