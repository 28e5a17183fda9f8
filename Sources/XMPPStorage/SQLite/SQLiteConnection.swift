// SPDX-License-Identifier: Apache-2.0

internal import CSQLite

/// A connection to a database file (`sqlite3`). Not thread-safe: it belongs to the queue of its ``Database``.
package final class SQLiteConnection {
    /// How many prepared statements are kept; 128. A statement beyond that is prepared anew each time.
    package static let maximumStatements = 128

    /// The file.
    package let file: String
    private let handle: OpaquePointer
    private var statements: [String: SQLiteStatement] = [:]

    /// Opens a file that is there (`sqlite3_open_v2`). It is not touched yet.
    ///
    /// - Parameters:
    ///   - file: Its path.
    ///   - busyTimeout: How long a lock of another process is waited for, in milliseconds.
    ///   - isReader: Whether the connection only reads.
    package init(_ file: String, busyTimeout: Int32, isReader: Bool = false) throws(StorageError) {
        var handle: OpaquePointer?
        let access = isReader ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE
        let code = sqlite3_open_v2(file, &handle, access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
        guard code == SQLITE_OK, let handle else {
            sqlite3_close_v2(handle)
            throw StorageError(code, file: file, "open")
        }
        self.file = file
        self.handle = handle
        sqlite3_busy_timeout(handle, busyTimeout)
        _ = shim_sqlite3_db_config_defensive(handle)
        // A disk that fails is to be seen, and what the error says is to be its own.
        sqlite3_extended_result_codes(handle, 1)
    }

    deinit {
        statements = [:]
        sqlite3_close_v2(handle)
    }

    /// Whether the file can only be read, though more was asked for (`sqlite3_db_readonly`).
    package var isReadOnly: Bool { sqlite3_db_readonly(handle, "main") != 0 }

    /// Whether a transaction is under way; some failures end one by themselves (`sqlite3_get_autocommit`).
    package var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// The key of the row that was inserted last.
    package var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(handle) }

    /// Runs one statement to its end.
    ///
    /// - Returns: How many rows it inserted, changed or removed.
    @discardableResult
    package func execute(_ sql: String, _ values: SQLValue...) throws(StorageError) -> Int {
        try execute(sql, values)
    }

    /// Runs one statement to its end.
    ///
    /// - Returns: How many rows it inserted, changed or removed.
    @discardableResult
    package func execute(_ sql: String, _ values: [SQLValue]) throws(StorageError) -> Int {
        try run(sql, values) { _ throws(StorageError) in }
        return Int(sqlite3_changes(handle))
    }

    /// The rows that a statement finds.
    package func rows<Value>(
        _ sql: String, _ values: SQLValue..., read: (SQLRow) throws(StorageError) -> Value
    ) throws(StorageError) -> [Value] {
        try rows(sql, values, read: read)
    }

    /// The rows that a statement finds.
    package func rows<Value>(
        _ sql: String, _ values: [SQLValue], read: (SQLRow) throws(StorageError) -> Value
    ) throws(StorageError) -> [Value] {
        var found: [Value] = []
        try run(sql, values) { row throws(StorageError) in found.append(try read(row)) }
        return found
    }

    /// The first row that a statement finds.
    package func first<Value>(
        _ sql: String, _ values: SQLValue..., read: (SQLRow) throws(StorageError) -> Value
    ) throws(StorageError) -> Value? {
        try rows(sql, values, read: read).first
    }

    /// Runs several statements without values, separated by semicolons (`sqlite3_exec`).
    package func script(_ sql: String) throws(StorageError) {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw failure(code, "use") }
    }

    private func run(
        _ sql: String, _ values: [SQLValue], _ row: (SQLRow) throws(StorageError) -> Void
    ) throws(StorageError) {
        let statement = try prepared(sql)
        defer { statement.reset() }
        let bound = statement.bind(values)
        guard bound == SQLITE_OK else { throw failure(bound, "use") }
        while true {
            switch statement.step() {
            case SQLITE_ROW: try row(statement.row)
            case SQLITE_DONE: return
            case let code: throw failure(code, "use")
            }
        }
    }

    private func prepared(_ sql: String) throws(StorageError) -> SQLiteStatement {
        if let known = statements[sql] { return known }
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard code == SQLITE_OK, let statement else { throw failure(code, "use") }
        let made = SQLiteStatement(owning: statement)
        if statements.count < Self.maximumStatements { statements[sql] = made }
        return made
    }

    private func failure(_ code: Int32, _ verb: String) -> StorageError {
        // The words of the library name tables and columns, never what is in them.
        StorageError(code, file: file, verb, detail: String(cString: sqlite3_errmsg(handle)))
    }
}

extension StorageError {
    /// What a result code of SQLite says.
    fileprivate init(_ result: Int32, file: String, _ verb: String, detail: String? = nil) {
        let detail = detail ?? String(cString: sqlite3_errstr(result))
        let (code, advice): (Code, String) =
            switch result & 0xFF {
            case SQLITE_FULL: (.full, "there is no room left on the disk; make room there")
            case SQLITE_IOERR where result == SQLITE_IOERR | 12 << 8: (.other, "memory has run out")
            case SQLITE_IOERR: (.inputOutput, "the disk failed; look at it and at the system's log")
            case SQLITE_READONLY: (.readOnly, "it can only be read; make it and its folder writable")
            case SQLITE_CORRUPT, SQLITE_NOTADB:
                (.damaged, "it is damaged; it is set aside when it is opened next, and a new one begun")
            case SQLITE_CANTOPEN: (.permissions, "it cannot be opened; look at its owner and mode, and at its folder")
            case SQLITE_PERM, SQLITE_AUTH: (.permissions, "access is refused; look at its owner and mode")
            case SQLITE_BUSY, SQLITE_LOCKED: (.busy, "another process uses it; end that, or try again")
            case SQLITE_TOOBIG: (.unstorable, "what is to be kept is too large")
            case SQLITE_CONSTRAINT: (.constraint, "a rule of its tables is broken")
            default: (.other, "this should not happen")
            }
        self.init(code, file: file, "cannot \(verb) \(file): \(advice) (\(detail))")
    }
}
