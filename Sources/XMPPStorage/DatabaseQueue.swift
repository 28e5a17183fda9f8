// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import SocketIO

/// A connection to a file and the serial queue that alone uses it: calls to the disk block, and must not hold up the
/// threads that tasks run on.
///
/// `@unchecked Sendable`: all mutable state is confined to ``queue``, which every method hops to.
final class DatabaseQueue: @unchecked Sendable {
    private let queue: DispatchQueue
    private let file: String
    private var connection: SQLiteConnection?
    private var isClosed = false
    /// Writes that wait for the next transaction.
    private var waiting: [any AnyWriteJob] = []
    /// How many writes were added that are not done.
    private let unfinished = Locked(0)
    private let maximumWaiting: Int
    private var isDue = false
    /// How many transactions there were.
    private var commits = 0
    /// Those who want to know of each transaction.
    let listeners = ChangeListeners()

    /// Makes a queue; the file is not opened yet.
    init(_ label: String, file: String, maximumWaiting: Int = Database.maximumWaiting) {
        self.maximumWaiting = maximumWaiting
        queue = DispatchQueue(label: label)
        self.file = file
    }

    // MARK: Opening and closing

    /// Opens the file for writing.
    ///
    /// - Returns: Where a damaged file was set aside to; `nil` when there was none.
    func open(_ migrations: Migrations) async throws(StorageError) -> String? {
        let outcome = Handover<Result<String?, StorageError>>()
        queue.async {
            do throws(StorageError) {
                outcome.give(.success(try self.openNow(migrations)))
            } catch {
                outcome.give(.failure(error))
            }
        }
        return try await outcome.value().get()
    }

    private func openNow(_ migrations: Migrations) throws(StorageError) -> String? {
        let place = PrivatePlace(path: file)
        try place.prepare()
        do throws(StorageError) {
            connection = try Self.opened(file, migrations)
            return nil
        } catch  where error.code == .damaged {
            let kept = try place.setAside()
            try place.prepare()
            connection = try Self.opened(file, migrations)
            return kept
        }
    }

    private static func opened(_ file: String, _ migrations: Migrations) throws(StorageError) -> SQLiteConnection {
        let connection = try SQLiteConnection(file, busyTimeout: busyMilliseconds)
        guard !connection.isReadOnly else {
            throw StorageError(
                .readOnly, file: file, "\(file) can only be read; make it and its folder writable")
        }
        // The first look at the file: what is no database shows here.
        let pages = try connection.first("PRAGMA page_count") { $0.integer(0) } ?? 0
        if pages == 0 { try connection.script("PRAGMA auto_vacuum = INCREMENTAL") }
        let mode = try connection.first("PRAGMA journal_mode = WAL") { $0.text(0) }
        guard mode == "wal" else {
            throw StorageError(
                .inputOutput, file: file, "\(file) is on a file system that cannot share memory; give another place")
        }
        try connection.script(
            """
            PRAGMA synchronous = FULL; PRAGMA secure_delete = ON; PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF;
            PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY; PRAGMA journal_size_limit = 16777216;
            \(cacheLimit)
            """)
        try check(connection)
        try migrations.run(on: connection)
        return connection
    }

    /// A negative size is one in KiB.
    private static var cacheLimit: String { "PRAGMA cache_size = -\(Database.maximumCachedBytes >> 10)" }

    /// Looks the file through (`PRAGMA quick_check`), unless it is very large.
    private static func check(_ connection: SQLiteConnection) throws(StorageError) {
        let size = try connection.first(
            "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
        ) { $0.integer(0) }
        guard let size, size <= Database.maximumCheckedBytes else { return }
        let finding = try connection.first("PRAGMA quick_check(1)") { $0.text(0) ?? "it cannot be read" }
        guard finding == "ok" else {
            throw StorageError(
                .damaged, file: connection.file, "\(connection.file) is damaged: \(finding ?? "it says nothing")")
        }
    }

    private static var busyMilliseconds: Int32 {
        Int32(clamping: Database.busyTimeout.components.seconds * 1_000)
    }

    /// Closes the file, after what is there already.
    func close() async {
        let isDone = Handover<Void>()
        queue.async {
            // Writers that were there before come first.
            self.commit()
            self.isClosed = true
            self.connection = nil
            self.listeners.finish()
            isDone.give(())
        }
        await isDone.value()
    }

    private var closed: StorageError {
        StorageError(.closed, file: file, "\(file) was closed")
    }

    // MARK: Reading

    /// Runs something on the queue, with a connection that only reads; it is opened when it is first asked for.
    func run(_ body: @escaping @Sendable (() throws(StorageError) -> SQLiteConnection) -> Void) {
        queue.async {
            body { () throws(StorageError) in
                if let connection = self.connection { return connection }
                guard !self.isClosed else { throw self.closed }
                let made = try SQLiteConnection(self.file, busyTimeout: Self.busyMilliseconds, isReader: true)
                try made.script("PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY; \(Self.cacheLimit)")
                self.connection = made
                return made
            }
        }
    }

    // MARK: Writing

    /// Adds a write to the next transaction.
    ///
    /// While one commits, those that come pile up on the queue, and are all there when the next begins.
    func add(_ job: any AnyWriteJob) {
        let hasRoom = unfinished.withLock { count in
            guard count < maximumWaiting else { return false }
            count += 1
            return true
        }
        guard hasRoom else {
            return job.finish(StorageError(.busy, file: file, "\(maximumWaiting) writers wait for \(file) already"))
        }
        queue.async {
            self.waiting.append(job)
            guard !self.isDue else { return }
            self.isDue = true
            self.queue.async { self.commit() }
        }
    }

    /// How many transactions there were, failed ones not counted.
    var commitCount: Int {
        get async {
            let count = Handover<Int>()
            queue.async { count.give(self.commits) }
            return await count.value()
        }
    }

    private func commit() {
        isDue = false
        while !waiting.isEmpty {
            let batch = Array(waiting.prefix(Database.maximumBatch))
            waiting.removeFirst(batch.count)
            commit(batch)
        }
    }

    /// One transaction for all of them.
    private func commit(_ batch: [any AnyWriteJob]) {
        var outcomes: [StorageError?] = []
        do throws(StorageError) {
            guard let connection else { throw closed }
            do throws(StorageError) {
                try connection.execute("BEGIN IMMEDIATE")
                for job in batch { outcomes.append(try Self.run(job, on: connection, isAlone: batch.count == 1)) }
                try connection.execute("COMMIT")
                commits += 1
            } catch {
                if connection.isInTransaction { _ = try? connection.execute("ROLLBACK") }
                throw error
            }
        } catch {
            // Nothing of it has happened, for anybody.
            outcomes = batch.map { _ in error }
        }
        unfinished.withLock { $0 -= batch.count }
        for (job, error) in zip(batch, outcomes) { job.finish(error) }
        listeners.raise()
    }

    /// Runs one write so that it alone is undone when it fails.
    ///
    /// - Returns: Why it failed.
    /// - Throws: `StorageError` when the whole transaction cannot go on.
    private static func run(
        _ job: any AnyWriteJob, on connection: SQLiteConnection, isAlone: Bool
    ) throws(StorageError) -> StorageError? {
        guard !isAlone else {
            try job.run(on: connection)
            return nil
        }
        try connection.execute("SAVEPOINT job")
        do throws(StorageError) {
            try job.run(on: connection)
            try connection.execute("RELEASE job")
            return nil
        } catch {
            // A full disk ends the transaction by itself.
            guard connection.isInTransaction else { throw error }
            try connection.execute("ROLLBACK TO job")
            try connection.execute("RELEASE job")
            return error
        }
    }
}
