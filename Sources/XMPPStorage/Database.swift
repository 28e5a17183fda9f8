// SPDX-License-Identifier: Apache-2.0

internal import SocketIO

/// A file in which things are kept, so that they are there after the process was killed and after the power has failed.
///
/// Writing is atomic and durable: when a call that writes returns, what it did is on the disk (SQLite with a
/// write-ahead log and `synchronous=FULL`). Writers that come at the same time share one transaction and one fsync,
/// each waits for its commit, and one that fails takes nothing of the others with it.
///
/// The file is 0600 in a folder that is 0700, whatever the umask says. What is removed is overwritten
/// (`secure_delete`). A file that turns out to be damaged is set aside under another name, never overwritten; see
/// ``setAside``.
///
/// No failure is final: when there is room on the disk again, the next call succeeds.
public final class Database: Sendable {
    /// How long the lock of another process is waited for; 5 seconds.
    public static let busyTimeout: Duration = .seconds(5)
    /// How many writers share one transaction at most; 1,000.
    public static let maximumBatch = 1_000
    /// How many writers may wait for their commit; 100,000. The next one fails with ``StorageError/Code/busy``.
    public static let maximumWaiting = 100_000
    /// The largest file that is looked through when it is opened, in bytes: 256 MiB. Damage in a larger one shows when
    /// it is come upon.
    public static let maximumCheckedBytes: Int64 = 256 << 20
    /// How many bytes of the file each of the two connections to it keeps in memory, one that writes and one that
    /// reads; 512 KiB. What does not fit is read again, from the system's memory as a rule.
    public static let maximumCachedBytes = 512 << 10

    /// The path of the file.
    public let path: String
    /// Where the file is that was found damaged when this one was opened; `nil` when none was.
    public let setAside: String?

    private let writer: DatabaseQueue
    private let reader: DatabaseQueue

    /// Opens a file, or makes it, and brings its tables to the present version.
    ///
    /// - Parameter path: An absolute path.
    /// - Throws: `StorageError` when the place is not the user's alone, when the file is of another program or a later
    ///   version, or what the disk says.
    public convenience init(at path: String) async throws(StorageError) {
        try await self.init(at: path, migrations: .current)
    }

    /// Opens a file with tables of one's own.
    package init(at path: String, migrations: Migrations) async throws(StorageError) {
        self.path = path
        let writer = DatabaseQueue("swift-xmpp.storage", file: path)
        setAside = try await writer.open(migrations)
        self.writer = writer
        reader = DatabaseQueue("swift-xmpp.storage.reading", file: path)
    }

    /// Does something in a transaction, and waits until it is on the disk. Cancelling the task does not call it off.
    ///
    /// - Parameter body: What to do; on a queue of the database, and it may be the case that others have their turn in
    ///   the same transaction. When it throws, nothing of what it did has happened.
    /// - Throws: What `body` throws, or `StorageError` when it could not be committed: nothing has been changed then.
    package func write<Value: Sendable>(
        _ body: @escaping @Sendable (SQLiteConnection) throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        let job = WriteJob(body)
        writer.add(job)
        return try await job.outcome.value().get()
    }

    /// Looks something up, as it was after the last commit. Does not wait for writers.
    package func read<Value: Sendable>(
        _ body: @escaping @Sendable (SQLiteConnection) throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        let outcome = Handover<Result<Value, StorageError>>()
        reader.run { connection in
            do throws(StorageError) {
                outcome.give(.success(try body(try connection())))
            } catch {
                outcome.give(.failure(error))
            }
        }
        return try await outcome.value().get()
    }

    /// Gives an element after each transaction from now on; those that come together may be one element. Ends when the
    /// file is closed, or with the task that reads it.
    package func commits() -> AsyncStream<Void> { writer.listeners.stream() }

    /// How many transactions there were since it was opened: each is one fsync, however many writers share it.
    package var commitCount: Int {
        get async { await writer.commitCount }
    }

    /// Closes the file, after what was begun; what comes later fails with ``StorageError/Code/closed``.
    public func close() async {
        await reader.close()
        await writer.close()
    }
}

/// Something to be done in a transaction, and who waits for it.
///
/// `@unchecked Sendable`: it is made by one task, given to the queue once, and touched by the queue alone from then on.
private final class WriteJob<Value: Sendable>: AnyWriteJob, @unchecked Sendable {
    let outcome = Handover<Result<Value, StorageError>>()
    private let body: @Sendable (SQLiteConnection) throws(StorageError) -> Value
    private var value: Value?

    init(_ body: @escaping @Sendable (SQLiteConnection) throws(StorageError) -> Value) {
        self.body = body
    }

    func run(on connection: SQLiteConnection) throws(StorageError) {
        value = try body(connection)
    }

    func finish(_ error: StorageError?) {
        if let error {
            outcome.give(.failure(error))
        } else if let value {
            outcome.give(.success(value))
        }
    }
}

/// A write of any result.
protocol AnyWriteJob: Sendable {
    /// Does it.
    func run(on connection: SQLiteConnection) throws(StorageError)
    /// Tells who waits what became of it.
    func finish(_ error: StorageError?)
}
